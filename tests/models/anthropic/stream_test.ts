import { assert, assertEquals, assertThrows } from "@std/assert";
import type { Delta } from "../../../src/models/backend.ts";
import { readHostedResponse } from "../replies.ts";
import { hostedReader } from "../../../src/models/anthropic/stream.ts";
import { BackendError } from "../../../src/errors.ts";
import { recorded } from "../../helpers/recorded.ts";
import { forEverySplit } from "../../helpers/split.ts";

type Json = Record<string, unknown>;

const encoder = new TextEncoder();

const bodyOf = (name: string) => recorded(`hosted-${name}`).body;
const jsonOf = (name: string): Json => JSON.parse(recorded(`hosted-${name}`).text);

function sse(...events: unknown[]): Uint8Array {
  return encoder.encode(
    events.map((e) => `event: ${(e as Json)?.type}\ndata: ${JSON.stringify(e)}\n\n`).join(""),
  );
}

function fold(pieces: Uint8Array[], onDelta?: (delta: Delta) => void): Json {
  const reader = hostedReader("text/event-stream", true, onDelta);
  pieces.forEach((piece) => reader.push(piece));
  return reader.end();
}

/** Ids differ from answer to answer. */
function withoutIds(response: Json): Json {
  const content = (response.content as Json[]).map((block) => ({ ...block, id: "" }));
  const { cache_read_input_tokens: read = 0, input_tokens } = response.usage as Json;
  const usage = { ...response.usage as Json, input_tokens: Number(read) + Number(input_tokens) };
  return { ...response, id: "", content, usage: { ...usage, cache_read_input_tokens: 0 } };
}

const start = {
  type: "message_start",
  message: {
    id: "m",
    type: "message",
    role: "assistant",
    model: "x",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 10, cache_read_input_tokens: 3, output_tokens: 1 },
  },
};
const begin = (index: number, content_block: Json): Json => (
  { type: "content_block_start", index, content_block }
);
const delta = (index: number, delta: Json): Json => ({ type: "content_block_delta", index, delta });
const close = (index: number): Json => ({ type: "content_block_stop", index });
const finish = (stop_reason: string, usage: Json = { output_tokens: 7 }): Json => (
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage }
);
const stop = { type: "message_stop" };
const textDelta = (index: number, text: string): Json => delta(index, { type: "text_delta", text });
const json = (index: number, partial_json: string): Json => (
  delta(index, { type: "input_json_delta", partial_json })
);
const toolUse = (id: string): Json => ({ type: "tool_use", id, name: "f", input: {} });

for (const name of ["hello", "think_tool", "two_tools", "text_tool", "length"]) {
  Deno.test(`NET-01 a recorded stream folds into the answer without streaming: llama ${name}`, () => {
    const whole = withoutIds(jsonOf(`llama-${name}`));
    forEverySplit(bodyOf(`llama-${name}-stream`), (pieces) => {
      assertEquals(withoutIds(fold(pieces)), whole);
    });
  });
}

Deno.test("NET-05 a stream that gives no reason for its end runs no call", () => {
  const { stop_reason: _, ...message } = start.message;
  const { id } = message;
  for (const begun of [start, { ...start, message }, { ...start, message: { id } }]) {
    const response = fold([sse(begun, begin(0, toolUse("1")), json(0, '{"x":1}'), close(0), stop)]);
    assertEquals(readHostedResponse(response).finish, "other");
    assert(readHostedResponse(response).message.toolCalls![0]!.invalid);
  }
});

// deno-fmt-ignore
const folds: [name: string, events: unknown[], content: Json[], usage?: Json][] = [
  ["blocks that overlap, in any order, and a signature after later blocks", [
    start,
    begin(1, { type: "text", text: "" }),
    begin(0, { type: "thinking", thinking: "" }),
    textDelta(1, "a"),
    delta(0, { type: "thinking_delta", thinking: "t" }),
    begin(2, { type: "tool_use", id: "c", name: "f" }),
    json(2, '{"x"'),
    textDelta(1, "b"),
    json(2, ":1}"),
    delta(0, { type: "signature_delta", signature: "s" }),
    close(0),
    close(1),
    close(2),
    finish("tool_use"),
    stop,
  ], [
    { type: "thinking", thinking: "t", signature: "s" },
    { type: "text", text: "ab" },
    { type: "tool_use", id: "c", name: "f", input: { x: 1 } },
  ]],
  ["calls without input: none, null, whole at the start, blank pieces", [
    start,
    begin(0, { type: "tool_use", id: "a", name: "f" }),
    begin(1, { type: "tool_use", id: "b", name: "f", input: null }),
    begin(2, { type: "tool_use", id: "c", name: "f", input: { x: 1 } }),
    begin(3, toolUse("d")),
    json(3, ""),
    json(3, " "),
    finish("tool_use"),
    stop,
  ], [
    { type: "tool_use", id: "a", name: "f", input: {} },
    { type: "tool_use", id: "b", name: "f", input: {} },
    { type: "tool_use", id: "c", name: "f", input: { x: 1 } },
    toolUse("d"),
  ]],
  ["input that is no JSON object stays text", [
    start,
    begin(0, toolUse("a")),
    json(0, '{"x'),
    begin(1, toolUse("b")),
    json(1, "[1]"),
    finish("max_tokens"),
    stop,
  ], [{ ...toolUse("a"), input: '{"x' }, { ...toolUse("b"), input: "[1]" }]],
  ["NET-09 kinds of blocks, deltas and events that nobody knows", [
    { type: "hello", index: "?" },
    start,
    begin(0, { type: "novelty", x: [1] }),
    delta(0, { type: "text_delta", text: "no text here" }),
    delta(0, { type: "novelty_delta", y: 1 }),
    begin(1, { type: "text", text: "a" }),
    delta(1, { type: "citations_delta", citation: {} }),
    finish("end_turn"),
    stop,
  ], [{ type: "novelty", x: [1] }, { type: "text", text: "a" }]],
  [
    "NET-09 usage is counted once, though every count is of all up to then",
    [
      start,
      { type: "message_delta", delta: {}, usage: { output_tokens: 2 } },
      finish("end_turn", { input_tokens: 10, output_tokens: 7, cache_creation_input_tokens: 4, cache_read_input_tokens: null }),
      stop,
    ],
    [],
    { input_tokens: 10, output_tokens: 7, cache_creation_input_tokens: 4, cache_read_input_tokens: 3 },
  ],
  // As of Ollama 0.17.
  ["a call with the number of the thought before it is a block of its own", [
    start,
    begin(0, { type: "thinking", thinking: "" }),
    delta(0, { type: "thinking_delta", thinking: "Hm." }),
    begin(0, toolUse("1")),
    json(0, '{"a":1}'),
    close(0),
    close(1),
    finish("tool_use"),
    stop,
  ], [{ type: "thinking", thinking: "Hm." }, { ...toolUse("1"), input: { a: 1 } }]],
  ["nothing after the end counts", [start, finish("end_turn"), stop, textDelta(0, "x"), 1], []],
  ["no start", [begin(0, { type: "text", text: "a" }), stop], [{ type: "text", text: "a" }], {}],
];
for (const [name, events, content, usage] of folds) {
  Deno.test(`a stream folds: ${name}`, () => {
    const response = fold([sse(...events)]);
    assertEquals(response.content, content);
    if (usage) assertEquals(response.usage, usage);
  });
}

