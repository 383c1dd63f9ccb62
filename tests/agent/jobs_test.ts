import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { processTurn } from "../../src/agent/turn.ts";
import { localConfig } from "../../src/config.ts";
import { jobStore } from "../../src/tools/shell/jobs.ts";
import { type Step, type StrictRequest, strictServer, use } from "../helpers/strict_server.ts";
import { run, workspace } from "../tools/workspace.ts";

const ignore = Deno.build.os === "windows";
const messagesOf = ({ body }: StrictRequest) => body.messages as { content: string }[];
const bash = (command: string, more = {}): Step => use("run_bash", { command, ...more });

Deno.test("the model is told of the end of a job once, with the next that it is sent", {
  ignore,
}, async () => {
  using ws = workspace();
  await using jobs = jobStore();
  await run("mkfifo", ws.at("go"), ws.at("again"));
  /** Opens a gate, and waits for the job behind it to end. */
  const ends = async (gate: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    jobs.onEnd = () => resolve();
    (await Deno.open(ws.at(gate), { write: true })).close();
    await promise;
  };
  const job = { run_in_background: true };
  await using server = strictServer([
    bash(": < go; exit 3", job),
    bash(": < again", job),
    async () => (await ends("go"), bash("echo hello")),
    { text: "First." },
    { error: { status: 400, message: "no" } },
    { text: "Second." },
    { text: "Third." },
  ]);
  const config = { local: localConfig({ host: server.url, model: "test", maxRetries: 0 }) };
  const agent = new CopilotAgent(config, ws.dir, { jobs });
  const { toolExecutions } = await processTurn(agent, "one");
  await ends("again");
  // What the server refused was not heard.
  await assertRejects(() => processTurn(agent, "two"));
  await processTurn(agent, "two");
  await processTurn(agent, "three");
  const { requests } = server;
  const news = (n: number, command: string, outcome: string) =>
    `\n\n[Job ${n} is over (${command}): ${outcome}. job_output shows what it printed.]`;
  const first = `exit code: 0\nstdout:\nhello${news(1, ": < go; exit 3", "exit code 3")}`;
  assertEquals(messagesOf(requests[3]!).at(-1)!.content, first);
  assertEquals(toolExecutions.at(-1)!.result, first);
  const second = `two${news(2, ": < again", "exit code 0")}`;
  assertEquals(messagesOf(requests[4]!).at(-1)!.content, second);
  assertEquals(messagesOf(requests[5]!).at(-1)!.content, second);
  assertEquals(messagesOf(requests[6]!).at(-1)!.content, "three");
  for (const [i, request] of requests.entries()) {
    assertEquals(JSON.stringify(request.body.tools), JSON.stringify(requests[0]!.body.tools));
    const before = requests[i - 1];
    if (before === undefined || i === 5) continue; // the one before it failed
    const start = JSON.stringify(messagesOf(before)).slice(0, -1);
    assert(JSON.stringify(messagesOf(request)).startsWith(start), `${i}`);
  }
});

Deno.test("a turn that is stopped ends no job", { ignore }, async () => {
  using ws = workspace();
  await using jobs = jobStore();
  const stop = new AbortController();
  await using server = strictServer([
    bash("exec sleep 1000", { run_in_background: true }),
    () => (stop.abort(), { text: "x", hang: true }),
    { text: "Still there." },
  ]);
  const config = { local: localConfig({ host: server.url, model: "test" }) };
  const agent = new CopilotAgent(config, ws.dir, { jobs });
  assertEquals((await processTurn(agent, "one", { signal: stop.signal })).stopReason, "aborted");
  await processTurn(agent, "two");
  assertEquals(jobs.list.map(({ outcome }) => outcome), [undefined]);
  assertMatch(messagesOf(server.requests[2]!)[3]!.content, /^job 1 runs in the background/);
});
