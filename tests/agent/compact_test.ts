import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { compact, makeRoom } from "../../src/agent/compact.ts";
import { messageTokens, requestTokens } from "../../src/agent/tokens.ts";
import { processTurn } from "../../src/agent/turn.ts";
import { localConfig } from "../../src/config.ts";
import { BackendError } from "../../src/errors.ts";
import type { TurnEvent } from "../../src/types/event.ts";
import type { Message, Part } from "../../src/types/message.ts";
import { type Step, type StrictRequest, strictServer } from "../helpers/strict_server.ts";
import { noticesIn, onAllWith, scripted } from "./backends.ts";
import { readingTool, TEXT } from "../helpers/tool.ts";

const dump = readingTool(
  "dump",
  { file_path: TEXT, chars: { type: "integer" } },
  ({ file_path, chars }) => lines(`${file_path}`, Number(chars)),
);

/** Messages without their ids. */
const plain = (messages: readonly Message[]): Message[] =>
  messages.map(({ id: _id, standsFor: _standsFor, ...message }) => message);

const exchange = (asked: string, said = "Yes."): Message[] => [
  { role: "user", content: asked },
  { role: "assistant", content: said },
];

/** Text of `chars` characters that says where it is from. */
function lines(title: string, chars: number): string {
  let text = "";
  for (let i = 0; text.length < chars; i++) {
    text += `${title}:${i} the quick brown fox jumps over the lazy dog\n`;
  }
  return text.slice(0, chars);
}

const dumps = (file_path: string, chars: number) => (
  { name: "dump", arguments: { file_path, chars } }
);

/** An agent that has the tool, and with `contextLength` a window of that many tokens. */
const options = (contextLength?: number) => ({
  tools: [dump],
  systemPrompt: "You are a copilot.",
  settings: { maxTokens: 512, maxRetries: 0, ...(contextLength && { contextLength }) },
});

const onAll = onAllWith(options());

/** What a server with a tokenizer of its own counts. */
const tokensOf = (request: StrictRequest, charsPerToken = 3) =>
  Math.round(request.text.length / charsPerToken);
const isSummaryRequest = ({ text }: StrictRequest) => text.includes("under these headings");

/** A model whose server has room for `window` tokens, and refuses, or cuts, what is longer. */
function model(window: number, answers: Step[], { cuts = false, charsPerToken = 3 } = {}) {
  const script = [...answers];
  let summaries = 0;
  const brain = (request: StrictRequest): Step => {
    const counted = tokensOf(request, charsPerToken);
    if (!cuts && counted > window) {
      const room = `the available context size (${window} tokens), try increasing it`;
      const message = `request (${counted} tokens) exceeds ${room}`;
      return { error: { status: 400, type: "exceed_context_size_error", message } };
    }
    const usage = { inputTokens: Math.min(counted, window), outputTokens: 9 };
    return isSummaryRequest(request)
      ? { text: `Task: tidy up. Next: go on, ${++summaries}.`, usage }
      : { ...script.shift()!, usage };
  };
  return Array.from({ length: 500 }, () => brain);
}

const compactions = (events: readonly TurnEvent[]) =>
  events.flatMap((e) => e.type === "compaction" ? e : []);

/** The body up to the end of its messages: what a server's prompt cache can keep. */
function conversation({ text, body }: StrictRequest): string {
  const last = JSON.stringify((body.messages as unknown[]).at(-1));
  return text.slice(0, text.lastIndexOf(last) + last.length);
}

/** Turns of three rounds of calls each, with results of `chars` characters, and an answer. */
const session = (turns: number, chars: number): Step[] =>
  Array.from({ length: turns }, (_, t): Step[] => [
    ...[1, 2, 3].map((r): Step => ({
      reasoning: "Let me see.",
      toolCalls: [dumps(`${t}/${r}/a`, chars), dumps(`${t}/${r}/b`, chars)],
    })),
    { text: `Answer ${t}.` },
  ]).flat();

onAll(
  "a request that the server refuses as too long is made shorter and sent again",
  () => model(4000, [...session(3, 2000), { text: "fine" }]),
  async ({ agent, server, events, onEvent }) => {
    for (let t = 0; t < 3; t++) {
      assertEquals((await processTurn(agent, `Go ${t}`, { onEvent })).response, `Answer ${t}.`);
    }
    // Once refused, the window is known.
    assertEquals(server.requests.filter((r) => tokensOf(r) > 4000).length, 1);
    assert(compactions(events).length >= 2);
  },
);

