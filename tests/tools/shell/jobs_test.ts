import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { jobEndNote, jobStore, namesOf, shortCommand } from "../../../src/tools/shell/jobs.ts";
import { builtinTools, withJobs } from "../../../src/tools/mod.ts";
import { checkArguments } from "../../../src/tools/schema.ts";
import type { Confine } from "../../../src/types/confine.ts";
import type { Job, Jobs } from "../../../src/types/tool.ts";
import { living, marker } from "../../helpers/processes.ts";
import { contentOf, runBash, runInBackground } from "../text_results.ts";
import { run, type Workspace, workspace } from "../workspace.ts";

const tools = withJobs(builtinTools);

/** Starts a job; whether it ends at once is waited for as long as it takes, or not at all. */
const start = ({ context }: Workspace, command: string, settleMs = 0) =>
  runInBackground({ command }, context, settleMs);

/** Calls job_output as the agent does. */
async function look({ context }: Workspace, job: unknown, more = {}): Promise<string> {
  const tool = tools.find(({ name }) => name === "job_output")!;
  const checked = checkArguments(tool, { job, ...more });
  if (!checked.ok) throw new Error(checked.error);
  return contentOf(await tool.run(checked.args, context));
}

/** A folder, and the jobs of a session. */
function session(): AsyncDisposable & { ws: Workspace; jobs: Jobs } {
  const jobs = jobStore();
  const ws = workspace({ jobs });
  return {
    ws,
    jobs,
    async [Symbol.asyncDispose]() {
      await jobs[Symbol.asyncDispose]();
      ws[Symbol.dispose]();
    },
  };
}

/** Registers a test with jobs of its own; their commands are for a POSIX shell. */
const test = (name: string, check: (s: ReturnType<typeof session>) => Promise<void>) =>
  Deno.test(name, { ignore: Deno.build.os === "windows" }, async () => {
    await using s = session();
    await check(s);
  });

/** A pipe that a job waits at until the test opens it, and the other way round. */
async function gate(ws: Workspace, name: string): Promise<() => Promise<void>> {
  await run("mkfifo", ws.at(name));
  return async () => (await Deno.open(ws.at(name), { write: true })).close();
}

Deno.test("jobs are offered only where they are kept, after run_bash", () => {
  assertEquals(JSON.stringify(builtinTools).includes("background:"), false);
  const names = tools.map(({ name }) => name);
  assertEquals(names.length, builtinTools.length + 1);
  assertEquals(names[names.indexOf("run_bash") + 1], "job_output");
  const own = [{ ...builtinTools.find(({ name }) => name === "run_bash")! }];
  assertEquals(withJobs(own), own); // somebody else's may run elsewhere
});

test("a job that ends at once shows little if there is little room", async ({ ws }) => {
  const context = { ...ws.context, maxOutputChars: 1 };
  const said = await runInBackground({ command: "seq 1000" }, context, 30_000);
  assert(said.length > 200 && said.length < 500, said);
});

test("a job goes on after its call, and is looked at piece by piece", async (s) => {
  const go = await gate(s.ws, "go");
  const result = await start(s.ws, "echo one; : < go; echo two >&2; exec sleep 1000");
  assert(result.startsWith("job 1 runs in the background until the session ends."), result);
  if (!result.endsWith("\noutput:\none")) {
    assertMatch(await look(s.ws, 1), /^job 1 is running, for \d+ s\nnew output:\none$/);
  }
  await go();
  assertMatch(await look(s.ws, "1"), /^job 1 is running, for \d+ s\nnew output:\ntwo$/);
  assertEquals(s.jobs.list[0]!.tail(1000), "one\ntwo\n");
  const ended = await look(s.ws, 1, { stop: true });
  assertMatch(
    ended,
    /^job 1 ended after \d+ s: stopped by you\nexit code: 143 .*SIGTERM\)\nno new output$/,
  );
  assertEquals(await look(s.ws, 1, { stop: true }), ended);
});

test("a command that fails at once is no job", async (s) => {
  s.jobs.onEnd = () => assert(false);
  assertEquals(await start(s.ws, "echo no >&2; exit 3", 60_000), "exit code: 3\noutput:\nno");
  assertMatch(
    await start(s.ws, "sleep 1000 &", 60_000),
    /^exit code: 0\nended processes .*\nno output$/,
  );
  assertEquals(s.jobs.list, []);
  assert((await start(s.ws, "sleep 1000")).startsWith("job 1 "));
});

test("a server in the foreground, or behind & in a sandbox, is told how to stay", async (s) => {
  const how = "run_in_background keeps a server running";
  const confine: Confine = (program, args) =>
    Promise.resolve({ program, args: [...args], limits: "" });
  const context = { ...s.ws.context, confine };
  const said = (command: string, timeout_seconds = 60) =>
    runBash({ command, timeout_seconds }, context);
  assertStringIncludes(await said("sleep 1000", 0.1), `what came so far; ${how})`);
  const ended = `exit code: 0\nwhat it started with & has ended with it: ${how}\nno output`;
  // Its process is gone when the shell ends, as all are in a sandbox.
  const gone = "while [ -d /proc/$! ]; do :; done";
  if (Deno.build.os === "linux") assertEquals(await said(`true & ${gone}`), ended);
  for (const one of ["true & wait", ": '&' \"a & b\" \\& && : 2>&1", ": <<x\na & b\nx"]) {
    assertEquals(await said(one), "exit code: 0\nno output", one);
  }
});

