import { assert, assertEquals } from "@std/assert";
import { emptyTally, isWithheld, Walk, type WalkOptions } from "../../../src/tools/search/walk.ts";
import { posixTest, run, test, type Workspace, workspace } from "../workspace.ts";

const rgMissing = await run("rg", "--version").then(() => false, () => true);

const WALK = { maxDepth: Infinity, hidden: [] };
const rootOf = (ws: Workspace) => ws.dir.replaceAll("\\", "/");

/** A walk of a workspace, and what it counts. */
function walkOf(ws: Workspace, options: Partial<WalkOptions> = {}) {
  const [root, tally] = [rootOf(ws), emptyTally()];
  return { root, tally, walker: new Walk({ ...WALK, root, top: root, ...options }, tally) };
}

/** The files that a walk comes to, from `root` on, sorted. */
function walk(ws: Workspace, root = rootOf(ws)): string[] {
  const { walker } = walkOf(ws, { root });
  const folders = [root];
  const found: string[] = [];
  for (let folder; (folder = folders.pop()) !== undefined;) {
    const listed = walker.list(folder);
    folders.push(...listed.folders);
    found.push(...listed.files.map((path) => path.slice(root.length + 1)));
  }
  return found.sort();
}

/** Trees with ignore files, and what is left of them. */
// deno-fmt-ignore
const ROWS: [name: string, files: Record<string, string>, left: string][] = [
  ["nothing ignored", { "a": "", "d/b": "" }, "a d/b"],
  ["no repository is needed", { ".gitignore": "a", "a": "", "b": "" }, "b"],
  ["a long file of rules is read to its end", { ".gitignore": `${"# comment\n".repeat(10_000)}/a`, "a": "", "b": "" }, "b"],
  ["a BOM is no part of a rule", { ".gitignore": "\ufeffa", "a": "", "b": "" }, "b"],
  [
    "nested files, the nearest decides",
    {
      ".gitignore": "*.log\n/top", "x.log": "", "top": "", "own": "",
      "d/.gitignore": "!x.log\nown", "d/x.log": "", "d/y.log": "", "d/top": "", "d/own": "",
    },
    "d/top d/x.log own",
  ],
  ["what is in an ignored folder stays ignored", { ".gitignore": "d/", "d/.gitignore": "!a", "d/a": "", "e/d": "" }, "e/d"],
  [
    "anchored in the folder of the file",
    { "d/.gitignore": "/a\ne/f", "d/a": "", "d/e/a": "", "d/e/f": "", "d/g/e/f": "", "a": "" },
    "a d/e/a d/g/e/f",
  ],
  ["excluded by the repository", { ".git/info/exclude": "a", "a": "", "b": "" }, "b"],
  ["a .gitignore goes before the repository's own list", { ".git/info/exclude": "a\nb", ".gitignore": "!a", "a": "", "b": "" }, "a"],
  [
    ".ignore goes before .gitignore, also from above",
    { ".ignore": "!a", ".gitignore": "a\nb", "a": "", "b": "", "d/.gitignore": "a", "d/a": "" },
    "a d/a",
  ],
  [
    ".rgignore goes before .ignore, also from above",
    { ".rgignore": "!a", ".ignore": "a\nb", "a": "", "b": "", "d/.ignore": "a", "d/a": "" },
    "a d/a",
  ],
  [
    "a repository within another has its own rules",
    { ".git/HEAD": "", ".gitignore": "a", "a": "", "in/.git/HEAD": "", "in/a": "", "in/b": "", "in/.gitignore": "b" },
    "in/a",
  ],
  ["hidden but kept", { ".gitignore": "!.keep\n!.dir", ".keep": "", ".other": "", ".dir/a": "", ".dir/.b": "" }, ".dir/a .keep"],
  ["node_modules", { "node_modules/a": "", "d/node_modules/a": "", "e/node_modules": "" }, "e/node_modules"],
  ["a folder in the place of a file", { ".gitignore/a": "", ".ignore/a": "", "b": "" }, "b"],
];

Deno.test("what a walk leaves out", () => {
  for (const [name, files, left] of ROWS) {
    using ws = workspace();
    ws.putAll(files);
    assertEquals(walk(ws).join(" "), left, name);
  }
});

Deno.test("what a walk leaves out, as ripgrep has it", { ignore: rgMissing }, async () => {
  for (const [name, files] of ROWS) {
    // rg needs a rule for the one, and an old rg takes the BOM for a part of the name.
    if (name === "node_modules" || name.includes("BOM")) continue;
    using ws = workspace();
    ws.putAll({ ".git/HEAD": "", ...files });
    const args = ["--files", "--no-config", "--no-ignore-global"];
    const { stdout } = await new Deno.Command("rg", { args, cwd: ws.dir }).output();
    const theirs = new TextDecoder().decode(stdout).split("\n").slice(0, -1).sort();
    assertEquals(walk(ws), theirs.map((path) => path.replaceAll("\\", "/")), name);
  }
});

