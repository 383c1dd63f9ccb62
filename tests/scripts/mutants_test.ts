import { assertEquals } from "@std/assert/equals";
import { assertRejects } from "@std/assert/rejects";
import { ensureDir } from "@std/fs/ensure-dir";
import { existsSync } from "@std/fs/exists";
import { dirname } from "@std/path/dirname";
import {
  choose,
  describe,
  type Mutant,
  testsByFile,
  tryAll,
  Workshop,
} from "../../scripts/mutants.ts";
import plugin, { type Break } from "../../scripts/mutants_plugin.ts";
import { tempFolder } from "../helpers/temp_folder.ts";
import { posixTest as test } from "../helpers/test_unless.ts";

function breaksOf(source: string): Break[] {
  return Deno.lint.runPlugin(plugin, "a.ts", source).map(({ message }) => JSON.parse(message))
    .sort((a: Break, b: Break) => a.start - b.start || a.end - b.end);
}

function broken(source: string, { start, end, after }: Break): string {
  return source.slice(0, start) + after + source.slice(end);
}

const ROWS: [source: string, broken: string[]][] = [
  ["a < b", ["a >= b", "a <= b"]],
  ["(a /* é日𝒳 */) >= (b)", ["(a /* é日𝒳 */) < (b)", "(a /* é日𝒳 */) > (b)"]],
  ["a === b", ["a !== b"]],
  ["a + b - c * d", []],
  ["f(!a, !!b)", ["f(a, !!b)"]],
  ["!(a && b)", ["(a && b)", "!(a || b)"]],
  ["a ?? b", []],
  ["if (a) b()", ["if (!(a)) b()"]],
  ["if (a?.b) { c(); return }", ["if (!(a?.b)) { c(); return }", "if (a?.b) { c(); {} }"]],
  ["if (a === b) throw c", ["if (a !== b) throw c", "if (a === b) {}"]],
  ["if (a === b) return; else c()", ["if (a !== b) return; else c()"]],
  ["f(a() ? b : c)", ["f(!(a()) ? b : c)"]],
  ["f(0, 9)", ["f(1, 9)", "f(0, 10)"]],
  ["f(1_000)", ["f(0)", "f(10000)"]],
  ["f(true)", ["f(false)"]],
  ["`a ${b < c} 1`", ["`a ${b >= c} 1`", "`a ${b <= c} 1`"]],
  // Texts, comments, types and tables of numbers stay as they are.
  ["f('a < 1 && true') // a < 1", []],
  ["type A = 1 | true; const b: A | -1 = c as 1", []],
  ["f([1, 2, 3, 4, 5, 6, 7, 8, 9])", []],
];

for (const [source, expected] of ROWS) {
  Deno.test(`mutants: ${source}`, () => {
    const body = `function t() { for (;;) { ${source} } }`;
    const all = breaksOf(body).map((one) => broken(body, one).slice(26, -4));
    assertEquals(all, expected);
  });
}

Deno.test("mutants: the same seed makes the same choice, in which kinds are as likely as others", () => {
  const candidates = Array.from({ length: 1000 }, (_, start): Mutant => ({
    file: "a",
    kind: start < 100 ? "exit" : "constant",
    start,
    end: start,
    after: "",
  }));
  const chosen = choose(candidates, 100, 1);
  assertEquals(choose(candidates.toReversed(), 100, 1), chosen);
  assertEquals(choose(candidates, 100, 2) === chosen, false);
  assertEquals(new Set(chosen).size, 100);
  const exits = chosen.filter(({ kind }) => kind === "exit").length;
  assertEquals(exits > 30 && exits < 70, true, `${exits}`);
  assertEquals(choose(candidates, 2000, 1).length, 1000);
});

Deno.test("mutants: a break is described by its line, before and after", () => {
  const source = "a();\n  if (b)  {\n    return;\n  }\n";
  const [negated, removed] = breaksOf(`function f() {\n${source}}`);
  assertEquals(describe(`function f() {\n${source}}`, negated!), [3, "if (b) {", "if (!(b)) {"]);
  assertEquals(describe(`function f() {\n${source}}`, removed!), [4, "return;", "{}"]);
});

const PROJECT: Record<string, string> = {
  "deno.json": "{}",
  "main.ts": `import "./src/cli/run.ts";`,
  "src/cli/run.ts": "",
  "src/a/b.ts": "export const near = () => 1 < 2;\nexport const far = () => 1 < 2;\n",
  "src/a/c.ts":
    `export { far } from "./b.ts"; export const url = new URL("./d.ts", import.meta.url);`,
  "src/a/d.ts": "",
  "src/a/e.ts": "",
  "tests/helper.ts": `export { far } from "../src/a/c.ts";`,
  "tests/a/b_test.ts": `import { near } from "../../src/a/b.ts";
    Deno.test("near", () => { if (!near()) throw 1; });`,
  "tests/a/a_test.ts": `import { near } from "../../src/a/b.ts"; Deno.test("x", () => void near);
    const program = import.meta.resolve("../program.ts");`,
  "src/a/f/deep.ts": "",
  "src/a/f/user.ts": `import "./deep.ts";`,
  "tests/b/direct_test.ts": `import "../../src/a/f/deep.ts";`,
  "tests/a/user_test.ts": `import "../../src/a/f/user.ts";`,
  "tests/a/f_user_test.ts": "",
  "tests/a/x_deep_test.ts": `import "../../src/a/f/user.ts";`,
  "tests/q/deep_test.ts": `import "../../src/a/f/user.ts";`,
  "tests/program.ts": `import "../src/a/e.ts";`,
  "tests/z_test.ts": `import { far } from "./helper.ts"; const main = "main.ts";
    Deno.test("far", () => { if (!far() || Deno.cwd().includes("project")) throw main; });`,
  // One of the tests fails anyway.
  "tests/y_test.ts": `import { far } from "../src/a/b.ts";
    Deno.test("far (\\\\ # 1.5)", () => { if (!far()) throw 1; });
    Deno.test("never passes", () => { throw 1; });`,
};

