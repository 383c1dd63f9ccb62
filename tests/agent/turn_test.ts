import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { CopilotAgent } from "../../src/agent/agent.ts";
import { interruption } from "../../src/agent/model_answer.ts";
import { processTurn } from "../../src/agent/turn.ts";
import { BackendError } from "../../src/errors.ts";
import type { Part } from "../../src/types/message.ts";
import type { Decision } from "../../src/types/policy.ts";
import type { Tool } from "../../src/types/tool.ts";
import type { Step } from "../helpers/strict_server.ts";
import { noticesIn, onAllWith, scripted, shownIn } from "./backends.ts";
import { readingTool, TEXT } from "../helpers/tool.ts";

const echo = readingTool("echo", { text: TEXT }, ({ text }) => `echo: ${text}`);

/** An answer that calls the tool. */
const echoes = (text: string) => ({ toolCalls: [call("echo", { text })] });
const call = (name: string, args: Record<string, unknown>) => ({ name, arguments: args });

const onAll = onAllWith({ tools: [echo] });

const TAGGED = '<toolcall>{"name":"echo","arguments":{"text":"a"}}</toolcall>';
const FENCED = '```json\n{"name":"echo","arguments":{"text":"a"}}\n```';

/** Those whose text may hold calls and reasoning. */
const TEXT_BACKENDS = ["compat", "local native", "local compatible"];

onAll(
  "a turn calls tools and answers; events come in the order of the specification",
  [{ text: "Let me see.", ...echoes("a") }, { text: "It said a." }],
  async ({ agent, events, onEvent }) => {
    const result = await processTurn(agent, "say a", { onEvent });
    assertEquals([result.response, result.stopReason], ["It said a.", "done"]);
    const [exec, ...none] = result.toolExecutions;
    assertEquals([exec!.toolName, exec!.result, exec!.isError], ["echo", "echo: a", false]);
    assertEquals(none, []);
    const order = events.map((e) => e.type).filter((t) => /^(thinking|tool_)/.test(t));
    assertEquals(order, ["thinking", "tool_start", "tool_done", "thinking"]);
    assertEquals(shownIn(events), "Let me see.It said a.");
  },
);

for (const [message, told] of [["Loading model", "loading"], ["Overloaded", "retry"]] as const) {
  Deno.test(`an answer of 503, ${message}, is told as ${told} before it is asked again`, async () => {
    const settings = { maxRetries: 2 };
    const steps = [{ error: { status: 503, message } }];
    await using run = scripted(steps, { tools: [], backend: "compat", settings });
    const { agent, server, events } = run;
    const stop = new AbortController();
    const { stopReason } = await processTurn(agent, "hi", {
      signal: stop.signal,
      onEvent(event) {
        events.push(event);
        if (event.type === "loading" || event.type === "retry") stop.abort();
      },
    });
    assertEquals([stopReason, server.requests.length], ["aborted", 1]);
    const [event] = events.filter(({ type }) => type === "loading" || type === "retry");
    assert(event?.type === told, JSON.stringify(events));
    if (event.type === "loading") {
      assertEquals([event.model, event.nextLookMs! > 0], ["test", true]);
    } else if (event.type === "retry") assertEquals([event.attempt, event.maxAttempts], [1, 3]);
  });
}

const hang: Tool = {
  ...readingTool("hang", {}),
  access: "execute",
  run: (_, { signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    }),
};
const boom = readingTool("boom", {}, () => Promise.reject(new Error("it broke")));

onAll(
  "SES-01 an abort while tools run leaves one result for each call",
  [
    { toolCalls: [call("echo", { text: "a" }), call("hang", {}), call("echo", { text: "b" })] },
    { text: "fine" },
  ],
  async ({ agent }) => {
    const stop = new AbortController();
    const result = await processTurn(agent, "go", {
      signal: stop.signal,
      onEvent: (e) => e.type === "tool_start" && e.name === "hang" && stop.abort(),
    });
    assertEquals(result.stopReason, "aborted");
    assertEquals(result.toolExecutions.map((e) => e.isError), [false, true, true]);
    assertEquals(agent.state.messages.filter((m) => m.role === "tool").length, 3);
    assertEquals((await processTurn(agent, "and now?")).response, "fine");
  },
  { tools: [echo, hang] },
);

