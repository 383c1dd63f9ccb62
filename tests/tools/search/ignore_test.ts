import { assert, assertEquals, assertThrows } from "@std/assert";
import { parseIgnore, verdict } from "../../../src/tools/search/ignore.ts";
import { SearchStopped } from "../../../src/tools/search/regex/dfa.ts";
import { randomBelow } from "../../helpers/split.ts";
import { run, testUnless, type Workspace } from "../workspace.ts";

/** Rules, and the paths that they leave out of {@linkcode PATHS}. */
const ROWS: [rules: string, ignored: string][] = [
  ["", ""],
  ["a", "a a/b a/a.js a/sub a/sub/b sub/a"],
  ["a/", "a a/b a/a.js a/sub a/sub/b"],
  ["/a", "a a/b a/a.js a/sub a/sub/b"],
  ["/a/", "a a/b a/a.js a/sub a/sub/b"],
  ["/b", ""],
  ["b", "a/b a/sub/b sub/b"],
  ["a/b", "a/b"],
  ["/a/b", "a/b"],
  ["sub/b", "sub/b"],
  ["**/sub/b", "a/sub/b sub/b"],
  ["a/**", "a/b a/a.js a/sub a/sub/b"],
  ["a/**/b", "a/b a/sub/b"],
  ["a/*/b", "a/sub/b"],
  ["a**/b", "a/b a/sub/b"],
  ["**", "a a/b a/a.js a/sub a/sub/b sub sub/a sub/b x.js x.ts #h !n [x] s\\ "],
  ["*.js", "a/a.js x.js"],
  ["*.js\n!x.js", "a/a.js"],
  ["!x.js\n*.js", "a/a.js x.js"],
  ["a\n!a/b", "a a/b a/a.js a/sub a/sub/b sub/a"],
  ["/*\n!/a\n/a/*\n!/a/b", "a/a.js a/sub a/sub/b sub sub/a sub/b x.js x.ts #h !n [x] s\\ "],
  ["*\n!*.js", "a a/b a/a.js a/sub a/sub/b sub sub/a sub/b x.ts #h !n [x] s\\ "],
  ["# comment\n\n   \n", ""],
  ["#h", ""],
  ["\\#h", "#h"],
  ["!n", ""],
  ["\\!n", "!n"],
  ["x.js   ", "x.js"],
  ["s\\ ", "s\\ "],
  ["s\\   ", "s\\ "],
  ["s ", ""],
  ["x.js\r\n", "x.js"],
  ["x.?s", "x.js x.ts"],
  ["x.[jk]s", "x.js"],
  ["x.[!j]s", "x.ts"],
  ["x.[^j]s", "x.ts"],
  ["x.[s-u]s", "x.ts"],
  ["x.[[:alpha:]]s", "x.js x.ts"],
  ["x.[[:digit:]]s", ""],
  ["x.[[:nothing:]]s", ""],
  ["x.[js", ""],
  ["[[]x]", "[x]"],
  ["\\[x\\]", "[x]"],
  ["[]x]", ""],
  ["a?b", ""],
  ["a[/]b", ""],
  ["x.js\\", ""],
  ["/", ""],
  ["!", ""],
];

const PATHS = [
  ...["a", "a/b", "a/a.js", "a/sub", "a/sub/b", "sub", "sub/a", "sub/b"],
  ...["x.js", "x.ts", "#h", "!n", "[x]", "s "],
].map((path): [path: string, isDir: boolean] => [path, /^(a|a\/sub|sub)$/.test(path)]);

/** What a walk leaves out: what is in an ignored folder is ignored, whatever a rule says of it. */
function ignoredBy(text: string, paths: readonly (readonly [string, boolean])[]): string[] {
  const rules = parseIgnore(text);
  const ignored = new Set<string>();
  for (const [path, isDir] of paths) {
    const slash = path.lastIndexOf("/");
    const inIgnored = slash > 0 && ignored.has(path.slice(0, slash));
    if (inIgnored || verdict(rules, path, path.slice(slash + 1), isDir)) ignored.add(path);
  }
  return [...ignored];
}

const gitMissing = await run("git", "--version").then(() => false, () => true);
const gitTest = testUnless(gitMissing || Deno.build.os === "windows");

/** The same, as git has it. The rules are in the folder's `.gitignore`. */
async function ignoredByGit(dir: string, paths: readonly string[]): Promise<string[]> {
  // deno-fmt-ignore
  const args = [
    "-C", dir, "-c", "core.excludesFile=", "check-ignore", "--no-index", "--stdin", "-z",
  ];
  const git = new Deno.Command("git", { args, stdin: "piped", stdout: "piped" }).spawn();
  const writer = git.stdin.getWriter();
  await writer.write(new TextEncoder().encode(paths.join("\0") + "\0"));
  await writer.close();
  const { stdout, code } = await git.output();
  assert(code < 2);
  return new TextDecoder().decode(stdout).split("\0").slice(0, -1);
}

async function put(ws: Workspace, paths: readonly (readonly [string, boolean])[]): Promise<void> {
  await run("git", "-C", ws.dir, "init", "-q");
  for (const [path, isDir] of paths) ws.put(isDir ? `${path}/` : path);
}

Deno.test("rules of .gitignore", () => {
  for (const [rules, expected] of ROWS) {
    const names = expected.match(/(?:\\ |\S)+/g)?.map((name) => name.replace("\\ ", " ")) ?? [];
    assertEquals(ignoredBy(rules, PATHS).sort(), names.sort(), JSON.stringify(rules));
  }
});

