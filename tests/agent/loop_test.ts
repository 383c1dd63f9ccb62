import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { loopGuard } from "../../src/agent/loop_guard.ts";
import { compatConfig, localConfig } from "../../src/config.ts";
import { processTurn } from "../../src/agent/turn.ts";
import type { ToolExecution } from "../../src/types/event.ts";
import { type Handler, json, ndjson, serve, sse } from "../helpers/server.ts";
import type { Step } from "../helpers/strict_server.ts";
import { noticesIn, onAllWith, scripted } from "./backends.ts";
import { readingTool, TEXT } from "../helpers/tool.ts";

/** `name args result`, each a call with its result; an error where the result starts with `!`. */
function round(...calls: [name: string, args: Record<string, unknown>, result: string][]) {
  return calls.map(([toolName, args, result]): ToolExecution => (
    {
      toolCallId: "x",
      toolName,
      arguments: args,
      result,
      durationMs: 1,
      isError: result[0] === "!",
      outcome: result[0] === "!" ? "failed" : "done",
    }
  ));
}

const read = (result: string) => round(["read_file", { file_path: "a", limit: 9 }, result]);
const edit = round(["edit_file", { file_path: "a" }, "edited"]);
const fails = (n: number) => round(["read_file", { file_path: `${n}` }, "!no such file"]);

/** Rounds, and for each `-`, `n` for a nudge, `s` for a stop. */
// deno-fmt-ignore
const GUARD: [name: string, rounds: (ToolExecution[] | [string, ToolExecution[]])[], string][] = [
  ["the same call and result", Array(6).fill(read("1")), "--nnss"],
  ["a result that changes is progress", ["1", "1", "2", "2", "3", "3", "4"].map(read), "-------"],
  ["a result that came back counts anew", ["1", "1", "2", "1", "1", "1"].map(read), "-----n"],
  ["read, edit, read is progress", [read("1"), edit, read("1"), edit, read("1"), edit, read("1"), edit], "--------"],
  [
    "the order in which arguments are written means nothing, in lists it does",
    [
      read("1"),
      round(["read_file", { limit: 9, file_path: "a" }, "1"]),
      round(["read_file", { limit: 9, file_path: "a" }, "1"]),
      round(["t", { a: { x: 1, y: [1, 2] } }, "1"]),
      round(["t", { a: { y: [1, 2], x: 1 } }, "1"]),
      round(["t", { a: { y: [2, 1], x: 1 } }, "1"]),
      round(["t", { a: { y: [1, 2], x: 1 } }, "1"]),
    ],
    "--n----",
  ],
  ["several calls of an answer, in any order", [[...read("1"), ...edit], [...edit, ...read("1")], [...read("1"), ...edit]], "--n"],
  ["one more call beside it is progress", [read("1"), [...read("1"), ...edit], read("1"), [...read("1"), ...edit]], "----"],
  ["the same call twice in one answer is one", [[...read("1"), ...read("1")], read("1")], "--"],
  ["other arguments that fail alike", [fails(1), fails(2), fails(3), fails(4)], "----"],
  ["other arguments that fail alike beside the same answer text", [1, 2, 3, 4, 5].map((n) => ["I read it.", fails(n)]), "--nns"],
  ["calls that all fail, each in another way", [...Array(12).keys()].map((n) => fails(n)), "-----n-----s"],
  ["calls that fail, with one that works between", [0, 1, 2, 3, 4, -1, 5, 6, 7, 8, 9].map((n) => n < 0 ? edit : fails(n)), "-----------"],
  [
    "the same answer text beside calls that succeed is progress",
    ["1", "2", "3", "4"].map((n) => ["Next.", round(["t", { n }, "ok"])]),
    "----",
  ],
];

for (const [name, rounds, expected] of GUARD) {
  Deno.test(`loop guard: ${name}`, () => {
    const guard = loopGuard();
    const seen = rounds.map((one) => {
      const [text, executions] = typeof one[0] === "string"
        ? one as [string, ToolExecution[]]
        : ["", one as ToolExecution[]];
      const loop = guard(text, executions);
      return loop ? loop.isOver ? "s" : "n" : "-";
    });
    assertEquals(seen.join(""), expected);
  });
}

