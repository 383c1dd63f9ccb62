import { assertEquals, assertMatch } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import type { SlotTasks } from "../../src/models/ollama/slots.ts";
import { compatConfig } from "../../src/config.ts";
import { type CacheLoss, CacheWatch } from "../../src/session/cache_watch.ts";
import type { TurnEvent, Usage } from "../../src/types/event.ts";
import type { Message } from "../../src/types/message.ts";
import { fakeSession } from "../helpers/fake_session.ts";
import { strictServer } from "../helpers/strict_server.ts";

const config = { compat: compatConfig({ baseUrl: "http://127.0.0.1:1/v1", model: "test" }) };
const user = (content = "a"): Message => ({ role: "user", content });
const model = (more: Partial<Message> = {}): Message => ({
  role: "assistant",
  content: "b",
  ...more,
});
const result: Message = { role: "tool", content: "c", toolCallId: "1" };
const event = (one: unknown) => one as TurnEvent;
const subAgent = event({ type: "tool_done", exec: { details: { usage: {} } } });
const compaction = event({ type: "compaction" });
const adjusted = event({ type: "notice", code: "request_adjusted" });

/** A request: the messages that it adds, the tokens that the server counted, and what differs. */
interface Request {
  adds: Message[];
  /** Prompt tokens, those of them from the cache, and the speed that the server states. */
  usage: [input: number, cached?: number, speed?: number];
  /** The time until the first token, in milliseconds; undefined for an answer without one. */
  ms?: number;
  /** Events before it and during it. */
  before?: TurnEvent[];
  during?: TurnEvent[];
  /** The slots after it. */
  slots?: SlotTasks;
  /** What becomes of the agent before it. */
  change?: (agent: CopilotAgent) => void;
}

/** Has a watch see `requests`; what it reported, and the watch. */
async function watched(requests: readonly Request[]): Promise<[CacheLoss[], CacheWatch]> {
  const agent = new CopilotAgent(config, ".");
  const losses: CacheLoss[] = [];
  let time = 0;
  let slots: SlotTasks = [];
  const watch = new CacheWatch(
    (loss) => losses.push(loss),
    () => Promise.resolve(slots),
    () => time,
  );
  for (const { adds, usage, ms = 1000, before = [], during = [], change, ...one } of requests) {
    const [inputTokens, cachedTokens, readSpeed] = usage;
    slots = one.slots ?? [];
    change?.(agent);
    agent.state.messages.push(...adds);
    const counted: Usage = { inputTokens, outputTokens: 1 };
    if (cachedTokens !== undefined) counted.cachedTokens = cachedTokens;
    if (readSpeed !== undefined) counted.readSpeed = readSpeed;
    for (const event of [...before, { type: "thinking" } as const, ...during]) {
      watch.onEvent(event, agent);
    }
    time += ms;
    if (ms > 0) watch.onEvent({ type: "text_delta", text: "b" }, agent);
    time += ms;
    if (ms > 0) watch.onEvent({ type: "text_delta", text: "b" }, agent);
    watch.onEvent({ type: "usage", usage: counted }, agent);
    // The cause is looked up beside the turn.
    for (let n = 0; n < 5; n++) await Promise.resolve();
  }
  return [losses, watch];
}

const first: Request = { adds: [user()], usage: [10_000, 0, 500] };
const lost: Request = { adds: [model(), user()], usage: [10_100, 0, 500] };
const tasks = (...list: number[]): SlotTasks => list.map((task, slot) => ({ slot, task }));
const [tokens, seconds] = [10_000, 20];
const thought = model({ reasoning: "hm" });

