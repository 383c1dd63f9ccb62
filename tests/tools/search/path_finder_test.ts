import { assertEquals } from "@std/assert";
import { type FittingPaths, PathFinder } from "../../../src/tools/search/path_finder.ts";
import { test, type Workspace } from "../workspace.ts";

function finder(ws: Workspace, limit = 50): PathFinder {
  const root = ws.dir.replaceAll("\\", "/");
  const walk = { root, top: root, maxDepth: Infinity, hidden: [] };
  return new PathFinder({ walk, prefix: "" }, limit);
}

/** The last list of those that follow. */
async function last(found: FittingPaths): Promise<string[]> {
  for (let next: FittingPaths | undefined = found; next; next = await next.more?.()) found = next;
  return found.paths;
}

function fill(ws: Workspace, files: Record<string, number>): void {
  for (const [name, seconds] of Object.entries(files)) {
    ws.put(name);
    Deno.utimeSync(ws.at(name), seconds, seconds);
  }
}

const FITS: [word: string, limit: number, paths: string[]][] = [
  ["", 50, ["b/new.ts", "a/newer/x.ts", "old.ts", "a/oldest.ts", "a/", "b/", "a/n.PYC"]],
  ["a/", 50, ["a/newer/x.ts", "a/oldest.ts", "a/newer/", "a/n.PYC"]],
  ["a", 50, ["a/", "a/newer/x.ts", "a/oldest.ts", "a/n.PYC"]],
  ["a/N", 50, ["a/newer/", "a/newer/x.ts", "a/n.PYC"]],
  ["", 2, ["b/new.ts", "a/newer/x.ts"]],
  ["OLD", 50, ["old.ts", "a/oldest.ts"]],
  ["new", 50, ["a/newer/", "b/new.ts", "a/newer/x.ts"]],
  ["nothing", 50, []],
];
for (const [word, limit, paths] of FITS) {
  test(`files that ${word || "no word"} fits, ${limit} at most, newest first`, async (ws) => {
    fill(ws, { "old.ts": 100, "a/oldest.ts": 50, "b/new.ts": 900, "a/newer/x.ts": 800 });
    fill(ws, { ".hidden/old.ts": 999, "a/n.PYC": 950 });
    using found = finder(ws, limit);
    assertEquals(await last(await found.find(word)), paths);
  });
}

test("files that came within a minute are listed by their names", async (ws) => {
  fill(ws, { "c.ts": 602, "a.ts": 600, "new.ts": 900, "b.ts": 630 });
  using found = finder(ws, 50);
  assertEquals(await last(await found.find("")), ["new.ts", "a.ts", "b.ts", "c.ts"]);
});

test("ignore rules apply", async (ws) => {
  for (let i = 0; i < 500; i++) ws.put(`n${i}`, "");
  fill(ws, { "below/n": 1 });
  ws.put(".gitignore", "n1*\n");
  using found = finder(ws, 1000);
  const paths = await last(await found.find("n"));
  assertEquals([paths.length, paths.includes("below/n")], [389 + 1, true]);
});

test("a new word ends the question about the one before, and the end all of them", async (ws) => {
  fill(ws, { "one.ts": 1, "two.ts": 2 });
  using found = finder(ws);
  const [before, after] = await Promise.all([found.find("one"), found.find("two")]);
  assertEquals([before.paths, await last(after)], [[], ["two.ts"]]);
  const other = finder(ws);
  const late = other.find("one");
  other[Symbol.dispose]();
  assertEquals((await late).paths, []);
});