Deno.test("loop guard: the nudge is one line that quotes the result, cut", () => {
  const guard = loopGuard();
  const long = read(`1\n${"x".repeat(100_000)}`);
  guard("", long);
  guard("", long);
  const { nudge } = guard("", long)!;
  assertMatch(
    nudge,
    /^\n\n\[This was done already: read_file was called 3 times .*"1 x+ \.\.\. x+"/,
  );
  assertEquals(nudge.length < 600, true);
});

const look = readingTool("look", { at: TEXT }, ({ at }) => `nothing at ${at}`);
const looks = (at: string, text?: string): Step => (
  { ...(text && { text }), toolCalls: [{ name: "look", arguments: { at } }] }
);

const onAll = onAllWith({ tools: [look] });

onAll(
  "the same call over and over is told, then stopped, and the next turn goes on",
  [...Array(5).fill(looks("a", "Let me see.")), { text: "fine" }],
  async ({ agent, events, onEvent }) => {
    const { stopReason, response, toolExecutions } = await processTurn(agent, "go", { onEvent });
    assertEquals([stopReason, response.trim(), toolExecutions.length], ["loop", "Let me see.", 5]);
    const told = toolExecutions.map((e) => e.result.includes("This was done already"));
    assertEquals(told, [false, false, true, true, false]);
    const results = agent.state.messages.filter((m) => m.role === "tool").map((m) => m.content);
    assertEquals(results, toolExecutions.map((e) => e.result));
    assertMatch(noticesIn(events).join(), /^Stopped: .* 5 times in a row/);
    assertEquals((await processTurn(agent, "and now?")).response, "fine");
  },
);

onAll(
  "an answer that is only reasoning is asked for three times, then it is none",
  [
    { reasoning: "hm" },
    { text: "There." },
    { reasoning: "hm" },
    looks("a"),
    ...Array.from({ length: 4 }, (_, i) => ({ reasoning: "hm ".repeat(i + 1) })),
    { text: "fine" },
  ],
  async ({ agent, server, events, onEvent }) => {
    assertEquals((await processTurn(agent, "go", { onEvent })).response, "There.");
    assertEquals(events.filter((e) => e.type === "thinking").length, 2);
    assertEquals(noticesIn(events).length, 1);
    const result = await processTurn(agent, "and now?", { onEvent });
    assertEquals([result.response, result.stopReason], ["[The model gave no answer]", "done"]);
    assertEquals((await processTurn(agent, "go on")).response, "fine");
    assertEquals(server.requests.length, 9);
    assertStringIncludes(server.requests[1]!.text, "You gave no answer");
  },
);

Deno.test("tokens of which the server handed on nothing are asked for once more, with the shape of a call", async () => {
  const answer = (content: string, more = {}) =>
    ndjson([{ message: { content }, done: true, done_reason: "stop", ...more }]);
  const rows = [[7, "You gave no answer"], [8, "one valid JSON object"]] as const;
  for (const [eval_count, words] of rows) {
    await using server = serve(
      answer("", { prompt_eval_count: 900, eval_count }),
      answer("There."),
    );
    const local = localConfig({ host: server.url, model: "m" });
    const agent = new CopilotAgent({ local }, ".");
    await processTurn(agent, "go");
    assertEquals(server.requests.length, 2);
    assertStringIncludes(server.requests[1]!.json().messages.at(-1).content, words);
  }
});

const says = (content: string) =>
  sse([{ choices: [{ delta: { content }, finish_reason: "stop" }] }]);

/** Answers that are none, and words of what is sent next. */
// deno-fmt-ignore
const NO_ANSWERS: [source: string, answer: Handler, asked: string][] = [
  ["anomalyco/opencode#1018", sse([{ error: { message: "Failed to call a function.", type: "invalid_request_error" } }]), "one valid JSON object"],
  ["BerriAI/litellm#11001", json({ error: { message: "tool call validation failed: there is no tool 'read'" } }, 400), "one valid JSON object"],
  ["ggml-org/llama.cpp#26658", sse([{ error: { code: 500, message: "Invalid diff: '{a' not found at start of '{b'" } }]), "one valid JSON object"],
  ["ggml-org/llama.cpp#20761", json({ error: { code: 500, message: "Failed to parse input at pos 12: </tool_call>" } }, 500), "one valid JSON object"],
  ["ollama/ollama#18563", json({ error: "XML syntax error on line 127: element <parameter> closed by </function>" }, 500), "one valid JSON object"],
  ["ollama/ollama#14492", json({ error: "failed to parse JSON: unexpected end of JSON input" }, 500), "one valid JSON object"],
  ["exo-explore/exo#1882", says('invoke name="read_file">\nparameter name="file_path">aparameter>\ninvoke>'), "held a tool call"],
  ["NousResearch/hermes-agent#29115", says("_execute\ntool_name: run_bash\ncommand: ls"), "held a tool call"],
  ["NorthlandPositronics/Cogtrix#139", says("<Call><Function>read_file</Function>\n<Parameters><path>a</path></Parameters>\n</Call>"), "held a tool call"],
  ["OleksandrChekhovskyi/hax#15", sse([{ choices: [{ delta: { content: "" }, finish_reason: "error" }] }, "[DONE]"]), "You gave no answer"],
];

for (const [source, answer, asked] of NO_ANSWERS) {
  Deno.test(`an answer that is none is asked for once more: ${source}`, async () => {
    await using server = serve(answer, says("There."));
    const compat = compatConfig({ model: "m", baseUrl: `${server.url}/v1` });
    const { response } = await processTurn(new CopilotAgent({ compat }, "."), "go");
    assertEquals([response, server.requests.length], ["There.", 2]);
    assertStringIncludes(server.requests[1]!.json().messages.at(-1).content, asked);
  });
}

const chunk = (delta: unknown, finish_reason: string | null = null) =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] });

