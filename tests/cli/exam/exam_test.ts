/** `copilot exam` with scripted models of known skill: each gets the score that it deserves. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ignore } from "../../helpers/git_repository.ts";
import { run } from "../../helpers/program.ts";
import { bash, use } from "../../helpers/turn.ts";
import { type Asked, examine, examModel, perfect, solutionOf } from "./exam_model.ts";

const test = (name: string, fn: (t: Deno.TestContext) => Promise<void>) =>
  Deno.test({ name, ignore, fn });
const QUICK = ["--quick", "--json"];

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
  // The model sees neither the check nor its files.
  assert(!server.requests.some(({ text }) => text.includes("fail()") || text.includes("check.sh")));
});

test("exam: calls as text count, and are shown as repaired", async () => {
  await using server = examModel((asked) => {
    return perfect({ ...asked, hasTools: false });
  });
  const { json } = await examine(server.url, QUICK);
  const [{ score, results }] = json.models;
  assertEquals([score.passed, score.ran, score.of], [8, 8, 8]);
  assertEquals(results.map((one: { repaired: number }) => one.repaired), Array(8).fill(1));
});

test("exam: models that do nothing useful pass nothing", async (t) => {
  const lie = { text: "All done: I changed the files, and the tests pass." };
  const models: Record<string, (asked: Asked) => ReturnType<typeof perfect>> = {
    "lies that it is done": () => lie,
    refuses: () => ({ text: "I cannot help with that." }),
    "says nothing": () => ({ text: "" }),
    "writes broken JSON": () => ({
      toolCalls: [{ name: "write_file", arguments: '{"file_path": , content ][ "' }],
    }),
    "repeats one call": () => bash("ls"),
    "calls without end": ({ results }) => use("glob_files", { pattern: `*.${results}` }),
    "never stops": () => ({ text: "and so on ".repeat(20_000), finish: "length" }),
  };
  for (const [name, model] of Object.entries(models)) {
    await t.step(name, async () => {
      await using server = examModel(model);
      const words = ["--json", "--seconds", "60"];
      const { passed, failed, code, json } = await examine(`${server.url}/v1`, words);
      assertEquals([code, passed, Object.keys(failed).length], [0, [], 5]);
      assertEquals(
        json.models[0].ended,
        "none of the first 5 tasks passed: the others did not run",
      );
    });
  }
});

test("exam: what a model does wrong is what fails", async () => {
  const sizes: Record<string, number> = {};
  await using server = examModel((asked) => {
    const { name, results, chars } = asked;
    sizes[name] = Math.max(sizes[name] ?? 0, chars);
    const isFirst = results === 0;
    // Forgets at half of the window, which a session limits to 32,768 tokens.
    if (/^memory/.test(name) && isFirst && chars > 60_000) {
      return bash("echo forgotten | tee code.txt server.txt label.txt");
    }
    if (/^fix/.test(name) && isFirst) return bash("for file in test*; do echo >$file; done");
    if (/^stop-once/.test(name) && results < 5) {
      return bash(`sleep 0.${results}; ${solutionOf(name)}`);
    }
    if (/^write/.test(name) && isFirst) {
      return bash("echo nearly >table.csv; cp notes.txt release.json");
    }
    const usage = { inputTokens: 100, outputTokens: /thinking/.test(name) ? 2001 : 5 };
    return { ...perfect(asked), usage };
  });
  const { failed, passed } = await examine(server.url, ["--json"]);
  const { "fix-one": one, "fix-shell": shell, ...others } = failed;
  assertEquals([one, shell?.slice(0, 14)], ["the tests fail: AssertionError", "the test fails"]);
  assertEquals(others, {
    "fix-two": "the tests fail: ValueError: could not convert string to float: '-700,50'",
    "memory-50": "server.txt has another value",
    "stop-once": "5 calls, at most 4 allowed",
    "stop-thinking": "4002 tokens written, at most 4000 allowed",
    "write-long": "table.csv differs from line 1c1,150",
    "write-module": "the tests fail: ModuleNotFoundError: No module named 'slug'",
    "write-schema": "release.json does not match schema.json or notes.txt",
  }, JSON.stringify(sizes));
  assertEquals(passed.length, 15);
});

test("exam: a task ends at its limit, and a server that hangs does not end the exam", async () => {
  await using server = examModel((asked) =>
    asked.name.startsWith("call") ? { text: "Wait", hang: true } : perfect(asked)
  );
  const { passed, failed, code } = await examine(server.url, [...QUICK, "--seconds", "15"]);
  assertEquals([code, passed.length], [0, 7]);
  assertEquals(Object.values(failed), ["not done within 15 s"]);
});

test("exam: without flags of its own, refuses others; --help lists them", async () => {
  const help = await run(["exam", "--help"]);
  assertEquals([help.code, help.stderr], [0, ""]);
  assertMatch(help.stdout, /^Usage:\n {2}copilot exam /);
  for (
    const [words, error] of [
      [["--seed", "x"], '--seed must be a whole number from 0: it is "x"'],
      [["--seconds="], '--seconds must be a whole number from 1: it is ""'],
      [["--only", "fixx"], 'There is no task "fixx": did you mean fix?'],
      [["now"], "exam takes only flags of its own and of models: copilot exam --help"],
    ] as const
  ) {
    const { code, stderr } = await run(["exam", ...words]);
    assertEquals([code, stderr], [2, `copilot: ${error}\n`]);
  }
});