gitTest("rules of .gitignore, as git reads them", async (ws) => {
  await put(ws, PATHS);
  for (const [rules] of ROWS) {
    ws.put(".gitignore", rules);
    const theirs = await ignoredByGit(ws.dir, PATHS.map(([path]) => path));
    assertEquals(ignoredBy(rules, PATHS).sort(), theirs.sort(), JSON.stringify(rules));
  }
});

const ATOMS = [
  ..."ab/?#! -\\*é",
  ...["foo", ".js", "**", "***", "/", "/", "**/", "/**", "/**/", "\\ ", "\\*"],
  ...["[ab]", "[!a]", "[a-f]", "[]a]", "[a-", "]", "[[:alpha:]]", "[!-a]", "[^/]", "[\\]]"],
  ...["[z-a]", "[[:foo:]]", "[[:a]", "[--a]", "[a-]", "[é]", "[!é]", "[à-é]"],
];
// deno-fmt-ignore
const NAMES = [
  "é", "😀", "a", "b", "foo", "foo.js", "a.b", "ab", "-", "[a]", "x y", "#h", "!n", "a ", "*",
];

gitTest("random rules of .gitignore, as git reads them", async (ws) => {
  const below = randomBelow(Number(Deno.env.get("FUZZ_SEED") ?? 1));
  const paths: [string, boolean][] = [];
  const fill = (folder: string, depth: number) => {
    for (const name of NAMES) {
      const isDir = depth < 2 && below(3) === 0;
      if (!isDir && below(3) === 0) continue;
      paths.push([folder + name, isDir]);
      if (isDir) fill(`${folder}${name}/`, depth + 1);
    }
  };
  fill("", 0);
  await put(ws, paths);
  const line = () => {
    let text = (below(4) ? "" : "!") + (below(4) ? "" : "/");
    for (let i = below(5); i >= 0; i--) text += ATOMS[below(ATOMS.length)];
    // git takes an escaped slash behind stars for one that needs a folder before it.
    return text.replace(/\*\\\//g, "*/");
  };
  let ignored = 0;
  for (let i = 0; i < Number(Deno.env.get("FUZZ_RUNS") ?? 150); i++) {
    const rules = Array.from({ length: 1 + below(4) }, line).join(below(5) ? "\n" : "\r\n");
    ws.put(".gitignore", rules);
    const theirs = await ignoredByGit(ws.dir, paths.map(([path]) => path));
    assertEquals(ignoredBy(rules, paths).sort(), theirs.sort(), JSON.stringify(rules));
    ignored += theirs.length;
  }
  assert(ignored > 1000, `${ignored} paths ignored: the rules hardly match anything`);
});

Deno.test("bytes are counted, not characters, as git does", () => {
  const paths = [["é", false], ["😀", false], ["ab", false]] as const;
  assertEquals(ignoredBy("?", paths), []);
  assertEquals(ignoredBy("??", paths), ["é", "ab"]);
  assertEquals(ignoredBy("????", paths), ["😀"]);
  assertEquals(ignoredBy("é", paths), ["é"]);
  assertEquals(ignoredBy("*é", paths), ["é"]);
});

Deno.test("no rule takes long on any name", () => { // linear, it takes milliseconds; otherwise years
  const name = "a".repeat(255);
  const path = `${`${name}/`.repeat(15)}${name}`;
  const rows = [
    "*a".repeat(100) + "b",
    "/" + "*a".repeat(100) + "b",
    "**/a/".repeat(200) + "b",
    "**/*a*/".repeat(100) + "b",
    "*a?[a-b]".repeat(50) + "*b",
    "[".repeat(4000),
    "a".repeat(10_000),
  ];
  for (const rule of rows) {
    assertEquals(verdict(parseIgnore(rule), path, name, false), undefined);
  }
  const many = parseIgnore(Array.from({ length: 20_000 }, (_, i) => `*x${i}*`).join("\n"));
  assertEquals(verdict(many, path, name, false), undefined);
});

Deno.test("a rule of more than 4096 characters matches nothing", () => {
  for (const [stars, expected] of [[4095, true], [4096, undefined]] as const) {
    assertEquals(verdict(parseIgnore(`${"*".repeat(stars)}b`), "b", "b", false), expected);
  }
});

Deno.test("R-07 rules are read as far as there is room for them, the first ones first", () => {
  const text = (count: number) => Array.from({ length: count }, (_, i) => `x${i}`).join("\n");
  const some = parseIgnore(text(5001));
  assertEquals([parseIgnore(text(5000)).isCut, some.isCut, some.list.length], [false, true, 5000]);
  assertEquals(verdict(some, "x4999", "x4999", false), true);
  assertEquals(verdict(some, "x5000", "x5000", false), undefined);
  // Comments and empty lines are no rules.
  const comments = parseIgnore("# comment\n\n".repeat(100_000) + "x");
  assertEquals([comments.list.length, comments.isCut], [1, false]);
});

Deno.test("R-07 rules that are too large for one expression are several", () => {
  const rules = parseIgnore(Array.from({ length: 60 }, () => "*a?[a-b]".repeat(500)).join("\n"));
  assertEquals(rules.list.length, 60);
  assertEquals(verdict(rules, "b", "b", false), undefined);
  assertEquals(verdict(rules, "aca".repeat(500), "aca".repeat(500), false), true);
});

Deno.test("R-07 rules are read and applied until it is to stop", () => {
  const text = Array.from({ length: 1000 }, (_, i) => `*x${i}*y*`).join("\n");
  const stopAfter = (calls: number) => () => calls-- === 0;
  assertThrows(() => parseIgnore(text, stopAfter(999)), SearchStopped);
  assertThrows(() => parseIgnore(text, stopAfter(1005)), SearchStopped);
  const rules = parseIgnore(text);
  assertThrows(() => verdict(rules, "a", "a", false, stopAfter(5)), SearchStopped);
});