Deno.test("thinking up to the limit is asked again with thinking off, in each server's own way", async () => {
  const off = { text: "Off." };
  await using strict = scripted([{ reasoning: "hm", finish: "length" }, off]);
  assertEquals((await processTurn(strict.agent, "go")).response, "Off.");
  const { requests } = strict.server;
  assertEquals(requests.map(({ body }) => body.think), [undefined, false]);
  assertStringIncludes(requests[1]!.text, 'Your thoughts ended with: \\"hm\\"');
  await using server = serve(
    sse([chunk({ reasoning_content: "hm" }, "length"), "[DONE]"]),
    sse([chunk({ content: "Off." }, "stop"), "[DONE]"]),
  );
  const compat = compatConfig({ model: "m", baseUrl: `${server.url}/v1` });
  assertEquals((await processTurn(new CopilotAgent({ compat }, "."), "go")).response, "Off.");
  const asked = server.requests.map((request) => request.json().chat_template_kwargs);
  assertEquals(asked, [undefined, { enable_thinking: false }]);
});

Deno.test("thinking without end is cut at twice its budget, and asked again with thinking off", async () => {
  const endless: Parameters<typeof serve>[0] = async (_request, peer) => {
    await peer.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n");
    for (let i = 0; i < 100; i++) {
      await peer.write(`data: ${chunk({ reasoning_content: `thought ${i} of many ` })}\n\n`);
    }
    await peer.left();
  };
  await using server = serve(endless, sse([chunk({ content: "Off." }, "stop"), "[DONE]"]));
  const compat = compatConfig({ model: "m", baseUrl: `${server.url}/v1`, thinkBudget: 100 });
  const { response } = await processTurn(new CopilotAgent({ compat }, "."), "go");
  assertEquals([response, server.requests.length], ["Off.", 2]);
  assertEquals(server.requests.map((r) => r.json().thinking_budget_tokens), [100, undefined]);
  await using deaf = serve(endless, endless);
  const other = { ...compat, baseUrl: `${deaf.url}/v1` };
  const { stopReason } = await processTurn(new CopilotAgent({ compat: other }, "."), "go");
  assertEquals([stopReason, deaf.requests.length], ["budget", 2]);
});