test("the end of a job is told once, whether or not somebody waits", async (s) => {
  const over = Promise.withResolvers<string>();
  s.jobs.onEnd = ({ number, outcome, isReported }) =>
    over.resolve(`${number} ${outcome} ${isReported}`);
  const go = await gate(s.ws, "go");
  await start(s.ws, ": < go; echo bye; kill -9 $$");
  const waiting = look(s.ws, 1);
  await go();
  assertMatch(await waiting, /new output:\nbye$|ended after/);
  assertEquals(await over.promise, "1 SIGKILL false");
  assertMatch(
    await look(s.ws, 1),
    /^job 1 ended after \d+ s\nexit code: 137 \(the shell was ended/,
  );
  assert(s.jobs.list[0]!.isReported);
});

const STUBBORN = [
  "sleep NAP; :",
  "setsid sleep NAP & wait",
  "set -m; sleep NAP & sleep NAP | sleep NAP & wait",
  "timeout 999 sleep NAP; :",
  "trap '' TERM INT HUP; sleep NAP; sleep NAP; :",
  "trap 'sleep NAP & sleep NAP' TERM; sleep NAP & wait",
  "sleep NAP & kill -STOP $!; wait",
];

test("PRC-02 PRC-07 nothing is left of jobs that are stopped", async (each) => {
  await using all = session();
  const mark = marker();
  await Promise.all(
    [each, all].flatMap(({ ws }) => STUBBORN.map((one) => start(ws, one.replaceAll("NAP", mark)))),
  );
  const outcomes = ({ jobs }: typeof each) => jobs.list.map(({ outcome }) => outcome);
  assertEquals(outcomes(each), STUBBORN.map(() => undefined));
  const many = (count: number) => count >= 2 * STUBBORN.length;
  assert(many((await living(mark, many)).length));
  await Promise.all([
    ...each.jobs.list.flatMap((job) => [job.stop("first"), job.stop("again")]),
    all.jobs[Symbol.asyncDispose](),
  ]);
  assertEquals(await living(mark), []);
  assertEquals(outcomes(each), STUBBORN.map(() => "first"));
  assertEquals(outcomes(all), STUBBORN.map(() => "stopped"));
});

test("PRC-03 a job that floods takes little memory, and is heard from", async (s) => {
  const go = await gate(s.ws, "go");
  await run("mkfifo", s.ws.at("written"));
  const before = Deno.memoryUsage().rss;
  const command = "seq 1000000 3999999; : > written; : < go; echo end; exec sleep 1000";
  let all = await start(s.ws, command);
  assert(all.length <= 2500, `${all.length}`);
  (await Deno.open(s.ws.at("written"))).close();
  while (!all.endsWith("\n3999999")) {
    const more = await look(s.ws, 1);
    assert(more.length <= 20_500, `${more.length}`);
    all += more;
  }
  assertMatch(all, /\n1000000\n[^]*\n\[\d+ bytes omitted: /);
  assert(Deno.memoryUsage().rss - before < 50e6);
  await go();
  assertMatch(await look(s.ws, 1), /\nnew output:\nend$/);
  assert(s.jobs.list[0]!.tail(100).endsWith("\n3999999\nend\n"));
});

test("a moved command keeps its time, and moves only if one more job may run", async (s) => {
  await gate(s.ws, "go");
  const begun = Promise.withResolvers<void>();
  const tool = tools.find(({ name }) => name === "run_bash")!;
  const context = { ...s.ws.context, onOutput: () => begun.resolve() };
  const ran = tool.run({ command: "read x < go", timeout_seconds: 100 }, context);
  await begun.promise;
  const before = performance.now();
  await Promise.all(Array.from({ length: 8 }, () => start(s.ws, "exec sleep 1000")));
  assertEquals(s.jobs.moveRunning(), 0);
  await s.jobs.list[0]!.stop("stopped");
  assertEquals(s.jobs.moveRunning(), 1);
  assertMatch(contentOf(await ran), /job 9 runs in the background/);
  const job = s.jobs.list.at(-1)!;
  assert(job.elapsedMs >= performance.now() - before, "it counts from its start");
  assertEquals(s.jobs.moveRunning(), undefined);
});

test("at most 8 jobs run, and the error says what to do", async (s) => {
  await Promise.all(Array.from({ length: 8 }, () => start(s.ws, "exec sleep 1000")));
  assertEquals(s.jobs.list.map(({ number }) => number), [1, 2, 3, 4, 5, 6, 7, 8]);
  const error = await assertRejects(() => start(s.ws, "touch made"), RangeError);
  assertMatch(error.message, /job_output {"job": 1, "stop": true}/);
  assertMatch(error.message, /8 \(exec sleep 1000, running\)/);
  await look(s.ws, 3, { stop: true });
  assert((await start(s.ws, "exec sleep 1000")).startsWith("job 9 "));
  assertEquals(s.ws.names(), []);
});

test("a job that is not there, and a call that makes no sense", async (s) => {
  const says = "no job 1 in this session. Those there are: none";
  await assertRejects(() => look(s.ws, 1), RangeError, says);
  await assertRejects(() => look(s.ws, "one"), Error, "job must be an integer");
  await assertRejects(() => start(s.ws, " "), RangeError, "empty");
  delete s.ws.context.jobs;
  await assertRejects(() => start(s.ws, "true"), Error, "there are no jobs here");
  await assertRejects(() => look(s.ws, 1), RangeError, "no job 1");
  await s.jobs[Symbol.asyncDispose]();
  s.ws.context.jobs = s.jobs;
  await assertRejects(() => start(s.ws, "touch made"), RangeError, "the session is over");
});

test("PRC-07 a job that starts while the session ends is ended too", async (s) => {
  const mark = marker();
  s.ws.context.confine = async (program, args) => {
    await s.jobs[Symbol.asyncDispose]();
    return { program, args: [...args] };
  };
  assertMatch(await start(s.ws, `sleep ${mark}; :`, 60_000), /^exit code: 137 /);
  assertEquals(await living(mark), []);
});

test("an abort ends the waiting for news, and no job", async (s) => {
  await start(s.ws, "exec sleep 1000");
  const stop = new AbortController();
  s.ws.context.signal = stop.signal;
  const waiting = look(s.ws, 1);
  stop.abort(new Error("stopped"));
  await assertRejects(() => waiting, Error, "stopped");
  assertEquals(s.jobs.list[0]!.outcome, undefined);
});

test("SEC-01 PRC-04 a job has no input and no credentials", async (s) => {
  Deno.env.set("MY_TOKEN", "canary");
  try {
    const said = await start(s.ws, "cat; env | grep -c canary", 60_000);
    assertEquals(said, "exit code: 1\noutput:\n0");
  } finally {
    Deno.env.delete("MY_TOKEN");
  }
});

/** A job that runs no program; without an outcome it is one that runs. */
function played(command: string, outcome?: string): Job {
  return {
    ...{ command, outcome, number: 0, elapsedMs: 0, isReported: false },
    ...{ tail: () => "", report: () => Promise.resolve(""), kill: () => {} },
    stop: () => Promise.resolve(),
  };
}

Deno.test("of the jobs that ended, the oldest are forgotten where more than 20 are listed", async () => {
  await using jobs = jobStore();
  const numbers = () => jobs.list.map(({ number }) => number);
  const upTo = (last: number, first = 1) =>
    Array.from({ length: last - first + 1 }, (_, i) => first + i);
  for (let i = 0; i < 20; i++) jobs.add(played("make", "exit code 0"));
  assertEquals(numbers(), upTo(20));
  jobs.add(played("npm start"));
  assertEquals(numbers(), upTo(21, 2));
  for (let i = 0; i < 19; i++) jobs.add(played("make", "exit code 0"));
  assertEquals(numbers(), upTo(40, 21));
  // The one that runs stays.
  jobs.add(played("make", "exit code 0"));
  assertEquals(numbers(), [21, ...upTo(41, 23)]);
  // The number of a command that was no job is given to the next one.
  const last = jobs.list.at(-1)!;
  jobs.remove(last);
  jobs.add(last);
  assertEquals(last.number, 41);
  jobs.remove(jobs.list[0]!);
  jobs.add(played("make"));
  assertEquals(numbers(), upTo(42, 23));
});

Deno.test("a job in one line", () => {
  const running = Object.assign(played("npm \n\t test "), { number: 2 });
  const ended = Object.assign(played("make", "SIGKILL"), { number: 3 });
  assertEquals(namesOf([running, ended]), "2 (npm test, running), 3 (make, SIGKILL)");
  const note = "[Job 3 is over (make): SIGKILL. job_output shows what it printed.]";
  assertEquals(jobEndNote(ended), note);
  const short = (command: string) => shortCommand(played(command));
  assertEquals(short("x".repeat(60)), "x".repeat(60));
  assertEquals(short("x".repeat(61)), `${"x".repeat(59)}…`);
  assertEquals(short("😀".repeat(31)), `${"😀".repeat(29)}\ufffd…`);
  assertEquals(short(`${" ".repeat(999)}xy`), "x");
});

test("a job that fails tells the limits of what confines it", async (s) => {
  s.ws.context.confine = (program, args) =>
    Promise.resolve({ program, args: [...args], limits: "no network" });
  assertEquals(await start(s.ws, "exit 3", 60_000), "exit code: 3\nno network\nno output");
  assertEquals(await start(s.ws, "true", 60_000), "exit code: 0\nno output");
  await start(s.ws, "exec sleep 1000");
  assertEquals((await look(s.ws, 1, { stop: true })).includes("no network"), false);
});