const ROWS: [what: string, requests: Request[], losses: CacheLoss[]][] = [
  ["a first request", [first], []],
  ["a prompt that was read again", [first, lost], [{ tokens, seconds }]],
  ["one from the cache", [first, { ...lost, usage: [10_100, 9990, 500] }], []],
  ["half of it", [first, { ...lost, usage: [10_100, 5001, 500] }], []],
  ["less than half", [first, { ...lost, usage: [10_100, 4999, 500] }], [
    { tokens: 5001, seconds: 10.002 },
  ]],
  ["a server that counts no cached tokens", [first, { ...lost, usage: [10_100] }], []],
  ["fewer than a thousand tokens", [
    { ...first, usage: [999, 0, 10] },
    { ...lost, usage: [1200, 0, 10] },
  ], []],
  ["less than a second", [first, { ...lost, usage: [10_100, 0, 10_001] }], []],
  ["no speed, so the time until the answer", [
    { ...first, usage: [10_000, 0] },
    { ...lost, usage: [10_100, 0], ms: 10_100 },
  ], [{ tokens, seconds: 10 }]],
  ["no speed, and a model that was loaded first", [
    { ...first, usage: [10_000, 0] },
    { ...lost, usage: [10_100, 0], during: [event({ type: "loading" })] },
  ], [{ tokens, seconds: 1 }]],
  ["no known speed at all", [
    { ...first, usage: [10_000, 0], during: [event({ type: "queued" })] },
    { ...lost, usage: [10_100, 0], during: [event({ type: "retry" })] },
  ], [{ tokens }]],
  ["a conversation that was compacted", [first, { ...lost, before: [compaction] }], []],
  ["a request that was adjusted", [first, { ...lost, during: [adjusted] }], []],
  ["the usage of a summary", [first, { ...lost, ms: 0 }], []],
  ["a conversation that was cleared", [first, {
    ...lost,
    change: ({ state }) => state.messages.length = 0,
  }], []],
  ["messages that were undone", [first, {
    ...lost,
    change: ({ state }) => void state.messages.pop(),
  }], []],
  ["another model", [first, { ...lost, change: (agent) => agent.setModel("other") }], []],
  ["one line in a turn, another in the next", [
    first,
    lost,
    { adds: [model(), result], usage: [10_200, 0, 500] },
    { adds: [model(), user()], usage: [10_300, 0, 500] },
  ], [{ tokens, seconds }, { tokens: 10_200, seconds: 20.4 }]],
  // Templates drop the reasoning of earlier turns: only what came before it is the same.
  ["a turn after one with reasoning", [
    { ...first, usage: [2000, 0, 500] },
    { adds: [thought, result], usage: [10_000, 2000, 500] },
    { ...lost, usage: [8000, 1900, 500] },
  ], []],
  ["a turn after one with reasoning, with nothing cached", [
    { ...first, usage: [2000, 0, 500] },
    { adds: [thought, result], usage: [10_000, 2000, 500] },
    { ...lost, usage: [8000, 0, 500] },
  ], [{ tokens: 2000, seconds: 4 }]],
  ["a turn with reasoning itself", [
    { ...first, usage: [2000, 0, 500] },
    { adds: [thought, result], usage: [10_000, 2000, 500] },
    { adds: [thought, result], usage: [10_100, 0, 500] },
  ], [{ tokens, seconds }]],
  ["the third turn, after reasoning in the second", [
    { ...first, usage: [2000, 0, 500] },
    { adds: [model(), user()], usage: [5000, 2000, 500] },
    { adds: [thought, result], usage: [10_000, 5000, 500] },
    { ...lost, usage: [8000, 0, 500] },
  ], [{ tokens: 5000, seconds: 10 }]],
  ["a sub-agent before the request before", [
    first,
    { adds: [model(), result], usage: [10_000, 9990, 500], before: [subAgent] },
    lost,
  ], [{ tokens, seconds }]],
  ["a sub-agent", [first, { ...lost, before: [subAgent] }], [
    { tokens, seconds, cause: "sub_agent" },
  ]],
  ["a prompt that the server cut", [first, { ...lost, usage: [8000, 0, 500] }], [
    { tokens: 8000, seconds: 16, cause: "cut" },
  ]],
  ["a server that was restarted", [
    { ...first, slots: tasks(40, -1) },
    { ...lost, slots: tasks(2, -1) },
  ], [{ tokens, seconds, cause: "restart" }]],
  ["a slot that another program used", [
    { ...first, slots: tasks(40, -1) },
    { ...lost, slots: tasks(50, 60) },
  ], [{ tokens, seconds, cause: "slot" }]],
  ["another slot, though nobody used the first", [
    { ...first, slots: tasks(40, -1) },
    { ...lost, slots: tasks(40, 60) },
  ], [{ tokens, seconds }]],
  ["the only slot", [{ ...first, slots: tasks(40) }, { ...lost, slots: tasks(60) }], [
    { tokens, seconds, cause: "only_slot" },
  ]],
  ["slots that are not shown", [{ ...first, slots: tasks(40) }, lost], [{ tokens, seconds }]],
];

for (const [what, requests, losses] of ROWS) {
  Deno.test(`a lost cache: ${what}`, async () => {
    assertEquals((await watched(requests))[0], losses);
  });
}

Deno.test("the speed is of the newest prompt of which enough was read, the share of all that were counted", async () => {
  const rows: [usage: Request["usage"], speed: number | undefined, counted: [number, number]][] = [
    [[10_000], undefined, [0, 0]],
    [[199, 0, 500], undefined, [199, 0]],
    [[10_000, 9801, 500], undefined, [10_199, 9801]],
    [[10_000, 9800, 500], 500, [20_199, 19_601]],
    [[10_000, 0], 10_000, [30_199, 19_601]],
  ];
  const requests = rows.map(([usage]): Request => ({ adds: [], usage }));
  for (let n = 1; n <= rows.length; n++) {
    const [, { readSpeed, counted }] = await watched(requests.slice(0, n));
    const [, speed, [inputTokens, cachedTokens]] = rows[n - 1]!;
    assertEquals([readSpeed, counted], [speed, { inputTokens, cachedTokens }]);
  }
});

Deno.test("a session reports a lost cache in one line, and /context the share of the cache", async () => {
  const counts = [[20_000, 0], [20_100, 20_000], [20_200, 0]] as const;
  await using server = strictServer(counts.map(([inputTokens, cachedTokens]) => ({
    text: "Yes.",
    usage: { inputTokens, cachedTokens, readSpeed: 400, outputTokens: 2 },
  })));
  await using fake = await fakeSession(server.url, {
    config: { compat: compatConfig({ baseUrl: `${server.url}/v1`, model: "test", maxRetries: 0 }) },
  }, { showsStatus: false });
  for (const text of ["one", "two", "three"]) {
    await fake.session.prompt(text, new AbortController().signal);
  }
  assertEquals(fake.notices(), [
    "20.1k tokens were no longer in the server's cache, and reading them again took 50 s: copilot doctor checks the cache",
  ]);
  const context = await fake.command("/context");
  assertMatch(context!, /\nOf this session's prompt tokens, 33 % came from the server's cache\.$/);
});