onAll(
  "NET-13 an abort while the answer streams keeps what was said",
  [{ text: "Some words that come first", hang: true }, { text: "fine" }],
  async ({ agent, server, events, onEvent }) => {
    const stop = new AbortController();
    const result = await processTurn(agent, "go", {
      signal: stop.signal,
      onEvent: (e) => e.type === "text_delta" && stop.abort(),
    });
    await server.requests[0]!.closed;
    assertEquals(result.stopReason, "aborted");
    const said = /^Some.*\n\n\[Interrupted by the user\]$/;
    assert(said.test(result.response), result.response);
    assertEquals((await processTurn(agent, "again", { onEvent })).response, "fine");
    assertEquals(shownIn(events), "fine");
  },
);

onAll(
  "text that broke off before a call is not part of the turn's answer",
  [{ text: "I will look", cut: "finish" }, { toolCalls: [call("echo", { text: "a" })] }, {
    text: "fine",
  }],
  async ({ agent }) => assertEquals((await processTurn(agent, "go")).response, "fine"),
  { tools: [echo] },
);

onAll(
  "an abort before anything was said, then a new turn",
  [{ text: "fine" }],
  async ({ agent, server }) => {
    const result = await processTurn(agent, "go", { signal: AbortSignal.abort() });
    assertEquals([result.stopReason, result.response], ["aborted", interruption().content]);
    assertEquals(server.requests.length, 0);
    assertEquals((await processTurn(agent, "again")).response, "fine");
  },
);

onAll(
  "NET-04 a stream that is cut off never runs a tool, and the history stays valid",
  [
    // It is asked for once more, as nothing has run yet.
    ...Array(2).fill({ text: "I will", ...echoes("a"), cut: "arguments" }),
    { text: "fine" },
  ],
  async ({ agent }) => {
    const error = await assertRejects(() => processTurn(agent, "go"), BackendError);
    assertEquals(agent.state.messages.filter((m) => m.toolCalls).length, 0);
    assertStringIncludes(agent.state.messages.at(-1)!.content, error.message);
    assertEquals((await processTurn(agent, "again")).response, "fine");
  },
  { tools: [{ ...boom, name: "echo" }] },
);

onAll(
  "a failure before the model said anything leaves no trace of the turn",
  [{ error: { status: 400, message: "no" } }, { text: "fine" }],
  async ({ agent }) => {
    await assertRejects(() => processTurn(agent, "go"), BackendError);
    assertEquals(agent.state.messages, []);
    assertEquals((await processTurn(agent, "again")).response, "fine");
  },
);

onAll(
  "a failure after tools ran keeps what they did, closed by a note",
  [echoes("a"), { error: { status: 400, message: "no" } }, { text: "fine" }],
  async ({ agent }) => {
    await assertRejects(() => processTurn(agent, "go"), BackendError);
    const roles = agent.state.messages.map((m) => m.role).join();
    assertEquals(roles, "user,assistant,tool,assistant");
    assertEquals((await processTurn(agent, "again")).response, "fine");
  },
);

onAll(
  "an unknown tool and bad arguments are results, not crashes",
  [
    { toolCalls: [call("nope", {}), call("echo", { txt: "a" }), call("boom", {})] },
    { text: "sorry" },
  ],
  async ({ agent }) => {
    const { toolExecutions, response } = await processTurn(agent, "go");
    assertEquals(response, "sorry");
    assertEquals(toolExecutions.map((e) => e.isError), [true, true, true]);
    assertStringIncludes(toolExecutions[0]!.result, "echo, boom");
    assertStringIncludes(toolExecutions[1]!.result, "text");
    assertStringIncludes(toolExecutions[2]!.result, "it broke");
  },
  { tools: [echo, boom] },
);

onAll(
  "NET-05 a call recovered from an answer that was cut or refused is not run",
  [
    { text: TAGGED, finish: "length" },
    { text: "fine" },
  ],
  async ({ agent }) => {
    const { toolExecutions } = await processTurn(agent, "go");
    assertEquals(toolExecutions.map((e) => e.isError), [true]);
  },
  { backends: TEXT_BACKENDS },
);

