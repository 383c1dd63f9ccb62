import { assertEquals, assertStringIncludes } from "@std/assert";
import { parseLocalResponse } from "../../../src/agent/parse_local_response.ts";
import type { FinishReason } from "../../../src/models/backend.ts";
import { parseCompatResponse } from "../../../src/models/openai/response.ts";
import { readCompatResponse, readLocalResponse } from "../replies.ts";
import { localConfig } from "../../../src/config.ts";
import { recorded } from "../../helpers/recorded.ts";

const call = (name: string, args: unknown, id: unknown = name) => (
  { id, type: "function", function: { name, arguments: args } }
);

function compat(message: unknown, ...[finish = "stop", more = {}]: [unknown?, object?]) {
  return { choices: [{ index: 0, message, finish_reason: finish }], ...more };
}

Deno.test("finish reasons, of both protocols", () => {
  const rows: [unknown, FinishReason][] = [
    ["stop", "stop"],
    [null, "stop"],
    ["", "stop"],
    ["eos_token", "stop"],
    ["length", "length"],
    ["model_length", "length"],
    ["content_filter", "refused"],
    ["error", "other"],
    ["abort", "other"],
    ["constructor", "other"],
    ["stop_sequence", "stop"],
    ["end_turn", "stop"],
    ["tool_use", "stop"],
    ["function_call", "stop"],
    ["max_tokens", "length"],
    ["refusal", "refused"],
  ];
  for (const [word, finish] of rows) {
    const reply = readCompatResponse(compat({ content: "a" }, word));
    assertEquals([reply.finish, reply.finishDetail], [finish, word ?? ""]);
  }
  const native: [unknown, FinishReason][] = [
    ["stop", "stop"],
    [undefined, "stop"],
    ["length", "length"],
    ["load", "other"],
    ["unload", "other"],
  ];
  for (const [done_reason, finish] of native) {
    const reply = readLocalResponse({ message: { content: "a" }, done: true, done_reason });
    assertEquals([reply.finish, reply.finishDetail], [finish, done_reason ?? ""]);
  }
});

Deno.test("a word for the end that nobody knows is shown in one harmless line", () => {
  const { finishDetail } = readCompatResponse(compat({ content: "a" }, "odd\n\x1b[31mword"));
  assertEquals(finishDetail, "odd word");
});

Deno.test("the forms of other times, in one piece: function_call, refusal", () => {
  const old = { name: "read", arguments: '{"p":1}' };
  const names = (message: unknown) =>
    parseCompatResponse(compat(message)).toolCalls?.map(({ name }) => name);
  assertEquals(names({ function_call: old }), ["read"]);
  assertEquals(names({ function_call: old, tool_calls: [call("write", "{}")] }), ["write"]);
  const { message, finish, finishDetail } = readCompatResponse(compat({ refusal: "I cannot" }));
  assertEquals([message.content, finish, finishDetail], ["I cannot", "refused", "refusal"]);
});

Deno.test("an answer with calls finishes with them, whatever the server calls it", () => {
  for (const word of ["stop", "tool_calls", null]) {
    const reply = readCompatResponse(compat({ tool_calls: [call("read", "{}")] }, word));
    assertEquals(reply.finish, "tool_calls");
  }
  assertEquals(readCompatResponse(compat({ content: "a" }, "tool_calls")).finish, "stop");
});

Deno.test("NET-05 the last call of an answer that was cut is never run", () => {
  const rows: [string, unknown, boolean][] = [
    ["length", '{"p":"a', false],
    ["length", "", false],
    ["length", '{"p":"a"}', false],
    ["content_filter", '{"p":"a"}', false],
    ["error", '{"p":"a"}', false],
    ["", '{"p":"a"}', true],
    ["", "", false],
    ["", '{"p":"a"', false],
    ["tool_calls", '{"p":"a', false],
    ["tool_calls", '{"p":"a"}', true],
    ["tool_calls", "", true],
    ["tool_calls", null, true],
    ["tool_calls", undefined, true],
  ];
  for (const [word, args, runs] of rows) {
    const tool_calls = [call("read", '{"p":"0"}'), call("write", args)];
    const { message, finish } = readCompatResponse(compat({ tool_calls }, word));
    const [first, last] = message.toolCalls!;
    assertEquals([first!.arguments, first!.invalid], [{ p: "0" }, undefined]);
    assertEquals(last!.invalid === undefined, runs, `${word} ${args}`);
    if (!runs) assertEquals([last!.arguments, last!.invalid!.text], [{}, args]);
    assertEquals(finish === "tool_calls", word === "tool_calls" || word === "");
  }
  const incomplete = "the answer ended before the call was complete";
  const reasons: [finish: string | null, args: string, reason: string][] = [
    ["length", "{}", "its arguments were cut off at the limit of an answer, so no"],
    ["error", "{}", `${incomplete} (error)`],
    [null, "", `${incomplete} (no reason given)`],
  ];
  for (const [finish, args, reason] of reasons) {
    const { message } = readCompatResponse(compat({ tool_calls: [call("read", args)] }, finish));
    assertStringIncludes(message.toolCalls![0]!.invalid!.reason, reason);
  }
  const recordedReply = readCompatResponse(JSON.parse(recorded("compat-llama-tool-length").text));
  assertEquals(recordedReply.finish, "length");
  assertEquals(recordedReply.message.toolCalls![0]!.invalid!.text, '{"city"');
});

