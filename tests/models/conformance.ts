/**
 * What every backend is held to: the ways to reach a model server, and what must come of each
 * answer. The test file beside it runs all answers on all ways.
 *
 * @module
 */

import type { Backend, FinishReason } from "../../src/models/backend.ts";
import { compatBackend } from "../../src/models/openai/mod.ts";
import { hostedBackend } from "../../src/models/anthropic/mod.ts";
import { localBackend } from "../../src/models/ollama/mod.ts";
import { compatConfig, hostedConfig, localConfig } from "../../src/config.ts";
import type { BackendErrorKind } from "../../src/errors.ts";
import type { Usage } from "../../src/types/event.ts";
import type { Message } from "../../src/types/message.ts";
import type { Step } from "../helpers/strict_server.ts";

/** One way to reach a model server: a backend, streaming or not. */
export interface Way {
  name: string;
  /** `native`: the local format, in which calls are whole objects without cached-token counts. */
  format: "chat completions" | "native" | "messages";
  stream: boolean;
  backend(url: string, maxRetries?: number): Backend;
}

const model = "test";

const BACKENDS: Pick<Way, "name" | "format" | "backend">[] = [
  {
    name: "compat",
    format: "chat completions",
    backend: (url, maxRetries = 0) =>
      compatBackend(compatConfig({ baseUrl: `${url}/v1`, apiKey: "k", model, maxRetries })),
  },
  {
    name: "local native",
    format: "native",
    backend: (host, maxRetries = 0) => localBackend(localConfig({ host, model, maxRetries })),
  },
  {
    name: "local compatible",
    format: "chat completions",
    backend: (host, maxRetries = 0) =>
      localBackend(localConfig({ host, model, maxRetries, useCompat: true })),
  },
  {
    name: "hosted",
    format: "messages",
    backend: (baseUrl, maxRetries = 0) =>
      hostedBackend(hostedConfig({ baseUrl, apiKey: "k", model, maxRetries })),
  },
];

export const WAYS: readonly Way[] = BACKENDS.flatMap((backend) => [
  { ...backend, stream: true },
  { ...backend, stream: false, name: `${backend.name}, whole` },
]);

/** What must come of an answer; what is absent must be absent. */
export interface Outcome {
  content?: string;
  reasoning?: string;
  /** Names and arguments; the text instead of the arguments where they are invalid. */
  calls?: [name: string, args: Record<string, unknown> | string][];
  finish: FinishReason;
  usage?: Usage | undefined;
}

export interface Scenario {
  name: string;
  step: Step;
  expected: Outcome | { error: BackendErrorKind; says?: string };
  /** Whether a way can express the answer: every way can. */
  applies?: (way: Way) => boolean;
}

/** Ways on which arguments are text: elsewhere the server parses them, and sends objects only. */
function hasRawArguments({ format, stream }: Way): boolean {
  return format === "chat completions" || format === "messages" && stream;
}

/** Ways on which text may hold reasoning and calls: the messages API has blocks of their own. */
export const hasPlainText = ({ format }: Way): boolean => format !== "messages";
/** The native format has no word for a refusal and does not count cached tokens. */
const isNotNative = ({ format }: Way): boolean => format !== "native";

const usage: Usage = { inputTokens: 10, outputTokens: 5 };
const read = (path: string) => ({ name: "read_file", arguments: { file_path: path } });
const raw = (text: string): Step => ({ toolCalls: [{ name: "read_file", arguments: text }] });
const hard = 'Grüße 你好 🎉👩‍👩‍👧 \u2028\u0085 "q" \\ \\u00e9\n\ttail';