/** Answers that repeat without end where nobody sees it. */
const hidden: [name: string, step: Step][] = [
  ["white space", { text: "\n".repeat(20_000) }],
  ["lone end tags of reasoning", { text: "</think>\n".repeat(5000) }],
  ["a call in the text", { text: TAGGED.slice(0, -15) + "ha ".repeat(10_000) }],
];

for (const [name, step] of hidden) {
  onAll(
    `a runaway of ${name} ends the request too`,
    [{ ...step, hang: true }, { text: "fine" }],
    async ({ agent, server }) => {
      const { stopReason, response } = await processTurn(agent, "go");
      await server.requests[0]!.closed;
      assertEquals(stopReason, "loop");
      assert(response.length < 150, `next to nothing is left: ${response.slice(0, 300)}`);
      assertEquals((await processTurn(agent, "again")).response, "fine");
    },
  );
}

onAll(
  "a loop in reasoning ends the turn the second time",
  // It is asked for again, without thinking.
  Array(2).fill({ reasoning: "So it goes. ".repeat(2000) }),
  async ({ agent }) => assertEquals((await processTurn(agent, "go")).stopReason, "loop"),
  // The strict compatible servers take no argument that turns thinking off.
  { backends: ["local native", "hosted"] },
);

const zeros = (count: number) => call("echo", { text: "0, ".repeat(count) });

onAll(
  "a runaway in the arguments of a call ends the request, and no call is run",
  [
    { text: "I write.", toolCalls: [call("echo", { text: "a" }), zeros(10_000)], hang: true },
    { toolCalls: [zeros(4_500)] },
    { text: "fine" },
    { toolCalls: Array(2000).fill(call("echo", { text: "a" })), hang: true },
  ],
  async ({ agent, server }) => {
    const { stopReason, response, toolExecutions } = await processTurn(agent, "go");
    await server.requests[0]!.closed;
    assertEquals([stopReason, response, toolExecutions], ["loop", "I write.", []]);
    const next = await processTurn(agent, "only zeros, but honest ones");
    assertEquals([next.response, next.toolExecutions.length], ["fine", 1]);
    const same = await processTurn(agent, "the same call over and over");
    assertEquals([same.stopReason, same.toolExecutions.length], ["loop", 0]);
  },
  { backends: ["compat", "local compatible", "hosted"] },
);

onAll(
  "NET-08 ids that come again in a later answer are made unique",
  [
    { toolCalls: [{ ...call("echo", { text: "a" }), id: "call_0" }] },
    { toolCalls: [{ ...call("echo", { text: "b" }), id: "call_0" }] },
    { text: "fine" },
  ],
  async ({ agent }) => {
    assertEquals((await processTurn(agent, "go")).response, "fine");
    const ids = agent.state.messages.flatMap((m) => m.toolCalls?.map(({ id }) => id) ?? []);
    assertEquals(new Set(ids).size, 2);
  },
);

onAll(
  "a call written into the text is run, and its text not shown",
  [{ text: `I look. ${TAGGED}` }, { text: "Done." }],
  async ({ agent, events, onEvent }) => {
    const result = await processTurn(agent, "go", { onEvent });
    assertEquals(result.toolExecutions.map((e) => e.result), ["echo: a"]);
    assertEquals(shownIn(events), "I look.Done.");
    assertEquals(events.filter((e) => e.type === "tool_call_recovered").length, 1);
  },
  { backends: TEXT_BACKENDS },
);

onAll(
  "text of typed blocks is shown and kept as it is",
  [{ text: `The form is ${TAGGED} and <think>so</think> </think>.` }],
  async ({ agent, events, onEvent }) => {
    const { response, toolExecutions } = await processTurn(agent, "go", { onEvent });
    assertEquals(response, `The form is ${TAGGED} and <think>so</think> </think>.`);
    assertEquals([shownIn(events), toolExecutions], [response, []]);
  },
  { backends: ["hosted"] },
);

