/** The ends of an exam: a signal, a server that goes away, no sandbox; and what is stored, tuned and ranked. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runTasks } from "../../../src/cli/exam/run_task.ts";
import { compatConfig } from "../../../src/config.ts";
import { examScores } from "../../../src/records/exams.ts";
import { Output } from "../../../src/ui/terminal/stdio.ts";
import { ignore } from "../../helpers/git_repository.ts";
import { command, ENTRY, run } from "../../helpers/program.ts";
import { folderWithState, tempFolder } from "../../helpers/temp_folder.ts";
import { noTmux, terminal } from "../../helpers/tmux.ts";
import { waitUntil } from "../../helpers/wait_until.ts";
import { type Asked, examModel, perfect, SEED, tasks } from "./exam_model.ts";

const test = (name: string, fn: () => Promise<void>, isIgnored = ignore) =>
  Deno.test({ name, ignore: isIgnored, fn });
const flagsFor = (url: string) => ["--local", "--host", url, "-m", "test", "--seed", `${SEED}`];

/** Runs some tasks in this process, with a server that is not tried again by the session. */
async function sitAt(url: string, some: number, seconds = 60) {
  using _state = folderWithState();
  const output = new Output({ write: (bytes) => Promise.resolve(bytes.length) }, () => {});
  const { signal } = new AbortController();
  const config = { compat: compatConfig({ baseUrl: `${url}/v1`, model: "test", maxRetries: 0 }) };
  return await runTasks(
    tasks.slice(0, some),
    { config, args: {}, seed: SEED, seconds, window: 32_768 },
    { stdout: output, stderr: output, stop() {}, signal },
  );
}

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
  const back = await sitAt(once.url, 3);
  assertEquals(back.ended, undefined);
  assertEquals(back.results.map(({ why }) => why), [undefined, undefined, undefined]);
  await using twice = examModel((asked) => asked.name === tasks[0]!.name ? perfect(asked) : BROKEN);
  const gone = await sitAt(twice.url, 3);
  assertEquals(gone.results.length, 1);
  assertMatch(gone.ended!, /^the server failed after 1 of 3 tasks: /);
});

test("exam: a server that stays away, or answers no task, ends it", async () => {
  const closed = examModel(perfect);
  await closed[Symbol.asyncDispose]();
  assertMatch((await sitAt(closed.url, 3, 1)).ended!, /^the server failed after 0 of 3 tasks: /);
  await using broken = examModel(() => ({ error: { status: 500, message: "out of memory" } }));
  const { results, ended } = await sitAt(broken.url, 5);
  assertEquals(results.length, 3);
  assertMatch(ended!, /^none of the first 3 tasks got an answer: .*out of memory/);
});