const tooLong: Step = {
  error: { status: 400, message: "prompt is too long: context_length_exceeded" },
};

onAll(
  "SES-04 a request that stays too long fails once, and the session goes on",
  [{ text: "One." }, { text: "Two." }, tooLong, { text: "Task: none." }, tooLong, { text: "fine" }],
  async ({ agent, server }) => {
    for (const text of ["a", "b"]) await processTurn(agent, text.repeat(2000));
    await assertRejects(() => processTurn(agent, "and now"), BackendError, "too long");
    assertEquals(server.requests.length, 5);
    assertEquals((await processTurn(agent, "again")).response, "fine");
    assertEquals(agent.state.messages.at(-2)!.content, "again");
  },
);

onAll(
  "what can not be made shorter is not sent again",
  [tooLong, { text: "fine" }],
  async ({ agent, server }) => {
    await assertRejects(() => processTurn(agent, "x".repeat(100_000)), BackendError, "too long");
    assertEquals([server.requests.length, agent.state.messages.length], [1, 0]);
    assertEquals((await processTurn(agent, "again")).response, "fine");
  },
);

onAll(
  "SES-04 results that are larger than the window are cut to it, and say so",
  () => {
    const big = ["big", "b", "c", "d", "e"].map((name) => dumps(name, 99_000));
    return model(6000, [{ toolCalls: [...big, dumps("small", 50)] }, { text: "fine" }]);
  },
  async ({ agent, server, events, onEvent }) => {
    assertEquals((await processTurn(agent, "go", { onEvent })).response, "fine");
    const results = agent.state.messages.filter((m) => m.role === "tool");
    const [big, small] = [results[0], results.at(-1)];
    const cut = /^big:0 .*\n\[\.\.\. \d+ characters left out, as the model's context/s;
    assert(cut.test(big!.content), big!.content);
    assertEquals(small!.content, lines("small", 50));
    assert(server.requests.every((r) => tokensOf(r) <= 6000));
    assertEquals(compactions(events).map((c) => [c.cutResults, c.summarized]), [[5, 0]]);
  },
  options(6000),
);

/** Aborted when the server is asked for a summary. */
let summing = new AbortController();

onAll(
  "an abort while the model summarizes leaves the conversation as it was, and closed",
  [
    ...[{ text: "One." }, tooLong, () => (summing.abort(), { text: "Task", hang: true })],
    ...[{ text: "Task: a." }, { text: "fine" }],
  ],
  async ({ agent, events, onEvent }) => {
    summing = new AbortController();
    const { signal } = summing;
    await processTurn(agent, lines("a", 8000));
    const before = structuredClone(agent.state.messages);
    const { stopReason } = await processTurn(agent, "go", { signal, onEvent });
    assertEquals(stopReason, "aborted");
    assertEquals(agent.state.messages.slice(0, before.length), before);
    assertEquals(plain(agent.state.messages.slice(before.length)), [
      { role: "user", content: "go" },
      { role: "assistant", content: "[Interrupted by the user]" },
    ]);
    assertEquals(compactions(events), []);
    assertEquals((await processTurn(agent, "again")).response, "fine");
  },
);

onAll(
  "SES-04 a summary that breaks off is no answer to the person",
  [
    ...[{ text: "One." }, tooLong, { text: "Task: this and that", cut: "text" as const }],
    ...[{ text: "Task: a." }, { text: "fine" }],
  ],
  async ({ agent }) => {
    await processTurn(agent, lines("a", 8000));
    const before = structuredClone(agent.state.messages);
    const error = await assertRejects(() => processTurn(agent, "go"), BackendError);
    assertEquals([error.kind, error.partialText], ["incomplete", ""]);
    assertEquals(agent.state.messages, before);
    assertEquals((await processTurn(agent, "again")).response, "fine");
  },
);

onAll(
  "where the model gives no summary, what the person said goes on",
  [{ text: "One." }, { text: "Two." }, tooLong, {}, { text: "fine" }],
  async ({ agent, server }) => {
    await processTurn(agent, `Rule: no tabs. ${lines("a", 8000)}`);
    await processTurn(agent, "Second");
    assertEquals((await processTurn(agent, "go")).response, "fine");
    assertStringIncludes(server.requests.at(-1)!.text, "[The person said] Rule: no tabs.");
    assertStringIncludes(server.requests.at(-1)!.text, "Second");
  },
);

Deno.test("compact by hand says why there is no summary", async () => {
  const rows: [step: Step, why: string][] = [
    [{ reasoning: "hm" }, "its answer was empty"],
    [{ text: "So it goes on and on and on. ".repeat(200) }, "it repeated itself"],
    [{ text: "<conversation>\nperson: a" }, "it repeated what it was to sum up"],
    [{ text: `<tool_call>{"name": "dump", "arguments": {}}</tool_call>` }, "it called a tool"],
  ];
  for (const [step, why] of rows) {
    // A call is asked about once more, in words that show no tools.
    const steps = [{ text: "One." }, { text: "Two." }, step, step];
    await using run = scripted(steps, { ...options(), backend: "compat" });
    const { agent } = run;
    for (const text of [lines("a", 4000), "b"]) await processTurn(agent, text);
    await assertRejects(() => compact(agent), BackendError, `The model gave no summary: ${why}`);
  }
});

const FAILURES: [name: string, step: Step][] = [
  ["the server fails", { error: { status: 500, message: "boom" } }],
  ["it breaks off", { text: "Task: this and that", cut: "text" }],
];
for (const [name, step] of FAILURES) {
  onAll(
    `compact by hand: ${name}, and the conversation is as it was`,
    [{ text: "One." }, { text: "Two." }, step, { text: "fine" }],
    async ({ agent }) => {
      for (const text of ["a", "b"]) await processTurn(agent, text);
      const before = structuredClone(agent.state.messages);
      await assertRejects(() => compact(agent), BackendError);
      assertEquals(agent.state.messages, before);
      assertEquals((await processTurn(agent, "go")).response, "fine");
    },
  );
}

onAll(
  "compact by hand keeps what is asked for, and the newest turn",
  [
    ...[{ text: "One." }, { text: "Two." }],
    ...[{ text: "Task: a.", usage: { inputTokens: 70, outputTokens: 7 } }, { text: "fine" }],
  ],
  async ({ agent, server, events, onEvent }) => {
    for (const text of [lines("a", 4000), "b"]) await processTurn(agent, text);
    const { inputTokens } = agent.state;
    const done = await compact(agent, { focus: "the names of files", onEvent });
    const roles = agent.state.messages.map((m) => m.role).join();
    assertEquals([done!.summarized, roles], [2, "user,assistant,user,assistant"]);
    assert(done!.tokensAfter < done!.tokensBefore);
    assertEquals(compactions(events), [{ type: "compaction", ...done! }]);
    assertStringIncludes(
      noticesIn(events).join(),
      "Made room in the context: 2 messages summarized",
    );
    assertEquals(agent.state.inputTokens, inputTokens + 70);
    assertStringIncludes(server.requests[2]!.text, "Keep above all: the names of files");
    // A summary of nothing but a summary would only lose more.
    assertEquals([await compact(agent), server.requests.length], [null, 3]);
    assertEquals((await processTurn(agent, "c")).response, "fine");
  },
);

onAll(
  "the results of a turn of much reasoning are not cut while older ones take the room",
  () => {
    let i = 0;
    return Array.from({ length: 30 }, () => (request: StrictRequest): Step => {
      if (isSummaryRequest(request)) return { text: "Task: go on.", usage: null };
      if (i++ === 8) return { text: "fine", usage: null };
      const reasoning = lines("hm", 3600);
      return { reasoning, toolCalls: [dumps(`${i}`, 1000)], usage: null };
    });
  },
  async ({ agent, events, onEvent }) => {
    await processTurn(agent, "go", { onEvent });
    assert(compactions(events).length > 0);
    assertEquals(compactions(events).filter((c) => c.cutResults > 0), []);
  },
  options(4000),
);

Deno.test("a summary that was refused as too long is asked for with less, and the count is learnt", async () => {
  const [window, charsPerToken] = [6000, 1.5];
  await using run = scripted(model(window, [{ text: "fine" }], { charsPerToken }), options(window));
  const { agent, server, events, onEvent } = run;
  for (let i = 0; i < 20; i++) agent.state.messages.push(...exchange(lines(`${i}`, 1500)));
  assertEquals((await processTurn(agent, "go", { onEvent })).response, "fine");
  const counts = server.requests.map((request) => tokensOf(request, charsPerToken));
  assert(counts.shift()! > window && counts.every((one) => one <= window), counts.join());
  assertEquals(server.requests.slice(0, 2).map(isSummaryRequest), [true, true]);
  assertStringIncludes(JSON.stringify(agent.state.messages), "Task: tidy up");
  // The answer has room, too.
  assert(counts.at(-1)! <= window - 512, counts.join());
  const told = events.filter((event) => event.type === "notice" && event.code === "summarizing");
  assertEquals(told.length, compactions(events).length);
});

Deno.test("where the newest message alone is too long, nothing is summed up for it", async () => {
  await using run = scripted([{ text: "fine" }], options(2000));
  const { agent } = run;
  for (let i = 0; i < 3; i++) agent.state.messages.push(...exchange(`${i}`));
  assertEquals((await processTurn(agent, lines("a", 20_000))).response, "fine");
});

Deno.test("a summary that would take more than what it replaces is not taken", async () => {
  await using run = scripted([{ text: lines("so", 9000) }, { text: "fine" }], options(1400));
  const { agent, server } = run;
  agent.state.messages.push(...exchange(lines("a", 400), lines("b", 400)));
  const before = structuredClone(agent.state.messages);
  assertEquals((await processTurn(agent, lines("c", 3300))).response, "fine");
  assertEquals(server.requests.map(isSummaryRequest), [true, false]);
  assertEquals(plain(agent.state.messages.slice(0, 2)), before);
});

Deno.test("where no summary comes, it is enough that fewer results just fit", async () => {
  const failure: Step = { error: { status: 500, message: "boom" } };
  await using server = strictServer([failure, failure]);
  /** Makes room for a prompt of `limit` tokens. */
  const run = async (limit: number) => {
    const settings = { host: server.url, maxTokens: 100, contextLength: limit + 100 };
    const config = { local: localConfig({ ...settings, maxRetries: 0 }) };
    const agent = new CopilotAgent(config, Deno.cwd(), { tools: [dump], systemPrompt: "You are." });
    agent.state.messages.push(
      { role: "user", content: lines("a", 4000) },
      { role: "assistant", content: "", toolCalls: [{ id: "1", ...dumps("b", 9000) }] },
      { role: "tool", toolCallId: "1", toolName: "dump", content: lines("b", 9000) },
      { role: "assistant", content: "Done." },
      { role: "user", content: "And now?" },
    );
    const { messages } = agent.state;
    const tokens = () => messages.reduce((sum, message) => sum + messageTokens(agent, message), 0);
    const fixed = requestTokens(agent) - tokens();
    const { signal } = new AbortController();
    const done = await makeRoom(agent, { signal, emit: () => {}, count: () => {} });
    return { done, size: fixed + tokens() };
  };
  const { done, size } = await run(1800);
  assertEquals([done?.droppedResults, done?.summarized], [1, 0]);
  assertEquals((await run(size)).done?.droppedResults, 1);
  await assertRejects(() => run(size - 1), BackendError, "boom");
  assertEquals(server.requests.map(isSummaryRequest), [true, true]);
});

Deno.test("a summary is asked for within the conversation, where there is room for it", async () => {
  const usage = { inputTokens: 900, outputTokens: 9 };
  const call = { toolCalls: [dumps("x", 9)] };
  /** [the window, what comes after the first answers, the requests for a summary that are quoted] */
  const rows: [window: number | undefined, steps: Step[], quoted: boolean[]][] = [
    [undefined, [{ text: "Task: a." }], [false]],
    [8000, [{ text: "Task: a." }], [false]],
    [1600, [{ text: "Task: a." }], [true]],
    [8000, [call, { text: "Task: a." }], [false, true]],
    [8000, [tooLong, { text: "Task: a." }], [false, true]],
  ];
  for (const [window, steps, quoted] of rows) {
    const first = [{ text: "One.", usage }, { text: "Two.", usage }];
    await using run = scripted([...first, ...steps], { ...options(window), backend: "compat" });
    const { agent, server } = run;
    for (const text of [lines("a", 3000), "b"]) await processTurn(agent, text);
    assert(await compact(agent));
    const asked = server.requests.slice(2);
    assertEquals(asked.map(({ text }) => text.includes("</conversation>")), quoted);
    // What the server has in its cache comes first, the tools included.
    const isPrefix = asked[0]!.text.startsWith(conversation(server.requests[1]!));
    assertEquals([isPrefix, "tools" in asked[0]!.body], [!quoted[0], !quoted[0]]);
    assertStringIncludes(JSON.stringify(agent.state.messages), "Task: a.");
  }
});

Deno.test("compact by hand: nothing to do, busy, aborted", async () => {
  await using run = scripted([{ text: "One." }, { text: "Two." }], options());
  const { agent, server } = run;
  assertEquals(await compact(agent), null);
  await processTurn(agent, "a");
  assertEquals(await compact(agent), null);
  const turn = processTurn(agent, "b");
  await assertRejects(() => compact(agent), TypeError, "busy");
  await turn;
  const before = structuredClone(agent.state.messages);
  const reason = new Error("mine");
  await assertRejects(() => compact(agent, { signal: AbortSignal.abort(reason) }), Error, "mine");
  assertEquals(agent.state.messages, before);
  assertEquals(server.requests.length, 2);
});

/** Histories as turns leave them, and as they are amid one. */
function histories(): Message[][] {
  const call = (id: string): Message => {
    const other = { id: `${id}2`, name: "dump", arguments: {} };
    const toolCalls = [{ id, ...dumps(id, 9) }, other];
    return { role: "assistant", content: "", reasoning: "hm", toolCalls };
  };
  const results = (id: string, chars: number): Message[] =>
    [id, `${id}2`].map((toolCallId) => (
      { role: "tool", toolCallId, toolName: "dump", content: lines(id, chars) }
    ));
  const user = (content: string): Message => ({ role: "user", content });
  const image: Part = { type: "image", mediaType: "image/png", data: "aGVsbG8=" };
  const all: Message[][] = [
    [{ ...user("with an image"), parts: [image] }],
    [call("a"), ...results("a", 1000)],
    [call("b"), ...results("b", 300_000)],
    [{ role: "assistant", content: "Done." }, user("Second")],
    [{ role: "assistant", content: "Yes." }, user("Third")],
    [call("c"), ...results("c", 10)],
    [call("d"), ...results("d", 5000)],
    [{ role: "assistant", content: "[The model gave no answer]" }, user("[You gave no answer.]")],
    [call("e"), ...results("e", 1)],
  ];
  return all.map((_, i) => all.slice(0, i + 1).flat());
}

onAll(
  "SES-04 compaction at every boundary leaves a conversation that servers take",
  Array.from({ length: 100 }, () => (request: StrictRequest): Step => (
    { text: isSummaryRequest(request) ? "Task: go on." : "fine" }
  )),
  async ({ agent, server, config }) => {
    for (const history of histories()) {
      for (const contextLength of [600, 1000, 4000, 60_000, undefined]) {
        const { settings } = options(contextLength);
        agent.configure(config(settings));
        agent.state.messages = structuredClone(history);
        const ends = history.at(-1)!.role !== "user";
        if (ends) agent.state.messages.push({ role: "assistant", content: "So." });
        await compact(agent);
        if (!ends) agent.state.messages.push({ role: "assistant", content: "So." });
        const person = history.findLast((m) => m.role === "user")!;
        assert(agent.state.messages.some((m) => m.content === person.content));
        assertEquals((await processTurn(agent, "and now")).response, "fine");
        assertEquals(agent.state.messages[0]!.role, "user");
        assertStringIncludes(server.requests.at(-1)!.text, "You are a copilot.");
      }
    }
  },
);

onAll(
  "a server that cuts the prompt without a word is noticed once, and not sent more from then on",
  () => model(2500, session(6, 1200), { cuts: true }),
  async ({ agent, server, events, onEvent }) => {
    for (let t = 0; t < 6; t++) await processTurn(agent, `Go ${t}`, { onEvent });
    const warnings = events.filter((e) => e.type === "notice" && e.level === "warning");
    assertEquals(warnings.length, 1);
    const told = /^The server read only 2500 of about \d{4} tokens .*the setting context-length/;
    assert(noticesIn(warnings).some((message) => told.test(message)));
    const sent = server.requests.map(tokensOf);
    const last = sent.findLastIndex((tokens) => tokens > 2700);
    assert(last > 0 && last < 8 && sent.length > last + 10, sent.join());
  },
);