onAll(
  "beside a native call nothing in the text is one",
  [
    { text: `As in ${TAGGED}:\n`, ...echoes("b") },
    { text: "Done." },
  ],
  async ({ agent, events, onEvent }) => {
    const { toolExecutions } = await processTurn(agent, "go", { onEvent });
    assertEquals(toolExecutions.map((e) => e.result), ["echo: b"]);
    assertEquals(agent.state.messages[1]!.content.trimEnd(), "As in :");
    assertEquals(shownIn(events).replace(/\s*Done\.$/, ""), "As in :");
  },
  { backends: TEXT_BACKENDS },
);

onAll(
  "a code block is a call after a native one, too: amid text, one that changes nothing",
  [
    echoes("b"),
    { text: `${FENCED}\nSo.` },
    { text: `For example:\n${FENCED}` },
  ],
  async ({ agent }) => {
    const { response, toolExecutions } = await processTurn(agent, "go");
    assertEquals(toolExecutions.map((e) => e.result), ["echo: b", "echo: a"]);
    assertEquals(response, `For example:\n${FENCED}`);
  },
  { backends: TEXT_BACKENDS },
);

Deno.test("a call that writes and may only be shown is run when it is made again", async () => {
  const shown = { text: `${FENCED}\nSo.` };
  const tools: Tool[] = [{ ...echo, access: "write" }];
  await using run = scripted([shown, shown, { text: "Done." }], { tools });
  const { toolExecutions } = await processTurn(run.agent, "go");
  assertEquals(toolExecutions.map(({ isError }) => isError), [true, false]);
});

Deno.test("read calls of one round run side by side, others in order", async () => {
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const slow: Tool = {
    ...echo,
    name: "slow",
    async run({ text }) {
      log.push(`start ${text}`);
      if (text === "2") gate.resolve();
      await gate.promise;
      log.push(`end ${text}`);
      return `${text}`;
    },
  };
  const write: Tool = { ...slow, name: "write", access: "write" };
  const names = ["slow", "slow", "write", "write"];
  const toolCalls = names.map((name, i) => call(name, { text: `${i + 1}` }));
  await using run = scripted([{ toolCalls }, { text: "done" }], { tools: [slow, write] });
  const { toolExecutions } = await processTurn(run.agent, "go", {
    onEvent(event) {
      if (event.type === "tool_start") log.push(`told ${event.args.text}`);
      if (event.type === "tool_done") log.push(`done ${event.exec.result}`);
    },
  });
  assertEquals(toolExecutions.map((e) => e.result), ["1", "2", "3", "4"]);
  assertEquals(log.slice(0, 3), ["told 1", "start 1", "start 2"]);
  const told = log.filter((line) => /^(told|done)/.test(line)).slice(0, 4);
  assertEquals(told, ["told 1", "done 1", "told 2", "done 2"]);
  const after = ["3", "4"].flatMap((n) => [`told ${n}`, `start ${n}`, `end ${n}`, `done ${n}`]);
  assertEquals(log.slice(8), after);
});

Deno.test("a callback that throws does not touch the turn", async () => {
  await using run = scripted([{ text: "fine" }, { text: "fine" }]);
  const throws = () => {
    throw new Error("mine");
  };
  const rejects = () => Promise.reject(new Error("mine, and late")) as unknown as void;
  for (const onEvent of [throws, rejects]) {
    assertEquals((await processTurn(run.agent, "go", { onEvent })).response, "fine");
  }
});

Deno.test("one turn at a time, and never an empty one", async () => {
  await using run = scripted([{ text: "fine" }]);
  const { agent } = run;
  await assertRejects(() => processTurn(agent, " \n"), TypeError, "empty");
  const turn = processTurn(agent, "go");
  await assertRejects(() => processTurn(agent, "too"), TypeError, "busy");
  assertEquals((await turn).response, "fine");
});

