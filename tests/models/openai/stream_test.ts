import { assertEquals, assertThrows } from "@std/assert";
import type { Delta } from "../../../src/models/backend.ts";
import { readCompatResponse } from "../replies.ts";
import { compatReader } from "../../../src/models/openai/stream.ts";
import { BackendError, type BackendErrorKind } from "../../../src/errors.ts";
import { forEverySplit } from "../../helpers/split.ts";
import { recorded } from "../../helpers/recorded.ts";

const encoder = new TextEncoder();

/** A reader of streams, and how it gets an event. */
function reading(onDelta?: (delta: Delta) => void) {
  const reader = compatReader("text/event-stream", true, onDelta);
  const feed = (event: unknown) => {
    const data = typeof event === "string" ? event : JSON.stringify(event);
    reader.push(encoder.encode(`data: ${data}\n\n`));
  };
  return { reader, feed };
}

function fold(pieces: Uint8Array[], deltas: Delta[] = [], contentType = "text/event-stream") {
  const reader = compatReader(contentType, true, (delta) => deltas.push(delta));
  for (const piece of pieces) reader.push(piece);
  return reader.end();
}

/** Folds events; objects are sent as JSON. */
function foldEvents(events: readonly unknown[], deltas: Delta[] = []) {
  const { reader, feed } = reading((delta) => deltas.push(delta));
  events.forEach(feed);
  return reader.end();
}

function read(events: readonly unknown[]) {
  return readCompatResponse(foldEvents(events));
}

