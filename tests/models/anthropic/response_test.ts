import { assertEquals, assertMatch, assertNotEquals, assertThrows } from "@std/assert";
import { messagesToHostedFormat } from "../../../src/models/anthropic/request.ts";
import { parseHostedResponse } from "../../../src/models/anthropic/response.ts";
import { readHostedResponse } from "../replies.ts";
import { BackendError } from "../../../src/errors.ts";
import type { Message } from "../../../src/types/message.ts";

const text = (text: string) => ({ type: "text", text });
const use = (id: unknown, input: unknown = {}) => ({ type: "tool_use", id, name: "f", input });
const thought = { type: "thinking", thinking: "Hm.", signature: "c2ln" };

const messages: [name: string, content: unknown[], expected: Message][] = [
  ["texts are collected", [text("a"), text("b")], { role: "assistant", content: "ab" }],
  ["calls", [text("a"), use("1", { x: 1 }), use("2")], {
    role: "assistant",
    content: "a",
    toolCalls: [{ id: "1", name: "f", arguments: { x: 1 } }, { id: "2", name: "f", arguments: {} }],
  }],
  ["thoughts, kept with all that must stay in place", [thought, text("a"), use("1")], {
    role: "assistant",
    content: "a",
    reasoning: "Hm.",
    toolCalls: [{ id: "1", name: "f", arguments: {} }],
    hostedBlocks: [thought, text("a"), use("1")],
  }],
  ["a thought that nobody signed", [{ type: "thinking", thinking: "t" }, text("a")], {
    role: "assistant",
    content: "a",
    reasoning: "t",
    hostedBlocks: [{ type: "thinking", thinking: "t", signature: "" }, text("a")],
  }],
  ["blocks of a kind that nobody knows", [{ type: "novelty", x: 1 }, text("a")], {
    role: "assistant",
    content: "a",
    hostedBlocks: [{ type: "novelty", x: 1 }, text("a")],
  }],
];
for (const [name, content, expected] of messages) {
  Deno.test(`parseHostedResponse: ${name}`, () => {
    assertEquals(parseHostedResponse({ content, stop_reason: "end_turn" }), expected);
  });
}

Deno.test("a thought goes back as it came, whatever the calls are named by then", () => {
  const redacted = { type: "redacted_thinking", data: "x" };
  const content = [thought, text("a"), redacted, text("b"), use("1"), use("1", { x: 1 })];
  const message = parseHostedResponse({ content, stop_reason: "tool_use" });
  const [first, second] = message.toolCalls!;
  assertNotEquals(first!.id, second!.id);
  assertEquals(messagesToHostedFormat([{ role: "user", content: "q" }, message])[1][1]?.content, [
    ...content.slice(0, 4),
    { ...use(first!.id) },
    { ...use(second!.id, { x: 1 }) },
  ]);
});

const finishes: [stop: unknown, content: unknown[], finish: string, invalid?: boolean[]][] = [
  ["end_turn", [text("a")], "stop"],
  ["stop_sequence", [text("a")], "stop"],
  ["tool_use", [use("1")], "tool_calls", [false]],
  ["end_turn", [use("1")], "tool_calls", [false]],
  ["max_tokens", [text("a")], "length"],
  ["model_context_window_exceeded", [text("a")], "length"],
  ["refusal", [text("a")], "refused"],
  ["pause_turn", [text("a")], "other"],
  ["novelty", [text("a")], "other"],
  [null, [text("a")], "other"],
  // A whole response that does not say: its calls are whole (spec 4.3).
  [undefined, [text("a")], "stop"],
  [undefined, [text("a"), use("1", { x: 1 }), use("2", {})], "tool_calls", [false, false]],
  // NET-05: what the limit cut off is not run, also where it happens to parse.
  ["max_tokens", [use("1"), use("2", '{"x')], "length", [false, true]],
  ["max_tokens", [use("1"), use("2", {})], "length", [false, true]],
  ["refusal", [use("1", { x: 1 })], "refused", [true]],
  ["pause_turn", [use("1", { x: 1 })], "other", [true]],
  [null, [use("1", { x: 1 })], "other", [true]],
];
for (const [stop_reason, content, finish, invalid = []] of finishes) {
  Deno.test(`NET-05 stop_reason ${stop_reason} of ${content.length} blocks is ${finish}`, () => {
    const reply = readHostedResponse({ content, stop_reason });
    assertEquals([reply.finish, reply.finishDetail], [finish, stop_reason ?? ""]);
    const calls = reply.message.toolCalls ?? [];
    assertEquals(calls.map((call) => call.invalid !== undefined), invalid);
  });
}