Deno.test("messages have ids and parts; what callers push without ids stays in the conversation", async () => {
  const toolCalls = [call("read_file", { file_path: "nothing" })];
  await using run = scripted([{ toolCalls }, { text: "Red." }]);
  const { agent, server } = run;
  agent.state.messages.push({ role: "user", content: "earlier" });
  agent.state.messages.push({ role: "assistant", content: "yes" });
  const parts: Part[] = [
    { type: "text", text: "Which colour?" },
    { type: "resource", kind: "stdin", name: "", text: "piped" },
    { type: "image", mediaType: "image/png", data: "AA==" },
  ];
  await processTurn(agent, parts);
  const { messages } = agent.state;
  const roles = messages.map(({ role }) => role).join(" ");
  assertEquals(roles, "user assistant user assistant tool assistant");
  assertEquals(new Set(messages.map(({ id }) => id)).size, 6);
  assertEquals(messages.every(({ id }) => id !== undefined), true);
  assertEquals(messages[2]!.parts, parts);
  const [, , , sent] = server.requests[0]!.body.messages as { content: string; images: string[] }[];
  assertEquals(sent, {
    role: "user",
    content: "Which colour?\n\n<stdin>\npiped\n</stdin>",
    images: ["AA=="],
  } as object);
  await assertRejects(() => processTurn(agent, [{ type: "text", text: " " }]), TypeError);
});

/** An answer, its notices, how the turn ends, and what stands in the conversation. */
// deno-fmt-ignore
const ENDS: [step: Step, notices: string[], stopReason: string, content: string][] = [
  [{ text: "Yes." }, [], "done", "Yes."],
  [{ text: "Yes", finish: "length" }, ["warning token_limit: The answer was cut off at the limit"], "budget", "Yes"],
  [{ text: "No.", finish: "refused" }, ["warning ended_early: The model ended its answer with "], "done", "No."],
  [
    {},
    [
      ...Array(3).fill("info asked_again: The model gave no answer: it is asked once more."),
      "warning no_answer: The model gave no answer. Ask again",
    ],
    "done",
    "[The model gave no answer]",
  ],
  [
    { reasoning: "hm", finish: "length" },
    [
      "info asked_again: The model thought until its limit and gave no answer",
      "info request_adjusted: The server rejects this request",
      "warning token_limit: The answer was cut off",
      "warning no_answer: The model gave no answer, only reasoning. Ask",
    ],
    "budget",
    "[The model gave no answer]",
  ],
  [
    { text: "So it goes. ".repeat(2000) },
    ["warning repetition: The model repeated itself and was stopped."],
    "loop",
    "So it goes. So it goes.\n\n[Warning: repetitive output truncated]",
  ],
];

for (const [step, notices, stopReason, content] of ENDS) {
  const shown = JSON.stringify(step).slice(0, 60);
  Deno.test(`what is said of an answer, and how the turn ends: ${shown}`, async () => {
    const backend = "compat";
    await using run = scripted(Array(4).fill(step), { tools: [echo], backend });
    const { agent, events, onEvent } = run;
    assertEquals((await processTurn(agent, "go", { onEvent })).stopReason, stopReason);
    const told = events.flatMap((e) =>
      e.type === "notice" ? `${e.level} ${e.code}: ${e.message}` : []
    );
    assertEquals(told.map((text, i) => text.slice(0, notices[i]?.length)), notices);
    assertEquals(agent.state.messages.at(-1)!.content, content);
  });
}

const LAST = { echo: "Yes.", other: "[The model gave no answer]" };
for (const [name, last] of Object.entries(LAST)) {
  Deno.test(`missing answers count from the last call that worked: ${name}`, async () => {
    const empty = [{}, {}, {}];
    const toolCalls = [call(name, { text: "a" })];
    const steps = [...empty, { toolCalls }, ...empty, { text: "Yes." }];
    await using run = scripted(steps, { tools: [echo], backend: "compat" });
    await processTurn(run.agent, "go");
    assertEquals(run.agent.state.messages.at(-1)!.content, last);
  });
}

Deno.test("a call at the very end of reasoning is one where there is nothing else, but for a fenced one", async () => {
  await using run = scripted([
    { reasoning: `It is not here. ${[...Array(99).keys()].join(" ")}\n${TAGGED}` },
    { reasoning: `Let me see.\n${FENCED}` },
    { text: "Yes." },
    { reasoning: `I must not do this:\n${TAGGED}` },
    { text: "No." },
  ], { tools: [echo] });
  const { agent } = run;
  const { response, toolExecutions } = await processTurn(agent, "go");
  assertEquals([response, toolExecutions.map((e) => e.result)], ["Yes.", ["echo: a"]]);
  const refused = await processTurn(agent, "go");
  assertEquals([refused.response, refused.toolExecutions], ["No.", []]);
});