const delta = (delta: unknown, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const finish = (reason = "stop") => delta({}, reason);
const DONE = "[DONE]";

/** The calls of a message, without ids that are random. */
function callsOf(message: { toolCalls?: { name: string; arguments: unknown }[] }) {
  return message.toolCalls?.map((call) => [call.name, call.arguments]) ?? [];
}

Deno.test("NET-01 recorded streams fold to the same response however they are cut", () => {
  const names = ("llama-two_tools-auto ollama-think_tool llama-hello llama-noargs-auto " +
    "llama-think_tool-auto llama-tool-length ollama-hello ollama-two_tools").split(" ");
  for (const [i, name] of names.entries()) {
    const { body } = recorded(`compat-${name}-stream`);
    const deltas: Delta[] = [];
    const whole = fold([body], deltas);
    const text = deltas.map((d) => d.type === "text" ? d.text : "").join("");
    assertEquals(text, contentOf(whole) ?? "", name);
    // Every split of each would take 10 s.
    if (i >= 2) continue;
    forEverySplit(body, (pieces) => {
      const again: Delta[] = [];
      assertEquals(fold(pieces, again), whole);
      assertEquals(again, deltas);
    });
  }
});

const contentOf = (response: unknown) =>
  (response as { choices: { message: { content: string | null } }[] }).choices[0]!.message.content;

Deno.test("the content of an answer with calls alone is null, of an empty one empty", () => {
  const content = (events: unknown[]) => contentOf(foldEvents([...events, finish(), DONE]));
  assertEquals(content([delta({ tool_calls: [call(0, "a", "f", "{}")] })]), null);
  assertEquals(content([]), "");
});

/** A fragment of a tool call; what is `undefined` is left out. */
function call(index?: number, id?: string | null, name?: string | null, args?: unknown) {
  return {
    ...(index !== undefined && { index }),
    ...(id !== undefined && { id }),
    function: {
      ...(name !== undefined && { name }),
      ...(args !== undefined && { arguments: args }),
    },
  };
}

const A = { p: "a" };
const B = { p: "b" };
const [a, b] = [JSON.stringify(A), JSON.stringify(B)];
const VALUES: Record<string, unknown> = { "''": "", null: null, A: a, B: b, "@A": A, "@B": B };

/**
 * Returns deltas, separated by ` / `, of fragments, separated by ` + `: index, id, name, arguments. `-` is left out,
 * `A` is the JSON of A, and `@A` the object.
 */
function callDeltas(text: string) {
  const value = (word?: string) =>
    word === undefined || word === "-" ? undefined : word in VALUES ? VALUES[word] : word;
  return text.split(" / ").map((one) => {
    const tool_calls = one.split(" + ").map((fragment) => {
      const [, index, id, name, args] = /^(\S+)(?: (\S+))?(?: (\S+))?(?: (.*))?$/.exec(fragment)!;
      return call(
        index === "-" ? undefined : Number(index),
        value(id) as string,
        value(name) as string,
        value(args),
      );
    });
    return delta({ tool_calls });
  });
}

const BOTH = `read ${a}; read ${b}`;
/** Fragments, and the calls that they make: without these, {@linkcode BOTH}. */
// deno-fmt-ignore
const FRAGMENTS: [name: string, fragments: string, calls?: string][] = [
  ["interleaved by index", `0 x read '' / 1 y read '' / 0 - - {"p": / 1 - - {"p": / 0 - - "a"} / 1 - - "b"}`],
  ["both in one delta", "0 x read A + 1 y read B"],
  ["both in one delta, no index", "- x read A + - y read B"],
  ["no index, ids", `- x read '' / - - - A / - y read '' / - - - B`],
  ["no index, interleaved by id", `- x read {"p": / - y read {"p": / - x - "a"} / - y - "b"}`],
  ["no index, no ids, each whole", "- - read A / - - read B"],
  ["no index, no ids, in pieces", `- - read {"p" / - - - :"a"} / - - read B`],
  ["pieces of one call counted", `0 x read {"p" / 1 - - :"a"} / 2 y read B`],
  ["all index 0, other ids", "0 x read A / 0 y read B"],
  ["all index 0, other ids, in pieces", `0 x read '' / 0 - - A / 0 y read '' / 0 - - B`],
  ["all index 0, interleaved by id", `0 x read {"p": / 0 y read {"p": / 0 x - "a"} / 0 y - "b"}`],
  ["all index 0, no ids, each whole", "0 - read A / 0 - read B"],
  ["1 before 0", "1 y read B / 0 x read A"],
  ["a gap", "0 x read A / 2 y read B"],
  ["id on every fragment", `0 x read {"p": / 0 x '' "a"} / 1 y read B`],
  ["id and name after the end", `0 x read {"p": / 0 x read "a"} / 0 x read '' / 1 y read B`],
  ["name on every fragment, no ids", `0 - read {"p": / 0 - read "a"} / 1 - read B`],
  ["id late", `0 - read '' / 0 - - {"p": / 0 x - "a"} / 1 '' read B / 1 y`],
  ["id late, no index", "- null read A / - x / - y read B"],
  ["name split", `0 x re '' / 0 - ad '' / 0 '' null A / 1 y r / 1 - ead B`],
  ["name after the arguments began", `0 x - {"p": / 0 - read "a"} / 1 y read B`],
  ["index only later", `- x read '' / 0 - - A / 1 y read B`],
  ["one id, by index", `0 x read {"p": / 1 x read {"p": / 0 - - "a"} / 1 x - "b"}`],
  ["repeated at the end", "0 x read A / 1 y read B / 0 x read A + 1 y read B"],
  ["repeated in other words", `0 x read {"p": / 0 - - "a"} / 1 y read B / 0 x read { "p": "a" }`],
  ["repeated at the end, without ids", "0 - read A / 1 - read B / 0 - read A + 1 - read B"],
  ["repeated at the end, without indexes", "- x read A / - y read B / - x read A + - y read B"],
  ["alike, but two", "0 x read A / 1 y read A", `read ${a}; read ${a}`],
  ["alike with one id, but two", "0 x read A / 1 x read A", `read ${a}; read ${a}`],
  ["alike in one delta, but two", "0 - read A + 0 - read A", `read ${a}; read ${a}`],
  ["the same id twice", "0 x read A / 1 x read B"],
  ["the same id twice, no index", "- x read A / - x read B"],
  ["arguments at every character", `0 x read ${split(0, a)} / 1 y read ${split(1, b)}`],
  ["braces and quotes in strings", `- - read {"p":"}\\"{" / - - - } / - - read B`, `read {"p":"}\\"{"}; read ${b}`],
  ["two without arguments, by index", "0 x now / 1 y now", "now {}; now {}"],
  ["two without arguments, by id", "- x now / - y list", "now {}; list {}"],
  ["two without arguments, by place", "- - now + - - list", "now {}; list {}"],
  ["name split, by id", "- x re / - x ad / - x - A / - y read B"],
  ["index only later, interleaved", `- x read '' / 0 - - {"p": / 1 y read B / 0 - - "a"}`],
  ["braces in strings, name on every fragment", `- - read {"p":"}} / - - read \\"} / - - read "}`, `read {"p":"}}\\"}"}`],
  ["arguments as an object", "0 x read @A / 1 y read @B"],
  ["arguments null", "0 x now null", "now {}"],
  ["an empty key", `- - read {"":"a"} / - - read B`, `read {"":"a"}; read ${b}`],
  ["a list in two", `- - read {"p":[1] / - - read ,"q":2}`, `read {"p":[1],"q":2}`],
  ["an object within, in two", `- - read {"p":{"q":1} / - - read }`, `read {"p":{"q":1}}`],
  ["a list, each whole", `- - read {"p":[1]} / - - read B`, `read {"p":[1]}; read ${b}`],
  ["the second's name late, by index", `0 x read A / 1 - - {"p": / 1 y read "b"}`],
  ["the second without arguments", "- - read A / - - list", `read ${a}; list {}`],
  ["name twice before the arguments", "- - read / - - read A", `read ${a}`],
  ["indexes only later, by id", `- x read '' + - y read '' / 0 x - A / 1 y - B`],
  ["repeated, ids left out", "0 x read A / 1 y read B / 0 - read A + 1 - read B"],
  ["no JSON, repeated", "0 - read {p} / 0 - read {p}", "read {}"],
  ["no JSON, another", "0 - read {p} / 0 - read {q}", "read {}; read {}"],
];

/** Fragments of the arguments of the call of an index, a character each. */
function split(index: number, args: string): string {
  return [...args].map((char) => ` / ${index} - - ${char}`).join("");
}

for (const [name, fragments, expected = BOTH] of FRAGMENTS) {
  Deno.test(`NET-07 fragments find their call: ${name}`, () => {
    const { message } = read([...callDeltas(fragments), finish("tool_calls"), DONE]);
    const calls = callsOf(message).map(([name, args]) => `${name} ${JSON.stringify(args)}`);
    assertEquals(calls.join("; "), expected);
    const ids = message.toolCalls!.map(({ id }) => id);
    assertEquals(new Set(ids).size, ids.length, "ids are unique");
    assertEquals(ids.includes(""), false);
  });
}

Deno.test("NET-07 ambiguous fragments fail instead of being merged", () => {
  const rows = [
    '- - read {"p": / - - list {"q":1}',
    `0 '' read {"p": / 0 '' list {"q":1}`,
    "- - read / - - list {}", // a second name, or the rest of the first
    "- - - {}",
  ];
  for (const text of rows) {
    const merged = () => read([...callDeltas(text), finish(), DONE]);
    assertEquals(assertThrows(merged, BackendError, "", text).kind, "protocol");
  }
});

Deno.test("tool_call deltas name each call once, when its name is complete", () => {
  const deltas: Delta[] = [];
  foldEvents([
    ...callDeltas("0 x re '' / 0 - ad '' / 0 - - {} / 1 y now"),
    delta({ content: "a" }),
    finish("tool_calls"),
    DONE,
  ], deltas);
  assertEquals(deltas, [
    { type: "tool_call", name: "read" },
    { type: "tool_arguments", text: "{}" },
    { type: "text", text: "a" },
    { type: "tool_call", name: "now" },
  ]);
});

Deno.test("tool_call deltas come before arguments, but not before a name that may go on", () => {
  const rows: [fragments: ReturnType<typeof call>[], seen: string[]][] = [
    [[call(0, "x", "re", " "), call(0, undefined, "ad", "{}")], [" ", "read", "{}"]],
    [[call(0, "x", undefined, "{"), call(0, undefined, "read", "}")], ["{", "read", "}"]],
  ];
  for (const [fragments, seen] of rows) {
    const deltas: Delta[] = [];
    const events = fragments.map((fragment) => delta({ tool_calls: [fragment] }));
    foldEvents([...events, finish("tool_calls"), DONE], deltas);
    const words = deltas.map((one) =>
      "text" in one ? one.text : one.type === "tool_call" && one.name
    );
    assertEquals(words, seen);
  }
});

Deno.test("NET-06 arguments that are no JSON object", () => {
  const rows: [args: unknown, read: unknown][] = [
    ["", {}],
    [" \n", {}],
    ["null", {}],
    [' {"p":1}\n', { p: 1 }],
    ['"{\\"p\\":1}"', { p: 1 }],
    // A key twice is read if it has one value.
    ['{"p":1,"p":1}', { p: 1 }],
    ['{"p":1,"p":2}', undefined],
    ['{"p":"a', undefined],
    ['{"p":"a\nb"}', undefined],
    ['{"p":1}}', undefined],
    ['[{"p":1}]', undefined],
    ["7", undefined],
    [7, undefined],
    [false, undefined],
    [[1], undefined],
    ["p = a", undefined],
    ['{"a":'.repeat(5000) + "1" + "}".repeat(5000), undefined],
  ];
  for (const [args, expected] of rows) {
    const events = [delta({ tool_calls: [call(0, "x", "read", args)] })];
    const { message } = read([...events, finish("tool_calls"), DONE]);
    const { arguments: given, invalid } = message.toolCalls![0]!;
    assertEquals([given, invalid === undefined], [expected ?? {}, expected !== undefined]);
    const text = typeof args === "string" ? args : JSON.stringify(args);
    if (invalid && text.length < 5000) assertEquals(invalid.text, text);
  }
});

Deno.test("either end mark is enough, also when cut right after it", () => {
  const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
  const [text, last] = [delta({ content: "a" }), delta({ content: "a" }, "stop")];
  const rows = [
    data(last),
    data(last).trim(),
    `${data(last)}data: {"choices":[],"usa`,
    `${data(text)}data: [DONE]`,
    // Events after [DONE] mean nothing.
    `${data(text)}data: [DONE]\n\n${data(delta({ content: "b" }))}data: {`,
  ];
  for (const row of rows) {
    const { message, finish } = readCompatResponse(fold([encoder.encode(row)]));
    assertEquals([message.content, finish], ["a", "stop"], row);
  }
});

Deno.test("NET-09 chunks that hold less or more than expected", () => {
  const usage = (n: number) => ({ prompt_tokens: 10, completion_tokens: n });
  const rows: Record<string, unknown[]> = {
    "no choices": [{ choices: [], prompt_filter_results: [] }, delta({ content: "ab" }), finish()],
    "choices missing": [{ id: "x" }, delta({ content: "ab" }), finish()],
    "choices null": [{ choices: null }, delta({ content: "ab" }), finish()],
    "delta null": [delta(null), delta({ content: "ab" }), delta(null, "stop")],
    "delta missing": [{ choices: [{ index: 0 }] }, delta({ content: "ab" }), finish()],
    "delta empty": [delta({}), delta({ content: "ab" }), finish()],
    "content null": [delta({ content: null }), delta({ content: "ab" }), finish()],
    "role only": [delta({ role: "assistant" }), delta({ content: "ab" }), finish()],
    "empty data": ["", delta({ content: "ab" }), finish()],
    "finish before the last text": [delta({ content: "a" }), delta({ content: "b" }, "stop")],
    "text after the finish": [delta({ content: "a" }, "stop"), delta({ content: "b" })],
    "a finish reason on every chunk": [
      delta({ content: "a" }, ""),
      delta({ content: "b" }, "stop"),
    ],
    "content in parts": [
      delta({ content: [{ type: "text", text: "a" }] }),
      delta({ content: [{ type: "text", text: "b" }] }, "stop"),
    ],
    "a second choice": [
      { choices: [{ index: 0, delta: { content: "a" } }, { index: 1, delta: { content: "X" } }] },
      { choices: [{ index: 1, delta: { content: "X" }, finish_reason: "length" }] },
      delta({ content: "b" }, "stop"),
    ],
    "error null on every chunk": [{ ...delta({ content: "ab" }), error: null }, finish()],
    "no index": [{ choices: [{ delta: { content: "ab" }, finish_reason: "stop" }] }],
  };
  for (const [name, events] of Object.entries(rows)) {
    const { message, finish } = read([...events, { choices: [], usage: usage(2) }, DONE]);
    assertEquals([message.content, finish], ["ab", "stop"], name);
  }
  const cumulative = read([
    { ...delta({ content: "a" }), usage: usage(1) },
    { ...delta({ content: "b" }), usage: usage(2) },
    { ...finish(), usage: null },
    { choices: [], usage: usage(3), timings: { cache_n: 2 } },
    DONE,
  ]);
  assertEquals(cumulative.usage, { inputTokens: 10, outputTokens: 3, cachedTokens: 2 });
  const moonshot = { choices: [{ index: 0, delta: {}, finish_reason: "stop", usage: usage(3) }] };
  assertEquals(read([moonshot, DONE]).usage, { inputTokens: 10, outputTokens: 3 });
  const { message } = read([
    delta({ tool_calls: [call(0, "x", "now", "{}")] }),
    delta({ content: "after" }),
    finish("tool_calls"),
    DONE,
  ]);
  assertEquals([message.content, callsOf(message)], ["after", [["now", {}]]]);
});

Deno.test("reasoning is kept apart, in whatever field it comes", () => {
  const rows: unknown[] = [
    { reasoning_content: "hm" },
    { reasoning: "hm" },
    { thinking: "hm" },
    { reasoning_content: "hm", reasoning: "hm" },
    { content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] },
    { content: [{ type: "thinking", thinking: "hm" }] },
    { reasoning_content: "hm", reasoning: "x", thinking: "y" },
    { reasoning_content: "", reasoning: "hm", thinking: "y" },
  ];
  for (const first of rows) {
    const deltas: Delta[] = [];
    const events = [delta(first), delta({ content: "yes" }), finish(), DONE];
    const { message } = readCompatResponse(foldEvents(events, deltas));
    assertEquals([message.reasoning, message.content], ["hm", "yes"]);
    assertEquals(deltas, [{ type: "reasoning", text: "hm" }, { type: "text", text: "yes" }]);
  }
});

