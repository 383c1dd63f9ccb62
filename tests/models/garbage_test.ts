import { assert, assertEquals } from "@std/assert";
import { BackendError } from "../../src/errors.ts";
import { hostedReader } from "../../src/models/anthropic/stream.ts";
import type { Reply } from "../../src/models/backend.ts";
import { LocalReader } from "../../src/models/ollama/stream.ts";
import { compatReader } from "../../src/models/openai/stream.ts";
import { readCompatResponse, readHostedResponse, readLocalResponse } from "./replies.ts";

type Json = Record<string, unknown>;

interface Format {
  name: string;
  /** The events of an answer with each field that is read. */
  events: Json[];
  /** The same in one piece. */
  whole: Json;
  frame(event: unknown): string;
  reader(contentType: string): { push(bytes: Uint8Array): void; end(): Json };
  read(response: unknown): Reply;
  streamType: string;
}

const called = { name: "f", arguments: '{"x":1}' };
const told = {
  content: [{ type: "text", text: "a" }, { type: "thinking", thinking: [{ text: "t" }] }],
  reasoning_content: "r",
  reasoning: "r",
  refusal: "no",
  function_call: called,
  tool_calls: [{ index: 0, id: "x", function: called }],
};
const details = { prompt_tokens_details: { cached_tokens: 1 } };
const usage = { prompt_tokens: 1, completion_tokens: 1, ...details };
const end = { error: null, usage, timings: { cache_n: 1, prompt_per_second: 1 } };
const localCall = { id: "x", function: { index: 0, name: "f", arguments: { x: 1 } } };
const local = { role: "assistant", content: "a", thinking: "t", tool_calls: [localCall] };
const empty = { role: "assistant", content: "" };
const localEnd = { done: true, done_reason: "stop", prompt_eval_count: 1, eval_count: 1 };
const blocks = [
  { type: "thinking", thinking: "t", signature: "s" },
  { type: "text", text: "a" },
  { type: "tool_use", id: "c", name: "f", input: { x: 1 } },
];
const hostedUsage = { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 1 };
const message = { role: "assistant", content: [], usage: hostedUsage };
const delta = (index: number, delta: Json): Json => ({ type: "content_block_delta", index, delta });

const FORMATS: Format[] = [
  {
    name: "chat completions",
    events: [
      { choices: [{ index: 0, delta: told, finish_reason: null }] },
      { choices: [{ index: 0, delta: { content: "a" }, finish_reason: "tool_calls" }], ...end },
    ],
    whole: { choices: [{ index: 0, message: told, finish_reason: "tool_calls" }], ...end },
    frame: (event) => `data: ${JSON.stringify(event)}\n\n`,
    reader: (type) => compatReader(type, true),
    read: readCompatResponse,
    streamType: "text/event-stream",
  },
  {
    name: "native",
    events: [{ message: local, done: false }, { message: empty, error: null, ...localEnd }],
    whole: { message: local, ...localEnd },
    frame: (event) => `${JSON.stringify(event)}\n`,
    reader: () => new LocalReader(),
    read: (response) => readLocalResponse(response),
    streamType: "application/x-ndjson",
  },
  {
    name: "messages",
    events: [
      { type: "message_start", message },
      ...blocks.map((content_block, index) => (
        { type: "content_block_start", index, content_block }
      )),
      delta(0, { type: "thinking_delta", thinking: "t" }),
      delta(0, { type: "signature_delta", signature: "s" }),
      delta(1, { type: "text_delta", text: "a" }),
      delta(2, { type: "input_json_delta", partial_json: '{"x":1}' }),
      { type: "content_block_stop", index: 2 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: hostedUsage },
      { type: "message_stop" },
    ],
    whole: { content: blocks, stop_reason: "tool_use", usage: hostedUsage, error: null },
    frame: (event) => `event: ${(event as Json)?.type}\ndata: ${JSON.stringify(event)}\n\n`,
    reader: (type) => hostedReader(type, true),
    read: readHostedResponse,
    streamType: "text/event-stream",
  },
];

const WRONG = [
  ...[null, undefined, 0, -1.5, true, "x", [], [7], {}, [[]], [{}], [null]],
  ...[{ a: 1 }, { type: "text" }, [{ type: [] }]],
];

/** Every way to put one wrong value into one place of `value`. */
function* damaged(value: unknown): Generator<unknown> {
  for (const other of WRONG) yield other;
  if (typeof value !== "object" || value === null) return;
  for (const key of Object.keys(value)) {
    for (const other of damaged((value as Json)[key])) {
      yield Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other };
    }
  }
}

for (const { name, events, whole, frame, reader, read, streamType } of FORMATS) {
  Deno.test(`NET-11 garbage at any field gives a BackendError or an answer, nothing else: ${name}`, () => {
    const fold = (type: string, text: string) => {
      const one = reader(type);
      one.push(new TextEncoder().encode(text));
      return one.end();
    };
    const readings: (() => Reply)[] = [];
    for (const [i, event] of events.entries()) {
      for (const bad of damaged(event)) {
        const text = events.with(i, bad as Json).map(frame).join("");
        readings.push(() => read(fold(streamType, text)));
      }
    }
    for (const bad of damaged(whole)) {
      readings.push(() => read(bad));
      if (streamType === "text/event-stream") {
        readings.push(() => read(fold("application/json", JSON.stringify(bad) ?? "")));
      }
    }
    let failed = 0;
    for (const reading of readings) {
      try {
        assertEquals(typeof reading().message.content, "string");
      } catch (error) {
        assert(error instanceof BackendError);
        failed++;
      }
    }
    // Neither all nor none of them: what does not matter does not fail.
    const isSome = failed > readings.length / 10 && failed < readings.length;
    assertEquals(isSome, true, `${failed} of ${readings.length}`);
  });
}
