// Runs turn after turn of one agent, on every backend, with a server and a model that produce every fault:
// `scripts/soak [TURNS [SEED]]`. Exits with 1 if a turn breaks a rule about its result, the conversation, or
// leftover processes, open files, timers and memory.
import { join } from "@std/path/join";
import {
  BackendError,
  builtinTools,
  CopilotAgent,
  type CopilotConfig,
  type Message,
  processTurn,
} from "../src/mod.ts";
import { allConfigs } from "../tests/agent/backends.ts";
import { seeded } from "../tests/helpers/split.ts";
import { strictServer } from "../tests/helpers/strict_server.ts";
import { faultyModel } from "./soak_model.ts";

const turns = Number(Deno.args[0] ?? 1000);
const seed = Number(Deno.args[1] ?? 1);
/** A turn that takes longer hangs, as all its limits are shorter. */
const STUCK_MS = 60_000;

const { gc, setTimeout: startTimer, clearTimeout: stopTimer } = globalThis as
  & typeof globalThis
  & { gc: () => void };
const pause = (ms: number) => new Promise((resolve) => startTimer(resolve, ms));
const timers = new Map<unknown, string>();
globalThis.setTimeout = ((run: () => void, ms?: number) => {
  const id = startTimer(() => {
    timers.delete(id);
    run();
  }, ms);
  timers.set(id, new Error().stack?.split("\n").slice(2, 4).join(" ") ?? "");
  return id;
}) as typeof setTimeout;
globalThis.clearTimeout = (id) => {
  timers.delete(id);
  stopTimer(id);
};

let turn = 0;
let violations = 0;
function violation(what: string): void {
  violations++;
  console.log(`VIOLATION in turn ${turn}, seed ${seed}: ${what}`);
}

/** Throws for an invalid conversation. The server of the next turn refuses what it would not take. */
function checkHistory(messages: readonly Message[]): void {
  const open: string[] = [];
  const used = new Set<string>();
  for (const { role, toolCalls = [], toolCallId } of messages) {
    if (role === "tool") {
      const due = open.shift();
      if (due !== toolCallId) throw new Error(`a result of ${toolCallId} where ${due} is due`);
    } else if (open.length > 0) throw new Error(`no result of ${open}`);
    for (const { id } of toolCalls) {
      if (used.has(id)) throw new Error(`two calls ${id}`);
      used.add(id);
      open.push(id);
    }
  }
  const { role = "assistant" } = messages.at(-1) ?? {};
  if (open.length > 0 || role !== "assistant") throw new Error(`ends with ${role}, open: ${open}`);
}

/** Returns the target of a link; nothing if it has gone, or is another user's. */
function targetOf(link: string): string[] {
  try {
    return [Deno.readLinkSync(link)];
  } catch {
    return [];
  }
}

/** Returns the processes that work in `folder`, and its files that this process has open. */
function leftIn(folder: string): string[] {
  const processes = [...Deno.readDirSync("/proc")].filter(({ name }) =>
    /^\d+$/.test(name) && targetOf(`/proc/${name}/cwd`)[0]?.startsWith(folder)
  );
  return [
    ...processes.map(({ name }) => `process ${Deno.readTextFileSync(`/proc/${name}/cmdline`)}`),
    ...handles().filter((target) => target.startsWith(folder)),
  ];
}

function handles(): string[] {
  return [...Deno.readDirSync("/proc/self/fd")]
    .flatMap(({ name }) => targetOf(`/proc/self/fd/${name}`));
}

async function memory(): Promise<{ rss: number; heap: number }> {
  for (let i = 0; i < 4; i++) {
    gc();
    await pause(50);
  }
  const { rss, heapUsed } = Deno.memoryUsage();
  return { rss: rss / 2 ** 20, heap: heapUsed / 2 ** 20 };
}

/**
 * Returns `config` with short limits and a small window, so that requests fail and conversations are compacted.
 */
function impatient(config: CopilotConfig, maxRetries: number): CopilotConfig {
  const [[name, backend]] = Object.entries(config) as [[string, object]];
  const limits = { maxRetries, idleTimeoutMs: 300, firstTokenTimeoutMs: 500 };
  const room = { contextLength: 16_384, maxTokens: 1024 };
  return {
    [name]: { ...backend, ...limits, ...room },
    maxOutputChars: 8000,
    maxToolRounds: 8,
  } as unknown as CopilotConfig;
}

const folder = Deno.realPathSync(await Deno.makeTempDir());
await Deno.mkdir(join(folder, "d"));
for (const name of ["a.txt", "b.txt", "c.ts", "d/e.txt"]) {
  await Deno.writeTextFile(join(folder, name), "one\ntwo\nthree\n");
}
await Deno.writeTextFile(join(folder, "crlf.txt"), "one\r\ntwo\r\n");