Deno.test("the forms of other times: function_call, refusal", () => {
  const { message, finish: reason } = read([
    delta({ function_call: { name: "read", arguments: '{"p"' } }),
    delta({ function_call: { arguments: ":1}" } }),
    finish("function_call"),
    DONE,
  ]);
  assertEquals([callsOf(message), reason], [[["read", { p: 1 }]], "tool_calls"]);
  const refusal = read([delta({ refusal: "I can" }), delta({ refusal: "not" }), finish(), DONE]);
  assertEquals([refusal.message.content, refusal.finish], ["I cannot", "refused"]);
  const part = { type: "refusal", refusal: "I cannot" };
  assertEquals(read([delta({ content: [part] }), finish(), DONE]).message.content, "I cannot");
});

Deno.test("NET-03 an error inside a stream is thrown as one", () => {
  const rows: [event: string, kind: BackendErrorKind][] = [
    ['data: {"error":{"message":"boom","type":"server_error"}}', "server"],
    ['event: error\ndata: {"error":{"message":"boom"}}', "server"],
    ['event: error\ndata: {"message":"boom"}', "server"],
    ['data: {"object":"error","message":"boom","code":400}', "request"], // vLLM
    ['data: {"error":"boom"}', "server"],
    ['data: {"error":{"message":"boom"},"choices":[]}', "server"],
  ];
  for (const [event, kind] of rows) {
    for (const before of ["", `data: ${JSON.stringify(delta({ content: "a" }))}\n\n`]) {
      const broken = () => fold([encoder.encode(`${before}${event}\n\n`)]);
      const error = assertThrows(broken, BackendError);
      assertEquals([error.kind, error.serverMessage], [kind, "boom"], event);
    }
  }
});