test("exam: Ctrl-C keeps what is done, and a complete result stays", async () => {
  using temp = tempFolder();
  Deno.mkdirSync(`${temp.path}/work`);
  const env = { XDG_STATE_HOME: `${temp.path}/state`, XDG_CONFIG_HOME: `${temp.path}/config` };
  const options = { cwd: `${temp.path}/work`, env };
  let isWaiting = false;
  await using server = examModel((asked) => {
    if (!asked.name.startsWith("fix")) return perfect(asked);
    isWaiting = true;
    return { text: "Wait", hang: true };
  });
  const interrupted = async () => {
    isWaiting = false;
    const child = command(["exam", ...flagsFor(server.url), "--quick"], options).spawn();
    await waitUntil(() => isWaiting);
    child.kill("SIGINT");
    const { code, stdout } = await child.output();
    return [code, new TextDecoder().decode(stdout)] as const;
  };
  const [code, stdout] = await interrupted();
  assertEquals(code, 130);
  assertMatch(
    stdout,
    /\n {2}call {5}1\/1\n[^]*\n {2}rules {4}1\/1\n[^]*\n {2}stopped after 6 of 8 tasks\n/,
  );
  assertMatch(stdout, /\ntest · 6\/6 \(of 8\)\n$/);
  assertEquals(
    Array.from(Deno.readDirSync(`${temp.path}/state/copilot`), ({ name }) => name).sort()
      .filter((name) => /exam|session/.test(name)),
    ["exam.json"],
  );
  const stored = () => JSON.parse(Deno.readTextFileSync(`${temp.path}/state/copilot/exam.json`));
  const key = `${new URL(server.url).host}#test`;
  assertEquals(stored()[key].ran, 6);
  await using other = examModel(perfect);
  assertEquals((await run(["exam", ...flagsFor(other.url), "--quick"], options)).code, 0);
  assertEquals(stored()[`${new URL(other.url).host}#test`].passed, 8);
  assertEquals(stored()[key].passed, 6);
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

test("exam --all: ranks all models of the servers, without those that write no text", async () => {
  using temp = tempFolder();
  Deno.mkdirSync(`${temp.path}/work`);
  await using server = examModel(perfect, { models: ["lazy", "bright", "text-embedding-3"] });
  const env = {
    ...{ XDG_STATE_HOME: `${temp.path}/state`, XDG_CONFIG_HOME: `${temp.path}/config` },
    OLLAMA_HOST: server.url,
  };
  const words = ["exam", "--all", "--quick", "--only", "call", "--seed", `${SEED}`];
  const { stdout, stderr } = await run(words, { cwd: `${temp.path}/work`, env });
  const host = new URL(server.url).host;
  assertMatch(stdout, new RegExp(`\n  bright · 3/3 · ${host}\n`), stderr);
  assertMatch(stdout, new RegExp(`\n  lazy · 0/3 · ${host}\n`));
  assertEquals(stdout.includes("embedding"), false);
  assertEquals(stdout.lastIndexOf("  bright") < stdout.lastIndexOf("  lazy"), true);
});

/** Solves tasks of the skill `edit` only if the tools are described in the prompt. */
const textOnly = (asked: Asked) =>
  asked.name.startsWith("edit") && asked.hasTools ? { text: "I have no tools." } : perfect(asked);

test(
  "exam --tune: tries other settings for what failed, and saves the better one with a yes",
  async () => {
    await using server = examModel(textOnly);
    await using tty = await terminal({ columns: 100, rows: 60 });
    const flags = [...flagsFor(server.url), "--quick"].join(" ");
    await tty.type(`$DENO run -A --quiet --no-prompt $ENTRY exam ${flags}\r`);
    const rows = await tty.until("Try other settings for 1 failed task");
    assertEquals(rows.filter((row) => /^[1-8]\/8 /.test(row)).length, 8, rows.join("\n"));
    assertMatch(
      rows.join("\n"),
      /^3\/8 ✗ edit-alike \(.*\): proxy.conf differs from what was asked$/m,
    );
    await tty.type("y\r");
    await tty.until("text-tools: 8/8 instead of 7/8");
    await tty.until("Save this for test in config.json?");
    await tty.type("y\r");
    await tty.until("Saved.");
    const saved = Deno.readTextFileSync(`${tty.folder}/../config/copilot/config.json`);
    assertEquals(JSON.parse(saved), { models: { test: { "text-tools": true } } });
  },
  ignore || noTmux !== "",
);

test("exam --tune: without a terminal, prints what to save", async () => {
  using temp = tempFolder();
  Deno.mkdirSync(`${temp.path}/work`);
  await using server = examModel(textOnly);
  const env = { XDG_STATE_HOME: `${temp.path}/state`, XDG_CONFIG_HOME: `${temp.path}/config` };
  const options = { cwd: `${temp.path}/work`, env };
  const words = ["exam", ...flagsFor(server.url), "--quick", "--only", "edit", "--tune"];
  const { stdout, stderr } = await run(words, options);
  assertStringIncludes(
    stdout,
    'add to config.json: {"models":{"test":{"text-tools":true}}}',
    stderr,
  );
  using _state = folderWithState();
  assertEquals(examScores()("127.0.0.1:1", "test"), "");
});