async function project(): Promise<{ root: string } & AsyncDisposable> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "a b #" }));
  const root = `${folder}/project`;
  for (const [path, text] of Object.entries(PROJECT)) {
    await ensureDir(dirname(`${root}/${path}`));
    await Deno.writeTextFile(`${root}/${path}`, text);
  }
  return { root, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}

Deno.test("mutants: the tests of a file are those that reach it, the nearest first", async () => {
  await using made = await project();
  const tests = await testsByFile(made.root);
  assertEquals(tests.get("src/a/b.ts"), [
    "tests/a/b_test.ts",
    "tests/a/a_test.ts",
    "tests/y_test.ts",
    "tests/z_test.ts",
  ]);
  assertEquals(tests.get("src/a/d.ts"), ["tests/z_test.ts"]);
  assertEquals(tests.get("src/a/e.ts"), ["tests/a/a_test.ts"]);
  assertEquals(tests.get("src/cli/run.ts"), ["tests/z_test.ts"]);
  // One of the file's name, then one of its room, however many files lie between.
  assertEquals(tests.get("src/a/f/deep.ts"), [
    "tests/q/deep_test.ts",
    "tests/a/x_deep_test.ts",
    "tests/a/f_user_test.ts",
    "tests/a/user_test.ts",
    "tests/b/direct_test.ts",
  ]);
});

/** Mutants of `src/a/b.ts`: one for each `<`. */
const MUTANTS = [...PROJECT["src/a/b.ts"]!.matchAll(/</g)].map(({ index }): Mutant => ({
  file: "src/a/b.ts",
  kind: "comparison",
  start: index,
  end: index + 1,
  after: ">",
}));

test("mutants: each is tried in a copy, by the nearest tests first", async () => {
  await using made = await project();
  const verdicts: [number, string][] = [];
  const trial = {
    root: made.root,
    mutants: MUTANTS,
    tests: new Map([["src/a/b.ts", ["tests/a/b_test.ts", "tests/z_test.ts"]]]),
    jobs: 2,
    signal: new AbortController().signal,
    onVerdict: (one: Mutant, result: string) => void verdicts.push([one.start, result]),
  };
  const [near, far] = MUTANTS.map(({ start }) => start) as [number, number];
  assertEquals(await tryAll(trial), ["failed", "failed"]);
  assertEquals(verdicts.sort(([a], [b]) => a - b), [[near, "failed"], [far, "failed"]]);
  // A test that fails unbroken does not count, and those beside it do.
  const tests = new Map([["src/a/b.ts", ["tests/a/a_test.ts", "tests/y_test.ts"]]]);
  assertEquals(await tryAll({ ...trial, tests }), ["passed", "failed"]);
  const endless = MUTANTS.map((one) => ({ ...one, after: ";for (;;);" }));
  assertEquals(await tryAll({ ...trial, mutants: endless.slice(0, 1), spareMs: 0 }), ["too long"]);
  assertEquals(await Deno.readTextFile(`${made.root}/src/a/b.ts`), PROJECT["src/a/b.ts"]);
});

Deno.test("mutants: the tests of a broken program write in its copy alone", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using made = await project();
  using temp = tempFolder();
  const folder = temp.path;
  const workshop = await Workshop.open(folder, made.root, new AbortController().signal);
  const copy = await workshop.copy("copy");
  const outside = `${made.root}/written`;
  for (const file of [outside, `${copy}/written`]) {
    const write = `Deno.test("z", () => Deno.writeTextFileSync(${JSON.stringify(file)}, ""));`;
    await Deno.writeTextFile(`${copy}/tests/z_test.ts`, write);
    const result = await workshop.test(copy, { files: ["tests/z_test.ts"] }, 30_000);
    // Where the system has no isolation, both are written.
    const expected = file === outside && workshop.isIsolated ? "failed" : "passed";
    assertEquals([file, result, existsSync(file)], [file, expected, expected === "passed"]);
  }
});

test("mutants: an interrupt ends the tests and leaves no copy behind", async () => {
  await using made = await project();
  const temporary = `${made.root}/../temporary`;
  await ensureDir(temporary);
  const stop = new AbortController();
  const { TMPDIR } = Deno.env.toObject();
  Deno.env.set("TMPDIR", temporary);
  try {
    await Deno.writeTextFile(`${made.root}/tests/z_test.ts`, "for (;;);");
    const trial = {
      root: made.root,
      mutants: MUTANTS,
      tests: new Map([["src/a/b.ts", ["tests/a/b_test.ts"]]]),
      jobs: 1,
      signal: stop.signal,
      onVerdict: () => stop.abort(),
    };
    await assertRejects(() => tryAll(trial), DOMException);
  } finally {
    if (TMPDIR === undefined) Deno.env.delete("TMPDIR");
    else Deno.env.set("TMPDIR", TMPDIR);
  }
  assertEquals([...Deno.readDirSync(temporary)], []);
});