Deno.test("NET-03 what llama.cpp cannot parse of an answer is its text (ggml-org/llama.cpp#24644)", () => {
  const message = "Failed to parse input at pos 2: c\nd";
  const answer = read([delta({ content: "b " }), { error: { code: 500, message } }]);
  assertEquals([answer.message.content, answer.finish], ["b c\nd", "stop"]);
});

Deno.test("an answer in one piece is taken where a stream was asked for", () => {
  const { body, text } = recorded("compat-ollama-think_tool");
  assertEquals(fold([body], [], "application/json"), JSON.parse(text));
});

Deno.test("content types: what is no stream is told from one that broke off", () => {
  const rows: [string, string, BackendErrorKind][] = [
    ["text/plain", "upstream connect error", "incomplete"],
    ["", "", "incomplete"],
    ["text/event-stream", "", "incomplete"],
    ["text/plain", `data: ${JSON.stringify(delta({ content: "a" }))}\n\n`, "incomplete"],
    ["application/json", '{"id":"x"}', "protocol"],
    ["application/json", '{"choices":[]}', "protocol"],
    ["application/json", "[]", "protocol"],
    ["application/json", "7", "protocol"],
    ["application/json", '{"error":{"message":"boom"}}', "server"],
  ];
  for (const [type, text, kind] of rows) {
    const error = assertThrows(() => fold([encoder.encode(text)], [], type), BackendError);
    assertEquals(error.kind, kind, `${type} ${text}`);
  }
});

