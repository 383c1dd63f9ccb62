import { assertEquals, assertThrows } from "@std/assert";
import type { Delta } from "../../../src/models/backend.ts";
import { readLocalResponse } from "../replies.ts";
import { LocalReader } from "../../../src/models/ollama/stream.ts";
import { BackendError } from "../../../src/errors.ts";
import { recorded } from "../../helpers/recorded.ts";

function fold(pieces: (Uint8Array | string)[], deltas: Delta[] = []) {
  const encoder = new TextEncoder();
  const reader = new LocalReader((delta) => deltas.push(delta));
  for (const piece of pieces) {
    reader.push(typeof piece === "string" ? encoder.encode(piece) : piece);
  }
  return reader.end();
}

const line = (message: unknown, more = {}) =>
  `${JSON.stringify({ model: "m", message, done: false, ...more })}\n`;
const DONE = line({ role: "assistant", content: "" }, { done: true, done_reason: "stop" });

Deno.test("recorded native streams fold to what they told piece by piece", () => {
  for (const name of ["hello", "think", "escapes", "length", "tool-notools"]) {
    const deltas: Delta[] = [];
    const response = fold([recorded(`local-${name}-stream`).body], deltas);
    const { content, thinking = "" } = response.message as Record<string, string>;
    const told = (type: "text" | "reasoning") =>
      deltas.map((one) => one.type === type ? one.text : "").join("");
    assertEquals([told("text"), told("reasoning")], [content, thinking], name);
  }
});

Deno.test("NET-04 a native stream without its last line is an error, whatever it holds", () => {
  const call = { function: { name: "read", arguments: { p: 1 } } };
  const rows = [
    "",
    line({ content: "Hel" }),
    line({ content: "", tool_calls: [call] }),
    line({ content: "a" }) + DONE.slice(0, -4),
    line({ content: "a" }, { done: "true" }),
  ];
  for (const text of rows) {
    const error = assertThrows(() => fold([text]), BackendError);
    assertEquals([error.kind, error.retryable], ["incomplete", true], text);
  }
  // But a missing line end is no cut, nor is a last line of counts alone, as of old servers.
  assertEquals(readLocalResponse(fold([line({ content: "a" }), DONE.trim()])).finish, "stop");
  for (const message of [undefined, null]) {
    const last = line(message, { done: true, done_reason: "stop", eval_count: 3 });
    const reply = readLocalResponse(fold([line({ content: "a" }), last]));
    assertEquals([reply.message.content, reply.usage?.outputTokens], ["a", 3]);
  }
  // What comes after the end means nothing.
  const late = [line({ content: "a" }), DONE, line({ content: "X" }), "{"];
  assertEquals(readLocalResponse(fold(late)).message.content, "a");
});

Deno.test("NET-03 an error line is thrown, before and after text", () => {
  for (const before of ["", line({ content: "a" })]) {
    const error = assertThrows(() => fold([before, '{"error":"boom"}\n']), BackendError);
    assertEquals([error.kind, error.serverMessage], ["server", "boom"]);
    const beside = `{"error":"boom","message":{"role":"assistant","content":""}}\n`;
    assertEquals(assertThrows(() => fold([before, beside]), BackendError).kind, "server");
  }
  const error = assertThrows(() => fold([recorded("local-midstream-native").body]), BackendError);
  assertEquals(error.kind, "server");
});

Deno.test("NET-12 only what carries something is progress", () => {
  const read = [{ function: { name: "read", arguments: {} } }];
  const rows: [line: string, progress: boolean][] = [
    [line({ role: "assistant", content: "" }), false],
    [line({ role: "assistant", content: "", thinking: "", tool_calls: [] }), false],
    [line({}), false],
    [line({ thinking: "h" }), true],
    [line({ content: "a" }), true],
    [line({ tool_calls: read }), true],
    [DONE, true],
  ];
  const reader = new LocalReader();
  for (const [text, progress] of rows) {
    const before = reader.progress;
    reader.push(new TextEncoder().encode(text));
    assertEquals(reader.progress > before, progress, text);
  }
});

Deno.test("NET-07 a call that comes again is one call", () => {
  const call = (p: number, more = {}, index?: number) => (
    { ...more, function: { ...(index !== undefined && { index }), name: "read", arguments: { p } } }
  );
  type Calls = ReturnType<typeof call>[];
  const rows: [name: string, lines: Calls[], last: Calls, count: number][] = [
    ["with ids", [[call(1, { id: "x" })], [call(2, { id: "y" })]], [call(1, { id: "x" })], 2],
    ["with ids, before the end", [[call(1, { id: "x" })], [call(1, { id: "x" })]], [], 1],
    ["by index", [[call(1, {}, 0)], [call(2, {}, 1)]], [call(1, {}, 0), call(2, {}, 1)], 2],
    ["by nothing else", [[call(1)]], [call(1)], 1],
    ["another one", [[call(1, {}, 0)]], [call(2, {}, 0)], 2],
    ["another id", [[call(1, { id: "x" })]], [call(1, { id: "y" })], 2],
    ["one id for two", [[call(1, { id: "x" })]], [call(2, { id: "x" })], 2],
    ["two in one line", [[call(1), call(1)]], [], 2],
    ["two lines", [[call(1)], [call(1)]], [], 2],
  ];
  for (const [name, lines, last, count] of rows) {
    const message = (tool_calls: Calls) => ({ role: "assistant", content: "", tool_calls });
    const deltas: Delta[] = [];
    const response = fold([
      ...lines.map((calls) => line(message(calls))),
      line(message(last), { done: true, done_reason: "stop" }),
    ], deltas);
    assertEquals(readLocalResponse(response).message.toolCalls!.length, count, name);
    assertEquals(deltas.length, count, name);
  }
});