// deno-fmt-ignore
const errors: [body: string, kind: string, retryable: boolean, says: string][] = [
  [
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    ...["server", true, "Overloaded"] as const,
  ],
  // llama.cpp's
  ['data: {"error":{"code":500,"message":"boom","type":"server_error"}}', ...["server", true, "boom"] as const],
  ['event: error\ndata: {"message":"boom"}', "server", true, "boom"],
  ['event: error\ndata: {"type":"error","error":{"type":"invalid_request_error","message":"no"}}', ...["request", false, "no"] as const],
];
for (const [body, kind, retryable, says] of errors) {
  Deno.test(`NET-03 an error inside the stream is thrown: ${body}`, () => {
    for (const before of [[], [start, begin(0, { type: "text", text: "a" })]]) {
      const pieces = [sse(...before), encoder.encode(`${body}\n\n`)];
      const error = assertThrows(() => fold(pieces), BackendError);
      assertEquals([error.kind, error.retryable, error.serverMessage], [kind, retryable, says]);
    }
  });
}

Deno.test("NET-11 pages that are no stream, and an answer in one piece", () => {
  const read = (contentType: string, body: string) => {
    const reader = hostedReader(contentType, true);
    reader.push(encoder.encode(body));
    return reader.end();
  };
  for (const type of ["text/html", "text/plain", ""]) {
    const error = assertThrows(() => read(type, "<html>\nLog in\n</html>"), BackendError);
    assertEquals(error.kind, "incomplete", type);
  }
  const whole = { content: [{ type: "text", text: "a" }, toolUse("1")], stop_reason: "tool_use" };
  assertEquals(read("application/json", JSON.stringify(whole)), whole);
  // A stream that does not say that it is one.
  const begun = [start, begin(0, { type: "text", text: "a" })];
  const events = (...more: unknown[]) => new TextDecoder().decode(sse(...begun, ...more));
  assertEquals(read("text/plain", events(finish("end_turn"), stop)).stop_reason, "end_turn");
  const error = assertThrows(() => read("text/plain", events()), BackendError);
  assertEquals(error.kind, "incomplete");
});

Deno.test("NET-11 a block that begins twice is a protocol error, an event without data is none", () => {
  const block = begin(0, { type: "text", text: "a" });
  const error = assertThrows(() => fold([sse(start, block, block)]), BackendError);
  assertEquals(error.kind, "protocol");
  const pieces = [sse(start, block), encoder.encode("data:\n\n"), sse(finish("end_turn"), stop)];
  assertEquals(fold(pieces).content, [{ type: "text", text: "a" }]);
});

Deno.test("NET-12 only what carries something is progress", () => {
  const rows: [event: Json, progress: boolean][] = [
    [start, false],
    [{ type: "ping" }, false],
    [{ type: "of_a_later_version", text: "a" }, false],
    [begin(0, { type: "thinking", thinking: "", signature: "" }), true],
    [delta(0, { type: "thinking_delta", thinking: "" }), false],
    [delta(0, { type: "thinking_delta", thinking: "h" }), true],
    [delta(0, { type: "of_a_later_version", text: "a" }), false],
    [close(0), false],
    [begin(1, { type: "text", text: "" }), true],
    [textDelta(1, ""), false],
    [textDelta(1, "a"), true],
    [begin(2, toolUse("1")), true],
    [delta(2, { type: "input_json_delta", partial_json: "" }), false],
    [delta(2, { type: "input_json_delta", partial_json: "{" }), true],
    [{ type: "message_delta", delta: {}, usage: { output_tokens: 1 } }, false],
    [finish("tool_use"), true],
    [finish("tool_use"), false],
  ];
  const reader = hostedReader("text/event-stream", true);
  for (const [event, progress] of rows) {
    const before = reader.progress;
    reader.push(sse(event));
    assertEquals(reader.progress > before, progress, JSON.stringify(event));
  }
});