Deno.test("what stands behind a result is for the model; its failure is the turn's, but for one after an abort", async () => {
  const turn = async (afterCall: NonNullable<CopilotAgent["afterCall"]>, signal?: AbortSignal) => {
    await using run = scripted([echoes("a"), { text: "Yes." }], { tools: [echo], afterCall });
    const { stopReason, toolExecutions } = await processTurn(run.agent, "go", signal && { signal });
    return [stopReason, ...toolExecutions.map((e) => e.result)];
  };
  assertEquals(await turn(() => Promise.resolve(" b")), ["done", "echo: a b"]);
  assertEquals(await turn(() => Promise.resolve(undefined)), ["done", "echo: a"]);
  await assertRejects(() => turn(() => Promise.reject(new Error("no"))), Error, "no");
  const stop = new AbortController();
  const stopped = await turn(() => {
    stop.abort();
    return Promise.reject(new Error("no"));
  }, stop.signal);
  assertEquals(stopped, ["aborted", "echo: a"]);
});

Deno.test("an agent without tools reads no calls in reasoning", async () => {
  const steps = [{ reasoning: `Let me see.\n${TAGGED}` }, { text: "Yes." }];
  await using run = scripted(steps, { tools: [] });
  const { response, toolExecutions } = await processTurn(run.agent, "go");
  assertEquals([response, toolExecutions], ["Yes.", []]);
});

Deno.test("a result says what its tool may do, but not of a call that was not run", async () => {
  const calls = ["echo", "write", "nope"].map((name) => call(name, { text: "a" }));
  const write: Tool = { ...echo, name: "write", access: "write" };
  const decide = ({ name }: Tool): Decision =>
    name === "write" ? { allow: false, reason: "not that" } : { allow: true };
  const options = { tools: [echo, write], policy: { decide } };
  await using run = scripted([{ toolCalls: calls }, { text: "fine" }], options);
  await processTurn(run.agent, "go");
  const results = run.agent.state.messages.filter(({ role }) => role === "tool");
  assertEquals(results.map((m) => [m.content, m.isError, m.toolAccess]), [
    ["echo: a", undefined, "read"],
    ["not that", true, undefined],
    [results[2]!.content, true, undefined],
  ]);
});

Deno.test("after as many rounds as are allowed, each further call is answered, and a note ends the turn", async () => {
  const step = echoes("a");
  await using run = scripted([step, { ...step, text: "More." }], { tools: [echo] });
  const { agent, events, onEvent } = run;
  agent.configure({ ...agent.config, maxToolRounds: 1 });
  const { response, stopReason } = await processTurn(agent, "go", { onEvent });
  assertEquals([response.trim(), stopReason], ["More.", "max_rounds"]);
  const text = "Stopped after 1 round of tool calls.";
  const [result, note] = agent.state.messages.slice(-2);
  assertEquals([result!.content, result!.isError], [`${text} The call was not run.`, true]);
  assertEquals([note!.content, note!.standsFor], [`[${text}]`, "end_of_turn"]);
  const notices = events.flatMap((e) => e.type === "notice" ? [[e.level, e.code, e.message]] : []);
  assertEquals(notices, [["warning", "max_rounds", text]]);
});

Deno.test("calls that come as text are told of once, with what makes the server read them", async () => {
  const [step, end] = [{ text: TAGGED.replaceAll("toolcall", "tool_call") }, { text: "Done." }];
  await using run = scripted([step, end, step, step, end], { tools: [echo] });
  const told = () => noticesIn(run.events).filter((message) => /come as text/.test(message)).length;
  await processTurn(run.agent, "one", run);
  assertEquals(told(), 0);
  await processTurn(run.agent, "two and three", run);
  assertEquals(told(), 1);
  assertEquals(run.events.filter(({ type }) => type === "tool_call_recovered").length, 3);
});