Deno.test("NET-05 a thought without its signature, cut off by the limit, does not go back", () => {
  const unsigned = { ...thought, signature: "" };
  const read = (content: unknown[]) =>
    parseHostedResponse({ content, stop_reason: "max_tokens" }).hostedBlocks;
  assertEquals(read([unsigned]), undefined);
  assertEquals(read([thought, text("a")]), [thought, text("a")]);
});

const inputs: [input: unknown, args: Record<string, unknown> | RegExp][] = [
  [{ x: 1 }, { x: 1 }],
  ['{"x":1}', { x: 1 }],
  ['{"x"', /not valid JSON/],
  ["[1]", /must be a JSON object/],
  [true, /must be a JSON object/],
];
for (const [input, expected] of inputs) {
  Deno.test(`NET-06 input ${JSON.stringify(input)}`, () => {
    const content = [{ ...use("1"), input }];
    const [call] = parseHostedResponse({ content, stop_reason: "tool_use" }).toolCalls!;
    if (!(expected instanceof RegExp)) return assertEquals(call!.arguments, expected);
    assertEquals(call!.arguments, {});
    assertMatch(call!.invalid!.reason, expected);
    assertEquals(call!.invalid!.text, typeof input === "string" ? input : JSON.stringify(input));
  });
}

// deno-fmt-ignore
const usages: [usage: unknown, expected: unknown][] = [
  [undefined, undefined],
  [null, undefined],
  ["x", undefined],
  [{}, undefined],
  [{ input_tokens: 5, output_tokens: 2 }, { inputTokens: 5, outputTokens: 2 }],
  [
    { input_tokens: 5, output_tokens: 2, cache_read_input_tokens: 100, cache_creation_input_tokens: 10 },
    { inputTokens: 115, outputTokens: 2, cachedTokens: 100, cacheWriteTokens: 10 },
  ],
  [
    { input_tokens: 5, output_tokens: 2, cache_read_input_tokens: 1, cache_creation_input_tokens: 1 },
    { inputTokens: 7, outputTokens: 2, cachedTokens: 1, cacheWriteTokens: 1 },
  ],
  [{ input_tokens: 5 }, { inputTokens: 5, outputTokens: 0 }],
  [{ output_tokens: 2 }, { inputTokens: 0, outputTokens: 2 }],
  [{ input_tokens: "5", output_tokens: -1, cache_read_input_tokens: null }, { inputTokens: 0, outputTokens: 0 }],
];
for (const [usage, expected] of usages) {
  Deno.test(`usage ${JSON.stringify(usage)}`, () => {
    assertEquals(readHostedResponse({ content: [], usage }).usage, expected);
  });
}

Deno.test("NET-11 what is no response of this API is a protocol error, an error is one", () => {
  for (const response of [null, undefined, 1, "x", [], {}, { content: "x" }, { content: [1] }]) {
    const error = assertThrows(() => parseHostedResponse(response), BackendError);
    assertEquals(error.kind, "protocol", JSON.stringify(response));
  }
  const failure = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const error = assertThrows(() => parseHostedResponse(failure), BackendError);
  assertEquals([error.kind, error.serverMessage], ["server", "Overloaded"]);
});
