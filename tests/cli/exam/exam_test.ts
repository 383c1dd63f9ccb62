/** `copilot exam` with scripted models of known skill: each gets the score that it deserves. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { runExam } from "../../../src/cli/exam/exam.ts";
import { scoreOf, type TaskResult } from "../../../src/cli/exam/report.ts";
import { scoreText } from "../../../src/records/exams.ts";
import { UsageError } from "../../../src/errors.ts";
import { Output } from "../../../src/ui/terminal/stdio.ts";
import { ignore } from "../../helpers/git_repository.ts";
import { bash, use } from "../../helpers/strict_server.ts";
import { type Asked, examine, examModel, perfect, solutionOf } from "./exam_model.ts";

const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, ignore, fn });

test("exam: a perfect model passes all, in a table and a line to paste", async () => {
  await using server = examModel(perfect);
  const { code, stdout, stderr } = await examine(server.url, []);
  assertEquals(code, 0, stderr);
  assertStringIncludes(stdout, "\n  memory   3/3\n");
  assertMatch(stdout, /\n {2}24 calls, 0 repaired\n/);
  assertMatch(stdout, /\ntest · 24\/24\n$/);
  assertEquals(stderr.match(/^ ?\d+\/24 ✓ /gm)?.length, 24);
  assert(!stderr.includes("\x1b"), "plain lines in a pipe");
  assertEquals(server.requests.filter(({ problem }) => problem), []);
  const loads = server.others.filter((one) => one.startsWith("/api/generate"));
  assertEquals(loads, ['/api/generate {"model":"test","shift":false,"options":{"num_ctx":32768}}']);
  // The model sees neither the check nor its files.
  assert(!server.requests.some(({ text }) => text.includes("fail()") || text.includes("check.sh")));
});

/** Models that deserve to pass nothing. */
const HOPELESS: Record<string, (asked: Asked) => ReturnType<typeof perfect>> = {
  "/models/lies.gguf": () => ({ text: "All done: I changed the files, and the tests pass." }),
  refuses: () => ({ text: "I cannot help with that." }),
  silent: () => ({ text: "" }),
  broken: () => ({
    toolCalls: [{ name: "write_file", arguments: '{"file_path": , content ][ "' }],
  }),
  loops: () => use("glob_files", { pattern: "*" }),
  endless: ({ results }) => use("glob_files", { pattern: `*.${results}` }),
  unstopped: () => ({ text: "and so on ".repeat(20_000), finish: "length" }),
};

test("exam --all: ranks all models of the servers, each with what it deserves", async () => {
  const models = Object.keys(HOPELESS);
  await using server = examModel((asked) => HOPELESS[asked.model]!(asked), {
    models: [...models, "text-embedding-3"],
  });
  await using other = examModel((asked) => perfect({ ...asked, hasTools: false }));
  const words = ["--only", "call, stop", "--max-turns", "9"];
  const env = { OLLAMA_HOST: other.url };
  const { code, stdout, stderr } = await examine(`${server.url}/v1`, words, env);
  assertEquals(code, 0, stderr);
  const [host, otherHost] = [server, other].map(({ url }) => new URL(url).host);
  // Calls as text count, and are shown as repaired.
  assertMatch(
    stdout,
    /\ntest at .*\n {2}call {5}3\/3\n {2}stop {5}3\/3\n\n {2}6 calls, 6 repaired\n/,
  );
  const ranking = stdout.split("\n").filter((line) => / · 127\.0\.0\.1:\d+$/.test(line));
  assertEquals(ranking[0], `  test · 6/6 (--max-turns 9, --only call, stop) · ${otherHost}`);
  const names = models.map((name) => name.split("/").at(-1));
  assertEquals(
    ranking.filter((line) => line.endsWith(` · ${host}`)).sort(),
    names.map((name) => `  ${name} · 0/5 (of 6, --max-turns 9, --only call, stop) · ${host}`)
      .sort(),
  );
  for (const name of names) {
    const table = stdout.split(`\n${name} at ${host}\n`)[1]!.split("\n\n", 2).join("\n");
    assertEquals(
      /called no tool: copilot doctor/.test(table),
      /lies|refuses|silent|unstopped/.test(name!),
      table,
    );
    assertMatch(table, /\n {2}none of the first 5 tasks passed: the others did not run$/);
  }
});