let random = seeded(seed);
const outcomes = new Map<string, number>();
const count = (what: string) => outcomes.set(what, (outcomes.get(what) ?? 0) + 1);
let requests = 0;
let calls = 0;
const before = handles();
const server = strictServer(
  new Array(turns * 100).fill((request: { text: string }) => faultyModel(random)(request.text)),
);
const configs = allConfigs(server.url);
const agent = new CopilotAgent(configs[0]![1], folder, { tools: builtinTools });

async function play(): Promise<void> {
  random = seeded(seed * 1_000_003 + turn);
  const [name, config] = configs[turn % configs.length]!;
  agent.configure(impatient(config, random() < 0.1 ? 1 : 0));
  const { messages } = agent.state;
  const length = messages.length;
  const stop = new AbortController();
  const kind = random();
  const timer = kind < 0.15 ? startTimer(() => stop.abort(), random() * 300) : undefined;
  let untilAbort = kind > 0.9 ? Math.floor(random() * 12) : Infinity;
  let said = false;
  const running = new Set<string>();
  const known = new Set<string>();
  let ended = 0;
  const stuck = startTimer(() => {
    violation("the turn does not end");
    Deno.exit(1);
  }, STUCK_MS);
  try {
    const { stopReason, toolExecutions } = await processTurn(agent, `Turn ${turn}: go on`, {
      signal: stop.signal,
      onEvent: (event) => {
        said ||= !["thinking", "retry", "notice"].includes(event.type);
        if (event.type === "tool_start") running.add(event.id);
        if (event.type === "tool_done") {
          ended++;
          const call = JSON.stringify([event.exec.toolName, event.exec.arguments]);
          // A call that an answer repeats does not run again.
          if (!running.delete(event.exec.toolCallId) && !known.has(call)) {
            violation("tool_done without its tool_start");
          }
          known.add(call);
        }
        if (event.type === "compaction") count("compacted");
        if (untilAbort-- === 0) stop.abort();
      },
    });
    count(stopReason);
    if (ended !== toolExecutions.length) violation(`${toolExecutions.length} runs, ${ended} told`);
  } catch (error) {
    if (!(error instanceof BackendError)) violation(`${(error as Error)?.stack ?? error}`);
    else count(`failed: ${error.kind}`);
    if (!said && messages.length !== length) {
      violation(`a failure at once left a trace: ${JSON.stringify(messages.slice(length))}`);
    }
  } finally {
    stopTimer(timer);
    stopTimer(stuck);
  }
  calls += ended;
  if (running.size > 0) violation(`without tool_done: ${[...running]}`);
  for (const { problem } of server.requests) {
    // Servers that refuse this parameter do not get it again.
    if (problem && !problem.includes("chat_template_kwargs")) {
      violation(`${name} refused: ${problem}`);
    }
  }
  requests += server.requests.length;
  server.requests.length = 0;
  try {
    checkHistory(agent.state.messages);
  } catch (error) {
    violation(`the conversation: ${(error as Error).message}`);
    agent.state.messages.length = 0;
  }
  for (const left of leftIn(folder)) violation(`left: ${left}`);
  const ours = [...timers.values()].filter((stack) => stack.includes("/src/"));
  if (ours.length > 0) violation(`timers: ${ours.join(", ")}`);
  timers.clear();
}

const start = performance.now();
let half = await memory();
for (turn = 1; turn <= turns && violations < 20; turn++) {
  await play();
  if (turn === Math.ceil(turns / 2)) half = await memory();
}
const end = await memory();
const seconds = (performance.now() - start) / 1000;
await server[Symbol.asyncDispose]();
await Deno.remove(folder, { recursive: true });
await pause(500);
const left = handles();
for (const handle of before) if (left.includes(handle)) left.splice(left.indexOf(handle), 1);

console.log(
  `${turn - 1} turns, ${requests} requests, ${calls} calls in ${
    seconds.toFixed(0)
  } s, seed ${seed}`,
);
console.log([...outcomes].map(([what, times]) => `${what} ${times}`).sort().join(", "));
const mb = ({ rss, heap }: typeof end) => `${rss.toFixed(0)} MB (heap ${heap.toFixed(1)})`;
console.log(`memory after half ${mb(half)}, at the end ${mb(end)}`);
console.log(`handles: ${before.length} before, ${left.length} more at the end: ${left.join(" ")}`);
// A short run only warms up: V8 still compiles code late.
const grows = end.heap > half.heap + 8 || end.rss > half.rss * 1.5;
if (turns >= 500 && grows) violation("the memory grows");
// The runtime opens a few handles with the first connection and the first worker.
if (left.length > 8) violation("handles are left");
console.log(violations === 0 ? "no violation" : `${violations} violations`);
// A timer or connection that the agent left would keep the process alive.
Deno.unrefTimer(startTimer(() => {
  violation("something keeps the process alive");
  Deno.exit(1);
}, 5000));
if (violations > 0) Deno.exitCode = 1;
