import type { Part } from "../../src/types/message.ts";
import { assert, assertEquals } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import {
  answerRoom,
  contextParts,
  contextWindow,
  learnFromRefusal,
  learnFromUsage,
  messageTokens,
  promptLimit,
  requestTokens,
} from "../../src/agent/tokens.ts";
import { compatConfig, localConfig } from "../../src/config.ts";

function agentWith(settings: Parameters<typeof localConfig>[0] = {}): CopilotAgent {
  return new CopilotAgent({ local: localConfig(settings) }, Deno.cwd(), {
    tools: [],
    systemPrompt: "x1".repeat(400), // 200 tokens, roughly
  });
}

const say = (agent: CopilotAgent, tokens: number) =>
  agent.state.messages.push({ role: "user", content: "x1".repeat(tokens * 2) });

/** A message is 8, an ASCII character a quarter, one that repeats the last a sixteenth. */
const EXACT: [text: string, tokens: number][] = [
  ["", 8],
  ["abcdefgh", 10],
  ["\x7fa\x7fa", 9],
  ["\x80a\x80a", 10], // 6 quarters, rounded up
  ["\u2e7f\u2e7e", 9],
  ["\u2e80\u2e81", 10],
  ["a".repeat(13), 9],
  ["a".repeat(14), 10],
];

for (const [content, tokens] of EXACT) {
  Deno.test(`the estimate of ${JSON.stringify(content)} is ${tokens}`, () =>
    assertEquals(messageTokens(agentWith(), { role: "user", content }), tokens));
}

Deno.test("an image costs the same whatever its size, a call what its arguments do", () => {
  const agent = agentWith();
  const image = (size: number): Part => (
    { type: "image", mediaType: "image/png", data: "A1".repeat(size) }
  );
  const withImages = (size: number) =>
    messageTokens(agent, { role: "user", content: "x", parts: [image(size), image(size)] });
  assertEquals(withImages(1), withImages(1_000_000));
  assertEquals(withImages(1) - messageTokens(agent, { role: "user", content: "x" }), 2400);
  const call = (text: string) => {
    const toolCalls = [{ id: "1", name: "t", arguments: { text } }];
    return messageTokens(agent, { role: "assistant", content: "", toolCalls });
  };
  assert(call("x1".repeat(2000)) - call("") > 900);
});

Deno.test("reasoning counts where it is asked for, and led to calls", () => {
  const agent = agentWith();
  const answer = { role: "assistant", content: "", reasoning: "hm".repeat(400) } as const;
  const calls = { ...answer, toolCalls: [{ id: "1", name: "t", arguments: {} }] };
  const plain = messageTokens(agent, { ...calls, reasoning: "" });
  assertEquals(messageTokens(agent, calls), plain);
  assertEquals(messageTokens(agent, calls, true), plain + 200);
  assertEquals(messageTokens(agent, answer, true), messageTokens(agent, answer));
});

Deno.test("a request of 2000 estimated tokens: what is learnt of a count, and of a refusal", () => {
  const request = () => {
    const agent = agentWith();
    agent.state.messages.push({ role: "user", content: "x1".repeat(3583) });
    assertEquals(requestTokens(agent), 2000);
    return agent;
  };
  const counts: (readonly [counted: number, estimate: number, window: number | undefined])[] = [
    // Up to four times as much, and down to a quarter, a count is believed.
    ...[[8000, 8000, undefined], [8001, 2000, undefined]] as const,
    ...[[500, 500, undefined], [499, 2000, undefined]] as const,
    // Below 0.4 of the estimate it is of a request that was cut, unless it is below any window.
    ...[[800, 800, undefined], [799, 2000, 799]] as const,
    ...[[512, 2000, 512], [511, 511, undefined]] as const,
  ];
  for (const [inputTokens, estimate, window] of counts) {
    const agent = request();
    learnFromUsage(agent, { inputTokens, outputTokens: 1 });
    assertEquals([requestTokens(agent), contextWindow(agent)], [estimate, window]);
  }
  for (const [prompt, estimate] of [[8000, 8000], [8001, 2000], [500, 500], [499, 2000]] as const) {
    const agent = request();
    learnFromRefusal(agent, { prompt });
    assertEquals([requestTokens(agent), contextWindow(agent)], [estimate, estimate]);
  }
});

/** Tokens said before each request, what the server counts of it, and which count is news. */
const CUTS: [name: string, said: number[], counted: number[], noticed: number | undefined][] = [
  ["a server that counts all", [1000, 1000, 9000, 500], [1200, 2200, 11_200, 11_700], undefined],
  ["one whose tokens are fewer", [1000, 1000, 9000, 500], [700, 1300, 6700, 7000], undefined],
  ["a first request that is cut", [20_000], [4090], 0],
  ["a window that fills", [1000, 2000, 1500, 500, 500], [1200, 3200, 4090, 4000, 4096], 4],
  ["a window that fills at once, and more after", [1000, 9000, 5000], [1200, 4090, 4080], 1],
  ["one that counts only what is new", [3000, 900, 900, 4000], [3200, 900, 950, 1000], undefined],
  ["counts of a script", [1000, 1000, 9000], [10, 10, 10], undefined],
];