Deno.test("NET-12 only what carries something is progress", () => {
  const rows: [event: unknown, progress: boolean][] = [
    [{}, false],
    [{ choices: [] }, false],
    [{ choices: [{ index: 0 }] }, false],
    [delta({}), false],
    [delta({ role: "assistant", content: null }), false],
    [delta({ content: "", reasoning_content: "", tool_calls: [] }), false],
    [{ choices: [], usage: { prompt_tokens: 1 } }, false],
    [{ choices: [], prompt_progress: { processed: 0, total: 900 } }, false],
    [{ choices: [], prompt_progress: { processed: 1, total: 900 } }, true],
    [{ choices: [], prompt_progress: { processed: 100, total: 900 } }, true],
    [{ choices: [], prompt_progress: { processed: 100, total: 900 } }, false],
    [{ choices: [], prompt_progress: { processed: "150", total: 900 } }, false],
    [{ choices: [], prompt_progress: { processed: 200, total: 900 } }, true],
    [delta({ reasoning_content: "h" }), true],
    [delta({ content: "a" }), true],
    [delta({ content: " " }), true],
    [delta({ refusal: "n" }), true],
    [delta({ tool_calls: [call(0, "x", "read", "{")] }), true],
    [delta({ tool_calls: [call(0, undefined, undefined, "}")] }), true],
    [delta({ tool_calls: [call(0, undefined, undefined, "")] }), false],
    [finish(), true],
    [finish(), false],
  ];
  const { reader, feed } = reading();
  for (const [event, progress] of rows) {
    const before = reader.progress;
    feed(event);
    assertEquals(reader.progress > before, progress, JSON.stringify(event));
  }
});