Deno.test("parseLocalResponse tells the formats apart by their shape", () => {
  const native = { message: { content: "a", tool_calls: [call("read", { p: 1 })] }, done: true };
  const other = compat({ content: "a", tool_calls: [call("read", '{"p":1}')] }, "tool_calls");
  for (const useCompat of [true, false]) {
    for (const response of [native, other]) {
      const { message, toolCalls } = parseLocalResponse(localConfig({ useCompat }), response);
      assertEquals(message.content, "a");
      assertEquals(toolCalls, [{ id: "read", name: "read", arguments: { p: 1 } }]);
    }
  }
  const none = parseLocalResponse(localConfig(), { message: { content: "a" }, done: true });
  assertEquals(none, { message: { role: "assistant", content: "a" }, toolCalls: [] });
});

Deno.test("usage, where a server counts and where it counts nonsense", () => {
  // deno-fmt-ignore
  const rows: [unknown, unknown][] = [
    [undefined, undefined],
    [null, undefined],
    ["12", undefined],
    [{ prompt_tokens: 3, completion_tokens: 4 }, { inputTokens: 3, outputTokens: 4 }],
    [{ prompt_tokens: "3", completion_tokens: -4 }, { inputTokens: 0, outputTokens: 0 }],
    [
      { prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 2 } },
      { inputTokens: 3, outputTokens: 4, cachedTokens: 2 },
    ],
    [{ prompt_tokens: 3, completion_tokens: 4, cached_tokens: 2 }, { inputTokens: 3, outputTokens: 4, cachedTokens: 2 }],
    [{ prompt_tokens: 3, completion_tokens: 4, prompt_cache_hit_tokens: 1 }, { inputTokens: 3, outputTokens: 4, cachedTokens: 1 }],
    [
      { prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 0 } },
      { inputTokens: 3, outputTokens: 4, cachedTokens: 0 },
    ],
    [{ prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: "2" } }, { inputTokens: 3, outputTokens: 4 }],
    [{ prompt_tokens: 3, completion_tokens: 0.5, cost: 0.25 }, { inputTokens: 3, outputTokens: 0.5, cost: 0.25 }],
    [{ prompt_tokens: 3, completion_tokens: 4, cost: 0 }, { inputTokens: 3, outputTokens: 4 }],
    [{ prompt_tokens: 3, completion_tokens: 4, cost: "2" }, { inputTokens: 3, outputTokens: 4 }],
  ];
  for (const [usage, expected] of rows) {
    assertEquals(readCompatResponse(compat({ content: "a" }, "stop", { usage })).usage, expected);
  }
  const timings: [timings: unknown, expected: object][] = [
    [{ cache_n: 2, prompt_per_second: 45.5 }, { cachedTokens: 2, readSpeed: 45.5 }],
    [{ cache_n: 0, prompt_per_second: 0 }, { cachedTokens: 0 }],
    [{ prompt_per_second: null }, {}],
    ["fast", {}],
  ];
  for (const [timing, expected] of timings) {
    const usage = { prompt_tokens: 3, completion_tokens: 4 };
    const response = compat({ content: "a" }, "stop", { usage, timings: timing });
    const counted = { inputTokens: 3, outputTokens: 4, ...expected };
    assertEquals(readCompatResponse(response).usage, counted);
  }
  const native: [unknown, unknown][] = [
    [{}, undefined],
    [{ prompt_eval_count: 3, eval_count: 4 }, { inputTokens: 3, outputTokens: 4 }],
    [{ eval_count: 4 }, { inputTokens: 0, outputTokens: 4 }],
    [{ prompt_eval_count: 1e308, eval_count: 4 }, { inputTokens: 0, outputTokens: 4 }],
    [{ prompt_eval_count: 3 }, { inputTokens: 3, outputTokens: 0 }],
  ];
  for (const [counts, expected] of native) {
    const response = { message: { content: "a" }, done: true, ...counts as object };
    assertEquals(readLocalResponse(response).usage, expected);
  }
});

Deno.test("arguments of 100 levels are run, no more", () => {
  const isRun = (args: unknown) => {
    const response = compat({ tool_calls: [call("read", args)] }, "tool_calls");
    return readCompatResponse(response).message.toolCalls![0]!.invalid === undefined;
  };
  const deep = (levels: number) => '{"a":'.repeat(levels) + "1" + "}".repeat(levels);
  assertEquals([100, 101].map((levels) => isRun(deep(levels))), [true, false]);
  // JSON in a JSON string, but not once more.
  const text = JSON.stringify(JSON.stringify({ p: 1 }));
  assertEquals([text, JSON.stringify(text)].map(isRun), [true, false]);
});