test("ignored folders that are named are walked, by their own rules", (ws) => {
  ws.putAll({
    ".gitignore": "out/\n*.log",
    "out/a": "",
    "out/b.log": "",
    "out/deep/c.log": "",
    "out/deep/.gitignore": "d",
    "out/deep/d": "",
    ".hid/a": "",
    ".hid/b.log": "",
  });
  const at = (name: string) => walk(ws, `${rootOf(ws)}/${name}`).join(" ");
  assertEquals(at("out"), "a b.log deep/c.log");
  assertEquals(at("out/deep"), "c.log");
  // Hidden only, so that the rules from above still hold.
  assertEquals(at(".hid"), "a");
});

posixTest("a deep tree, and a chain of links to itself", async (ws) => {
  let folder = ws.dir;
  // About as deep as a path may be long.
  for (let i = 0; i < 60; i++) {
    folder += `/${"d".repeat(60)}`;
    Deno.mkdirSync(folder);
    if (i === 5) await Deno.symlink("..", `${folder}/up`);
  }
  ws.put("end", "");
  await Deno.symlink(ws.dir, ws.at("self"));
  await Deno.symlink("loop", ws.at("loop"));
  assertEquals(walk(ws), ["end"]);
});

test("SEC-01 names of files are withheld for files alone, and counted", (ws) => {
  ws.putAll({ "d.key/a": "", "d.key/b.key": "", "c.key": "" });
  const withheld = { folder: rootOf(ws), paths: [], files: /\.key$/ };
  const { root, tally, walker } = walkOf(ws, { withheld });
  assertEquals(walker.list(root), { files: [], folders: [`${root}/d.key`], links: [] });
  const listed = { files: [`${root}/d.key/a`], folders: [], links: [] };
  assertEquals(walker.list(`${root}/d.key`), listed);
  assertEquals(tally, { ...emptyTally(), withheld: 2 });
});

test("what cannot be listed is counted, but for what is gone", (ws) => {
  ws.put("file", "");
  const rows = [["file", 1, 0], ["gone", 0, 0], ["x\ufffd", 0, 1]];
  for (const [name, unreadable, unnameable] of rows) {
    const { root, tally, walker } = walkOf(ws);
    assertEquals(walker.list(`${root}/${name}`), { files: [], folders: [], links: [] });
    assertEquals(tally, { ...emptyTally(), unreadable, unnameable });
  }
});

posixTest("the file system is listed without folders of the system's state", () => {
  const walker = new Walk({ ...WALK, root: "", top: "" }, emptyTally());
  const { folders } = walker.list("");
  assert(folders.includes("/usr"), folders.join());
  if (Deno.build.os === "linux") {
    assertEquals(folders.filter((at) => /^.(proc|sys)$/.test(at)), []);
  }
});

// Each row: a path, and whether it is withheld as a file and as a folder.
Deno.test.each([
  ["/ws/secret", true, true],
  ["/ws/secret/a", true, true],
  ["/ws/all", false, false],
  ["/ws/below", true, true],
  ["/ws/a/secret", false, false],
  ["/secret", false, false],
  ["/wsx/secret", false, false],
  ["/ws/u\u0308", true, true],
  ["/out/x", true, true],
  ["/out/u\u0308", true, true],
  ["/ws/out/x", false, false],
  ["/ws/a.key", true, false],
  ["/other/a.key", true, false],
])("SEC-01 withheld, as a file and as a folder: %s", (path, asFile, asFolder) => {
  const withheld = {
    paths: [/^secret(\/|$)/, /^\u00fc$/, /^below\//],
    absolute: [/^\/out\/[x\u00fc]$/],
    files: /\.key$/,
  };
  for (const folder of ["/ws", "/ws/"]) {
    const at = { ...withheld, folder };
    assertEquals([isWithheld(at, path, false), isWithheld(at, path, true)], [asFile, asFolder]);
  }
  const none = { folder: "/ws", paths: [] };
  assertEquals([isWithheld(none, path, false), isWithheld(none, path, true)], [false, false]);
});

test("R-07 the first rules of a file hold, and long files are cut at a line", (ws) => {
  const rules = (count: number) => Array.from({ length: count }, (_, i) => `zz${i}\n`).join("");
  ws.putAll({
    ".gitignore": rules(4999) + "a\n",
    "d/.gitignore": rules(5000) + "b\n",
    "d/a": "",
    "d/b": "",
    // The last line that is read is a part of `long/keep`, and not the rule `long`.
    "e/.gitignore": "#".repeat(1024 * 1024 - 5) + "\nlong/keep\n",
    "e/long": "",
  });
  assertEquals(walk(ws), ["d/b", "e/long"]);
  const { root, tally, walker } = walkOf(ws);
  for (const folder of ["", "/d", "/e"]) walker.list(root + folder);
  assertEquals(tally.cutRules, 2);
});

Deno.test("R-07 a file of rules is read whole up to 1 MiB; of a longer one the first rule holds, too", () => {
  for (const [more, isCut] of [[0, false], [1, true]] as const) {
    using ws = workspace();
    const comment = "#".repeat(1024 * 1024 - "/a\n\n/b".length + more);
    ws.putAll({ ".gitignore": `/a\n${comment}\n/b`, "a": "", "b": "", "c": "" });
    const { root, tally, walker } = walkOf(ws);
    const left = walker.list(root).files.map((path) => path.slice(root.length + 1)).sort();
    assertEquals([left, tally.cutRules], [isCut ? ["b", "c"] : ["c"], isCut ? 1 : 0]);
  }
});
