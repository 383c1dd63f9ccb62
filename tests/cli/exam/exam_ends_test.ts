/** The ends of an exam: time limits, a signal, a server that goes away, no sandbox; and what is stored and tuned. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { modelAt } from "../../../src/cli/exam/exam.ts";
import { earlyEnd, runTasks } from "../../../src/cli/exam/run_task.ts";
import type { ExamTask } from "../../../src/cli/exam/tasks.ts";
import { compatConfig } from "../../../src/config.ts";
import { type ExamScore, examScores, keepScore } from "../../../src/records/exams.ts";
import { Output } from "../../../src/ui/terminal/stdio.ts";
import { ignore } from "../../helpers/git_repository.ts";
import { command, ENTRY } from "../../helpers/program.ts";
import { folderWithState, tempFolder } from "../../helpers/temp_folder.ts";
import type { Step } from "../../helpers/strict_server.ts";
import { noTmux, terminal } from "../../helpers/tmux.ts";
import { type Asked, examine, examModel, perfect, SEED, tasks } from "./exam_model.ts";

const test = (name: string, fn: () => Promise<void>, isIgnored = ignore) =>
  Deno.test({ name, ignore: isIgnored, fn });
const flagsFor = (url: string) => ["--local", "--host", url, "-m", "test", "--seed", `${SEED}`];

/** Runs tasks in this process, with a server that is not tried again by the session. */
async function sitAt(url: string, some: readonly ExamTask[], seconds = 60, more = {}) {
  using _state = folderWithState();
  const output = new Output({ write: (bytes) => Promise.resolve(bytes.length) }, () => {});
  const { signal } = new AbortController();
  const config = { compat: compatConfig({ baseUrl: `${url}/v1`, model: "test", maxRetries: 0 }) };
  return await runTasks(
    some,
    { ...{ config, args: {}, seed: SEED, seconds, window: 32_768, ...more } },
    { stdout: output, stderr: output, stop() {}, signal },
  );
}

const firstTasks = (count: number) => tasks.slice(0, count);

/** An answer whose connection breaks. */
const BROKEN = {
  text: "One moment, please.",
  *garble(pieces: string[]) {
    yield pieces[0]!;
    throw new Error("reset");
  },
};

test("exam: a server that goes away is waited for once", async () => {
  let resets = 0;
  await using once = examModel((asked) =>
    asked.name === tasks[1]!.name && resets++ === 0 ? BROKEN : perfect(asked)
  );
  const back = await sitAt(once.url, firstTasks(3));
  assertEquals(back.ended, undefined);
  assertEquals(back.results.map(({ why }) => why), [undefined, undefined, undefined]);
  await using twice = examModel((asked) => asked.name === tasks[0]!.name ? perfect(asked) : BROKEN);
  const gone = await sitAt(twice.url, firstTasks(3));
  assertEquals(gone.results.length, 1);
  assertMatch(gone.ended!, /^the server failed after 1 of 3 tasks: /);
});

test("exam: a server that stays away, or answers no task, ends it", async () => {
  const closed = examModel(perfect);
  await closed[Symbol.asyncDispose]();
  assertMatch(
    (await sitAt(closed.url, firstTasks(3), 5)).ended!,
    /^the server failed after 0 of 3 tasks: /,
  );
  const away = await examine(closed.url, []);
  assertEquals([away.code, away.stdout], [1, ""]);
  assertMatch(away.stderr, /^copilot: Nothing answers at [^ ]*\. Start a server [^\n]*\n$/);
  await using server = examModel(perfect, { models: ["other"] });
  const named = { compat: compatConfig({ baseUrl: `${server.url}/v1`, model: "test" }) };
  const { notes } = await modelAt(named, true, new AbortController().signal);
  assertEquals(notes, ["the server's only model is other, not test"]);
  await using broken = examModel(() => ({ error: { status: 500, message: "out of memory" } }));
  const { results, ended } = await sitAt(broken.url, firstTasks(5));
  assertEquals(results.length, 3);
  assertMatch(ended!, /^none of the first 3 tasks got an answer: .*out of memory/);
});

test("exam: a task whose files cannot be copied fails, and the others run", async () => {
  await using server = examModel(perfect);
  const [first, second] = firstTasks(2);
  const copyTo = () => Promise.reject(new Error("no such device"));
  const { results } = await sitAt(server.url, [{ ...first!, copyTo }, second!]);
  assertEquals(results.map(({ why }) => why), ["no such device", undefined]);
});