// deno-fmt-ignore
export const SCENARIOS: readonly Scenario[] = [
  { name: "text", step: { text: "Hello." }, expected: { content: "Hello.", finish: "stop", usage } },
  { name: "nothing", step: {}, expected: { finish: "stop", usage } },
  {
    name: "reasoning and text",
    step: { reasoning: "Let me see.", text: "Hello." },
    expected: { content: "Hello.", reasoning: "Let me see.", finish: "stop", usage },
  },
  {
    name: "reasoning in the text",
    step: { text: "<think>Let me see.</think>Hello." },
    expected: { content: "Hello.", reasoning: "Let me see.", finish: "stop", usage },
    applies: hasPlainText,
  },
  {
    name: "think tags in the text where reasoning came apart",
    step: { reasoning: "Let me see.", text: "<think> and </think> are tags." },
    expected: { content: "<think> and </think> are tags.", reasoning: "Let me see.", finish: "stop", usage },
  },
  {
    name: "one call",
    step: { toolCalls: [read("a")] },
    expected: { calls: [["read_file", { file_path: "a" }]], finish: "tool_calls", usage },
  },
  {
    name: "NET-07 calls of the same tool, in order",
    step: { toolCalls: [read("a"), read("b"), read("c")] },
    expected: { calls: ["a", "b", "c"].map((file_path) => ["read_file", { file_path }]), finish: "tool_calls", usage },
  },
  {
    name: "reasoning, text and a call",
    step: { reasoning: "Hm.", text: "I will look.", toolCalls: [read("a")] },
    expected: { content: "I will look.", reasoning: "Hm.", calls: [["read_file", { file_path: "a" }]], finish: "tool_calls", usage },
  },
  {
    name: "NET-01 emoji, CJK, line separators and escapes",
    step: { text: hard, reasoning: hard, toolCalls: [read(hard)] },
    expected: { content: hard, reasoning: hard, calls: [["read_file", { file_path: hard }]], finish: "tool_calls", usage },
  },
  {
    name: "a call without arguments",
    step: { toolCalls: [{ name: "glob_files" }] },
    expected: { calls: [["glob_files", {}]], finish: "tool_calls", usage },
  },
  {
    name: "NET-06 empty arguments",
    step: raw(""),
    expected: { calls: [["read_file", {}]], finish: "tool_calls", usage },
    applies: hasRawArguments,
  },
  ...['{"file_path": "a', '{"file_path": "a\nb"}', '{"file_path": "a"} more', "[1]", "7", "read a"]
    .map((text): Scenario => ({
      name: `NET-06 arguments that are no JSON object: ${JSON.stringify(text)}`,
      step: raw(text),
      expected: { calls: [["read_file", text]], finish: "tool_calls", usage },
      applies: hasRawArguments,
    })),
  {
    name: "NET-05 text cut by the token limit",
    step: { text: "Hello, I", finish: "length" },
    expected: { content: "Hello, I", finish: "length", usage },
  },
  {
    name: "NET-05 a call cut by the token limit is not to be run",
    step: { ...raw('{"file_path": "a'), finish: "length" },
    expected: { calls: [["read_file", '{"file_path": "a']], finish: "length", usage },
    applies: hasRawArguments,
  },
  {
    name: "NET-05 a call that the limit cut and that parses all the same",
    step: { toolCalls: [read("a"), read("b")], finish: "length" },
    expected: { calls: [["read_file", { file_path: "a" }], ["read_file", '{"file_path":"b"}']], finish: "length", usage },
  },
  {
    name: "NET-05 a refusal",
    step: { text: "I", finish: "refused" },
    expected: { content: "I", finish: "refused", usage },
    applies: isNotNative,
  },
  {
    name: "usage with cached tokens",
    step: { text: "a", usage: { inputTokens: 100, outputTokens: 20, cachedTokens: 60 } },
    expected: { content: "a", finish: "stop", usage: { inputTokens: 100, outputTokens: 20, cachedTokens: 60 } },
    applies: isNotNative,
  },
  { name: "no usage", step: { text: "a", usage: null }, expected: { content: "a", finish: "stop", usage: undefined } },
  ...(["text", "name", "arguments", "finish"] as const).map((cut): Scenario => ({
    name: `NET-04 an answer that ends amid its ${cut}`,
    step: { text: "I will look.", toolCalls: [read("a")], cut },
    expected: { error: "incomplete" },
  })),
  {
    name: "NET-03 an error inside a 200 answer, at once",
    step: { error: { status: 200, message: "runner died" } },
    expected: { error: "server", says: "runner died" },
  },
  {
    name: "NET-03 an error inside a 200 answer, after text",
    step: { text: "Hello.", error: { status: 200, message: "runner died" } },
    expected: { error: "server", says: "runner died" },
  },
  ...([
    [400, "request"],
    [401, "auth"],
    [403, "auth"],
    [404, "request"],
    [413, "context_too_long"],
    [422, "request"],
    [429, "rate_limit"],
    [500, "server"],
    [529, "server"],
  ] as const).map(([status, kind]): Scenario => ({
    name: `NET-10 status ${status}`,
    step: { error: { status, message: "no luck" } },
    expected: { error: kind, says: "no luck" },
  })),
];

/** How a conversation begins. */
export const question: Message[] = [
  { role: "system", content: "You help." },
  { role: "user", content: "What is in a?" },
];

const id = "call_1";
const called = (more: object = {}): Message => (
  {
    role: "assistant",
    content: "",
    toolCalls: [{ id, name: "read_file", arguments: { file_path: "a" }, ...more }],
  }
);
const result = (content: string, toolCallId = id): Message => (
  { role: "tool", toolCallId, toolName: "read_file", content }
);
const goOn: Message = { role: "user", content: "go on" };
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Conversations that every server takes. */
// deno-fmt-ignore
export const HISTORIES: [name: string, messages: Message[]][] = [
  ["a user text after results", [...question, called(), result("x"), goOn]],
  ["two user texts", [...question, goOn]],
  ["an answer that says nothing", [...question, { role: "assistant", content: "" }, goOn]],
  ["a note after results", [...question, called(), result("x"), { role: "assistant", content: "[stopped]" }, goOn]],
  ["NET-05 a call that was cut off", [
    ...question,
    called({ arguments: {}, invalid: { text: '{"file_path": "a', reason: "it was cut off" } }),
    result("cut off"),
  ]],
  ["a call of a tool that no one has", [...question, called({ name: "my tool!" }), { ...result("no such tool"), toolName: "my tool!" }]],
  ["ids of another server", [...question, called({ id: "functions.read_file:0" }), result("x", "functions.read_file:0")]],
  ["ill-formed Unicode", [
    { role: "system", content: "a\ud83d" },
    { role: "user", content: "\udc00b" },
    called({ arguments: { "a\ud83d": ["\ud83d"] } }),
    result("\ud83d\\ud83d"),
  ]],
  ["images", [{ role: "user", content: "What is this?", parts: [{ type: "image", mediaType: "image/png", data: png }] }]],
  ["an image alone", [{ role: "user", content: "", parts: [{ type: "image", mediaType: "image/png", data: png }] }]],
  ["reasoning of an answer without text", [...question, { role: "assistant", content: "[no answer]", reasoning: "Hm." }, goOn]],
];