test("exam: what a model does wrong is what fails", async () => {
  const sizes: Record<string, number> = {};
  await using server = examModel((asked) => {
    const { name, results, chars } = asked;
    sizes[name] = Math.max(sizes[name] ?? 0, chars);
    const isFirst = results === 0;
    // Forgets at half of the window, which a session limits to 32,768 tokens.
    const text = chars > 60_000 ? "" : asked.text;
    if (/^fix/.test(name) && isFirst) return bash("for file in test*; do echo >$file; done");
    if (/^stop-once/.test(name) && results < 5) {
      return bash(`sleep 0.${results}; ${solutionOf(name)}`);
    }
    if (/^write/.test(name) && isFirst) {
      return bash("echo nearly >table.csv; cp notes.txt release.json");
    }
    const usage = { inputTokens: 100, outputTokens: /thinking/.test(name) ? 2001 : 5 };
    return { ...perfect({ ...asked, text }), usage };
  });
  const some = "call-read,memory,fix,stop-once,stop-thinking,write";
  const url = server.url.replace("//", "//bob:secret@");
  const { failed, passed, json, stdout } = await examine(url, ["--json", "--only", some]);
  assertEquals([json.models[0].isLocal, stdout.includes("secret")], [true, false]);
  assertEquals(failed, {
    "fix-one": "test_paging.py was changed",
    "fix-shell": "test.sh was changed",
    "fix-two": "test_ledger.py was changed",
    "memory-50": "server.txt has another value",
    "memory-90": "label.txt has another value",
    "stop-once": "5 calls, at most 4 allowed",
    "stop-thinking": "4002 tokens written, at most 4000 allowed",
    "write-long": "table.csv is wrong from line 1 on",
    "write-module": "the tests fail: ModuleNotFoundError: No module named 'slug'",
    "write-schema": "release.json does not match schema.json or notes.txt",
  }, JSON.stringify(sizes));
  assertEquals(passed.sort(), ["call-read", "memory-25"]);
});

test("exam: without flags of its own, refuses others; --help lists them", async () => {
  let text = "";
  const write = (bytes: Uint8Array) => {
    text += new TextDecoder().decode(bytes);
    return Promise.resolve(bytes.length);
  };
  const output = new Output({ write }, () => {});
  const run = { stdout: output, stderr: output, stop() {}, signal: new AbortController().signal };
  assertEquals(await runExam(["--help"], run), 0);
  await output.drained();
  assertMatch(text, /^Usage:\n {2}copilot exam /);
  for (
    const [words, error] of [
      [["--seed", "x"], '--seed must be a whole number from 0: it is "x"'],
      [["--seconds="], '--seconds must be a whole number from 1 to 1000000: it is ""'],
      [["--only", "fixx"], 'There is no task "fixx": there are call, '],
      [["--quick=yes"], 'Unknown flag "--quick"'],
      [["--tune", "--json"], "--tune and --json exclude each other"],
      ...[["--continue"], ["--approve", "ask"], ["--network"], ["--version"], ["now"]].map((
        words,
      ) => [words, "exam takes only flags of its own and of models: copilot exam --help"] as const),
    ] as const
  ) {
    await assertRejects(() => runExam(words, run), UsageError, error);
  }
});

Deno.test("exam: the score says what is unusual, and only a usual one is whole", () => {
  const result = (passed: boolean, isLate?: true): TaskResult => ({
    ...{ task: "", skill: "fix", passed, seconds: 1, calls: 1, repaired: 0, chars: 1, answers: [] },
    ...isLate && { isLate },
  });
  const some = [result(true), result(false, true)];
  const rows = [scoreOf(some, 2, []), scoreOf(some, 3, []), scoreOf(some, 2, ["--quick"])];
  assertEquals(rows.map((score) => [scoreText(score), score.isWhole]), [
    ["1/2 (1 timed out)", true],
    ["1/2 (of 3, 1 timed out)", false],
    ["1/2 (--quick, 1 timed out)", false],
  ]);
});