for (const [name, said, counted, noticed] of CUTS) {
  Deno.test(`what the server counts: ${name}`, () => {
    const agent = agentWith();
    const news = counted.map((inputTokens, i) => {
      say(agent, said[i]!);
      return learnFromUsage(agent, { inputTokens, outputTokens: 1 });
    });
    assertEquals(news, counted.map((_, i) => i === noticed));
    const most = Math.max(...counted.slice(0, (noticed ?? -1) + 1));
    const window = contextWindow(agent);
    if (noticed === undefined) assertEquals(window, undefined);
    else assert(window! >= most * 0.99 && window! <= most * 1.01, `${window}`);
  });
}

Deno.test("a count below the window that is set is a cut, and so is one that equals it", () => {
  const cases = [
    [20_000, 4000, true, 4000],
    [20_000, 4096, true, 4096],
    [3800, 4096, true, 4096],
    [3800, 4095, false, 4096],
    [3800, 5000, false, 4096],
  ] as const;
  for (const [said, inputTokens, isNews, window] of cases) {
    const agent = agentWith({ contextLength: 4096 });
    say(agent, said);
    assertEquals(learnFromUsage(agent, { inputTokens, outputTokens: 1 }), isNews, `${inputTokens}`);
    assertEquals(contextWindow(agent), window);
    if (isNews) assert(requestTokens(agent) > promptLimit(agent)!);
  }
});

Deno.test("the room for an answer is a step below what the window leaves, and never none", () => {
  const agent = agentWith({ contextLength: 4096, maxTokens: 4096 });
  say(agent, 1000);
  const left = 4096 - requestTokens(agent);
  assert(left > 2048 && left < 3072);
  assertEquals(answerRoom(agent), 2048);
  assertEquals(answerRoom(agent, [{ role: "user", content: "" }]), 3072);
  say(agent, 9000);
  assertEquals(answerRoom(agent), 256);
  assertEquals(answerRoom(agentWith()), undefined);
});

Deno.test("a conversation that became shorter is no cut one", () => {
  const agent = agentWith();
  say(agent, 9000);
  assert(!learnFromUsage(agent, { inputTokens: 9200, outputTokens: 1 }));
  agent.state.messages.length = 0;
  say(agent, 800);
  assert(!learnFromUsage(agent, { inputTokens: 1000, outputTokens: 1 }));
});

Deno.test("reasoning that the server leaves out of its count is no cut, and is not counted here", () => {
  const agent = agentWith();
  for (let round = 1; round < 9; round++) {
    const toolCalls = [{ id: `${round}`, name: "t", arguments: {} }];
    agent.state.messages.push(
      { role: "assistant", content: "", reasoning: "hm".repeat(6000), toolCalls },
      { role: "tool", toolCallId: `${round}`, toolName: "t", content: "x1".repeat(1000) },
    );
    assert(!learnFromUsage(agent, { inputTokens: 250 + 550 * round, outputTokens: 1 }));
  }
  assert(Math.abs(requestTokens(agent) - 4650) < 300, `${requestTokens(agent)}`);
  assertEquals(contextWindow(agent), undefined);
});

/** contextLength, maxTokens (of which compat has no default), and the most that a request may have. */
const LIMITS: [number | undefined, number, number | undefined][] = [
  [undefined, 4096, undefined],
  [32_768, 32_768, 24_576],
  [32_768, 4096, 28_672],
  [8192, 4096, 6144],
  [8192, 1024, 7168],
  [4096, 4096, 3072],
];

for (const [contextLength, maxTokens, limit] of LIMITS) {
  Deno.test(`room for an answer of ${maxTokens} in a window of ${contextLength}: ${limit}`, () => {
    assertEquals(promptLimit(agentWith({ contextLength, maxTokens })), limit);
  });
}

Deno.test("where no setting limits an answer, the window does: half of a small one, 32768 at most", () => {
  const rooms = [[4096, 2048], [8192, 4096], [16_384, 12_288], [131_072, 32_768]] as const;
  for (const [contextLength, room] of [[undefined, undefined], ...rooms] as const) {
    const compat = compatConfig({ model: "m", baseUrl: "http://a/v1", contextLength });
    const agent = new CopilotAgent({ compat }, Deno.cwd());
    assertEquals(answerRoom(agent), room, `${contextLength}`);
  }
});

Deno.test("after a refusal the request fits a window that was not known, or is over the limit", () => {
  for (const window of [undefined, 600, 8000]) {
    for (const contextLength of [undefined, 4096, 100_000]) {
      const agent = agentWith({ contextLength });
      say(agent, 2000);
      const isNews = learnFromRefusal(agent, { window });
      assertEquals(isNews, window === 8000 && contextLength !== 4096);
      if (isNews) assert(requestTokens(agent) <= promptLimit(agent)!);
      // A second refusal shows that the window is not the reason.
      if (isNews) assertEquals(learnFromRefusal(agent, { window }), false);
      assert(requestTokens(agent) > promptLimit(agent)!);
    }
  }
});

Deno.test("the parts of the context, and the window", () => {
  const agent = agentWith({ contextLength: 4096 });
  say(agent, 100);
  const { parts, window } = contextParts(agent);
  assertEquals(window, 4096);
  assertEquals(parts.map((part) => part.name), ["system", "tools", "user", "assistant", "tool"]);
  const sum = parts.reduce((all, part) => all + part.tokens, 0);
  assert(Math.abs(sum - requestTokens(agent)) < 5);
});