test("exam: a task ends at its limit, also if the model is silent", async () => {
  const over = Promise.withResolvers<Step>();
  const [late, silent, last] = firstTasks(3);
  await using server = examModel((asked) =>
    asked.name === late!.name
      ? { text: "Wait", hang: true }
      : asked.name === silent!.name
      ? over.promise
      : perfect(asked)
  );
  const some = [{ ...late!, seconds: 2 }, silent!, { ...last!, seconds: 60 }];
  const { results } = await sitAt(server.url, some, 1, { runsAll: true });
  over.resolve({ text: "" });
  assertEquals(results.map(({ why, chars }) => [why, chars > 0]), [
    ["not done within 2 s", true],
    ["not done within 1 s", false],
    [undefined, true],
  ]);
});

Deno.test("exam: without a pass, it ends after five tasks, or half as much again as a limit", () => {
  const end = (seconds: number[], more: { passed?: true; chars?: number } = {}, starts = false) => {
    const usual = { task: "", skill: "", passed: false, calls: 0, repaired: 0, chars: 9 };
    return earlyEnd(
      seconds.map((seconds, at) => ({
        ...{ ...usual, answers: [], seconds, why: "late", ...more },
        ...starts && at === 0 && { passed: true },
      })),
      24,
      300,
    );
  };
  const ended = "none of the first 5 tasks passed: the others did not run";
  assertEquals([end([9, 9, 9, 9]), end([9, 9, 9, 9, 9])], [undefined, { ended, isHopeless: true }]);
  assertEquals(end([300, 149]), undefined);
  assertMatch(end([300, 300])!.ended, /^none of the first 2 tasks passed in 600 s \(--seconds N /);
  assertEquals(end([300, 300, 9, 9, 9], { passed: true }), undefined);
  assertEquals(end([0, 300, 300], {}, true), undefined);
  const late = /^none of the last 3 tasks passed in 900 s \(--seconds N allows more\): /;
  assertMatch(end([0, 300, 300, 300], {}, true)!.ended, late);
  assertMatch(end([300, 300], { chars: 0 })!.ended, /^none .* 2 tasks got an answer: late$/);
});

test("exam: the written tokens are limited, also if the server does not count them", async () => {
  const thinking = tasks.find(({ name }) => name === "stop-thinking")!;
  const reasoning = Array.from({ length: 3000 }, (_, at) => `step ${at}`).join(" ");
  for (
    const [step, why] of [[{ usage: null, reasoning }, /^14\d{3} tokens /], [{}, /^$/]] as const
  ) {
    await using server = examModel((asked) => ({ ...perfect(asked), ...step }));
    const { results } = await sitAt(server.url, [thinking]);
    assertMatch(results[0]!.why ?? "", why);
  }
});

test("exam: Ctrl-C keeps what is done, and a complete result stays", async () => {
  using temp = tempFolder();
  Deno.mkdirSync(`${temp.path}/work`);
  const env = { XDG_STATE_HOME: `${temp.path}/state`, XDG_CONFIG_HOME: `${temp.path}/config` };
  const options = { cwd: `${temp.path}/work`, env };
  const waiting = Promise.withResolvers<void>();
  await using server = examModel((asked) => {
    if (!asked.name.startsWith("edit")) return perfect(asked);
    waiting.resolve();
    return { text: "Wait", hang: true };
  });
  const child = command(["exam", ...flagsFor(server.url), "--quick"], options).spawn();
  await waiting.promise;
  child.kill("SIGINT");
  const { code, stdout } = await child.output();
  assertEquals(code, 130);
  const text = new TextDecoder().decode(stdout);
  assertMatch(
    text,
    /\n {2}call {5}1\/1\n {2}search {3}1\/1\n[^]*\n {2}stopped after 2 of 8 tasks\n/,
  );
  assertMatch(text, /\ntest · 2\/2 \(of 8, --quick\)\n$/);
  assertEquals(
    Array.from(Deno.readDirSync(`${temp.path}/state/copilot`), ({ name }) => name).sort()
      .filter((name) => /exam|session|cache/.test(name)),
    ["exam.json"],
  );
  const stored = JSON.parse(Deno.readTextFileSync(`${temp.path}/state/copilot/exam.json`));
  assertEquals(stored[`${new URL(server.url).host}#test`].ran, 2);
  using _state = folderWithState();
  const part = { passed: 2, ran: 2, notes: ["of 8"], isWhole: false };
  const scoreAfter = async (...scores: ExamScore[]) => {
    for (const score of scores) await keepScore("localhost:1", "test", score);
    return examScores()("127.0.0.1:1", "test:latest");
  };
  assertEquals(await scoreAfter(part, { ...part, ran: 1 }), "exam 2/2 (of 8)");
  const complete = { passed: 5, ran: 8, notes: [], isWhole: true };
  assertEquals(await scoreAfter(complete, part), "exam 5/8");
});

test("exam: without a sandbox, it runs nothing", async () => {
  await using server = examModel(perfect);
  using temp = tempFolder();
  const all = ["--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"];
  const hidden = ["--ro-bind", "/dev/null", "/usr/bin/bwrap"];
  const words = ["run", "-A", "--no-prompt", ENTRY, "exam", ...flagsFor(server.url)];
  const { code, stdout, stderr } = await new Deno.Command("/usr/bin/bwrap", {
    args: [...all, ...hidden, Deno.execPath(), ...words],
    env: { NO_COLOR: "1", XDG_STATE_HOME: `${temp.path}/state`, XDG_CONFIG_HOME: "/nowhere" },
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assertEquals([code, out, server.requests.length], [1, "", 0], err);
  assertMatch(err!, /^copilot: The exam runs commands of models only in a sandbox\. \S/);
});

/** Solves tasks of the skill `edit` only if the tools are described in the prompt. */
const textOnly = (asked: Asked) =>
  asked.name.startsWith("edit") && asked.hasTools ? { text: "I have no tools." } : perfect(asked);

test(
  "exam --tune: tries other settings for what failed, and saves the better one with a yes",
  async () => {
    await using server = examModel(textOnly);
    await using tty = await terminal({ columns: 100, rows: 60 });
    const flags = [...flagsFor(server.url), "--only", "edit-alike,stop-once"].join(" ");
    const exam = "$DENO run -A --quiet --no-prompt $ENTRY exam";
    // What is typed before the question does not answer it; Ctrl-C does.
    await tty.type(`${exam} ${flags} --only edit-alike >out.txt; echo code $?\ry\ry`);
    await tty.until((rows) => rows.at(-1)?.endsWith("[y/N]") === true);
    await tty.type("\x03");
    await tty.until("code 130");
    await tty.type(`clear; ${exam} ${flags}\r`);
    await tty.until((rows) =>
      /^[12]\/2 ✗ edit-alike \(.*\): proxy.conf differs from what was asked\n[^]*Try other settings for 1 failed task .* \[y\/N\]$/m
        .test(rows.join("\n"))
    );
    await tty.type("y\r");
    await tty.until("--text-tools: 2/2 instead of 1/2");
    await tty.until("Save --text-tools for test in config.json?");
    await tty.type("y\r");
    await tty.until("Saved for copilot -m test");
    const saved = Deno.readTextFileSync(`${tty.folder}/../config/copilot/config.json`);
    assertEquals(JSON.parse(saved), { models: { test: { "text-tools": true } } });
  },
  ignore || noTmux !== "",
);

/** With these flags, tuning tries only calls as text and the other prompt. */
const FEW = ["--tune", "--think", "on", "--temperature", "0.1", "--sampling", "server"];

test("exam --tune: without a terminal, prints what to save, also after a hopeless start", async () => {
  await using server = examModel((asked) =>
    asked.hasTools ? { text: "I have no tools." } : perfect(asked)
  );
  const { stdout, stderr } = await examine(server.url, ["--only", "call,stop", ...FEW]);
  assertMatch(stdout, /\n {2}none of the first 5 tasks passed: the others did not run\n/);
  const settings = '{"models":{"test":{"text-tools":true}}}';
  assertStringIncludes(stdout, "\n--text-tools: 5/5 instead of 0/5\n", stderr);
  assertStringIncludes(stdout, `\nTo keep it for copilot -m test, add to config.json: ${settings}`);
});

test("exam --tune: luck is no gain, and a server that fails ends it", async () => {
  let asked = 0;
  await using once = examModel((one) =>
    one.results === 0 && asked++ === 0 ? { text: "No." } : perfect(one)
  );
  const lucky = await examine(once.url, ["--only", "edit-alike", "--tune"]);
  assertMatch(
    lucky.stderr,
    /· with the same settings:\n1\/1 ✓ [^\n]*\n· no other setting does better\n$/,
  );
  let starts = 0;
  await using dying = examModel((one) => {
    if (one.results === 0 && one.name === "edit-alike") starts++;
    if (starts > 2) return { error: { status: 401, message: "no such key" } };
    return one.name === "edit-alike" ? { text: "No." } : perfect(one);
  });
  const dead = await examine(dying.url, ["--only", "edit-alike,stop-once", "--tune"]);
  assertMatch(
    dead.stderr,
    /\n· the settings were not compared: the server failed after 0 of 1 task/,
  );
  assertEquals([dead.code, dead.stdout.includes("instead of")], [1, false]);
  // The sixth task is the one that other settings may help.
  await using none = examModel(() => ({ text: "No." }));
  assertEquals((await sitAt(none.url, firstTasks(6), 60, { runsAll: true })).results.length, 6);
});