Deno.test("how much of the prompt was read is told as it grows, and is no answer yet", () => {
  const told: Delta[] = [];
  const { reader, feed } = reading((one) => told.push(one));
  const progress: unknown[] = [
    { processed: 0, total: 900, cache: 0, time_ms: 0 },
    { processed: 50, total: 900, cache: 50 },
    { processed: 50, total: 900, cache: 50 },
    { processed: 60, total: 900, cache: 50, time_ms: 20 },
    { processed: 100, total: "900" },
    { processed: 900, total: 900 },
  ];
  for (const prompt_progress of progress) feed({ choices: [], prompt_progress });
  assertEquals(told, [
    { type: "prompt_progress", processed: 0, total: 900, cached: 0 },
    { type: "prompt_progress", processed: 50, total: 900, cached: 50 },
    { type: "prompt_progress", processed: 60, total: 900, cached: 50, ms: 20 },
    { type: "prompt_progress", processed: 900, total: 900, cached: 0 },
  ]);
  assertEquals(reader.started, false);
});

Deno.test("an answer is done with [DONE], or with a count of its own after its finish", () => {
  const usage = { prompt_tokens: 1, completion_tokens: 1 };
  const counted = { ...delta({ content: "a" }), usage };
  const rows: [events: unknown[], finished: boolean, done: boolean][] = [
    [[delta({ content: "a" })], false, false],
    [[counted], false, false],
    [[counted, { choices: [], usage }], false, false],
    [[{ ...finish(), usage }], true, false],
    [[finish(), counted], true, false],
    [[finish(), { choices: [] }], true, false],
    [[finish(), { choices: [], usage }], true, true],
    [[delta({ content: "a" }), DONE], false, true],
  ];
  for (const [events, finished, done] of rows) {
    const { reader, feed } = reading();
    events.forEach(feed);
    assertEquals([reader.finished, reader.done], [finished, done], JSON.stringify(events));
  }
});

Deno.test("NET-05 a limit stays one, whatever is said after it", () => {
  const rows: [string[], string][] = [
    [["length", "stop"], "length"],
    [["length", "tool_calls", "stop"], "length"],
    [["model_length", "stop"], "length"],
    [["model_context_window_exceeded"], "length"],
    [["content_filter", "stop"], "refused"],
    [["stop", "length"], "length"],
    [["stop", "tool_calls"], "tool_calls"],
  ];
  for (const [reasons, expected] of rows) {
    const called = delta({ tool_calls: [call(0, "x", "read", "{}")] });
    const reply = read([called, ...reasons.map(finish), DONE]);
    assertEquals([reply.finish, reply.message.toolCalls!.length], [expected, 1], `${reasons}`);
    assertEquals(reply.message.toolCalls![0]!.invalid === undefined, expected === "tool_calls");
  }
});
