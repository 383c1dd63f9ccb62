import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runSearch, type SearchLimits } from "../../../src/tools/search/run_search.ts";
import { Searcher, type SearchJob } from "../../../src/tools/search/searcher.ts";
import { emptyTally } from "../../../src/tools/search/walk.ts";
import { globFiles, grepCode } from "../text_results.ts";
import { randomBelow } from "../../helpers/split.ts";
import { RUN_MODULE, test, type Workspace } from "../workspace.ts";

function job(ws: Workspace, pattern?: string): SearchJob {
  const root = ws.dir.replaceAll("\\", "/");
  return {
    walk: { root, top: root, maxDepth: Infinity, hidden: [] },
    prefix: "",
    limit: 10_000,
    ...(pattern ? { grep: { pattern, contextLines: 0 } } : {}),
  };
}

function search(
  ws: Workspace,
  pattern?: string,
  limits?: Partial<SearchLimits>,
  signal = new AbortController().signal,
) {
  const it = job(ws, pattern);
  return runSearch(it, [it.walk.root], signal, limits);
}

/** A tree of folders within folders, so that there is something to share out. */
function fill(ws: Workspace, folders: number, files: number): void {
  const paths = ["."];
  for (let i = 0; i < folders; i++) {
    const path = `${paths[i * 7 % paths.length]}/d${i}`;
    Deno.mkdirSync(ws.at(path));
    paths.push(path);
  }
  for (let i = 0; i < files; i++) ws.put(`${paths[i * 13 % paths.length]}/f${i}`, `hit ${i}\n`);
}

test("finds the same in one slice and in many", async (ws) => {
  fill(ws, 60, 600);
  const places: Partial<SearchLimits>[] = [{ sliceMs: 1000 }, { sliceMs: 0.01 }, {}];
  const results = await Promise.all(places.flatMap((limits) => [
    search(ws, "hit \\d", limits),
    search(ws, "(?i)HIT", limits),
  ]));
  for (const found of results) {
    assertEquals(found, results[0]);
    assertEquals(found.tally.files, 600);
    assertEquals(found.end, "done");
  }
  const listed = await Promise.all(places.map((limits) => search(ws, undefined, limits)));
  for (const found of listed) assertEquals(found, listed[0]);
  assertEquals(listed[0]!.files.length, 600);
});

const HOSTILE_RULES = Array.from({ length: 40_000 }, (_, i) => `*x${i}*y*`).join("\n");

test("R-07 a folder whose rules are not read in time is left, and not half counted", (ws) => {
  fill(ws, 0, 10);
  ws.put(".gitignore", HOSTILE_RULES);
  let isLate = true;
  const searcher = new Searcher(job(ws), () => isLate, [job(ws).walk.root]);
  assertEquals(searcher.step(), false);
  assertEquals(searcher.tasks, [job(ws).walk.root]);
  assertEquals(searcher.found.tally, emptyTally());
  isLate = false;
  while (searcher.tasks.length > 0) searcher.step();
  assertEquals(searcher.found.tally.files, 10);
});

test("R-07 rules that are too many are cut, which a note says, and end with the time", async (ws) => {
  fill(ws, 0, 100);
  ws.put(".gitignore", Array.from({ length: 40_000 }, (_, i) => `x${i}`).join("\n"));
  const found = await search(ws, undefined, { sliceMs: 0.01, timeoutMs: 0 });
  assertEquals([found.end, found.files.length], ["timeout", 0]);
  const all = await globFiles({ pattern: "f1", path: "." }, ws.context);
  const cut = "ignore files are too long, and only their first rules were applied";
  assertEquals(all, `f1\n[${cut}]`);
  const none = await globFiles({ pattern: "g", path: "." }, ws.context);
  assertStringIncludes(none, `Note: ${cut}.`);
});

/** Takes minutes: at each letter there are a thousand ways to go on, none of them seen before. */
const SLOW = "hit|(a|b)*a(a|b){1500}c";

function slowText(): string {
  const below = randomBelow(1);
  return Array.from({ length: 4_000_000 }, () => below(2) ? "a" : "b").join("");
}

test("an abort ends a search at once with its own reason", async (ws) => {
  ws.put("slow", slowText());
  const reason = new DOMException("stop", "AbortError");
  const before = AbortSignal.abort(reason);
  assertEquals(await search(ws, "x", {}, before).catch((error) => error), reason);
  const controller = new AbortController();
  const running = grepCode(
    { pattern: SLOW, path: ".", glob: "", context_lines: 0 },
    { ...ws.context, signal: controller.signal },
  );
  // Well before the limit of 20 s.
  setTimeout(() => controller.abort(reason), 100);
  assertEquals(await running.catch((error) => error), reason);
});

test("a program that searched, to the end, out of time or aborted, ends by itself", async (ws) => {
  ws.put("slow", slowText());
  const tool = new URL("../../../src/tools/grep_code.ts", import.meta.url).href;
  ws.put(
    "program.ts",
    `import { grepCode } from ${JSON.stringify(tool)};
    const search = (pattern, signal, limits) =>
      grepCode({ pattern, path: "slow", glob: "", context_lines: 0 }, {
        workingDir: Deno.cwd(), maxOutputChars: 1000, signal,
      }, limits).then(({ content }) => content.slice(0, 8), String);
    const never = new AbortController().signal;
    console.log(await search("nothing", never));
    console.log(await search(${JSON.stringify(SLOW)}, never, { timeoutMs: 300 }));
    console.log(await search(${JSON.stringify(SLOW)}, AbortSignal.timeout(300)));`,
  );
  const { code, stdout } = await new Deno.Command(RUN_MODULE[0], {
    args: [...RUN_MODULE.slice(1), ws.at("program.ts")],
    cwd: ws.dir,
    stdin: "null",
    // A program that spins would never end.
    signal: AbortSignal.timeout(60_000),
  }).output();
  assertEquals(
    new TextDecoder().decode(stdout),
    "No match\n[stopped\nTimeoutError: The operation was aborted due to timeout\n",
  );
  assertEquals(code, 0);
});

test("a file that takes too long is left out, and the others are searched", async (ws) => {
  fill(ws, 0, 50);
  ws.put("slow", slowText());
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const names = Array.from({ length: 50 }, (_, i) => ws.at(`f${i}`));
  const tasks = [[ws.at("slow"), ...names]];
  const found = await runSearch(job(ws, SLOW), tasks, new AbortController().signal);
  clearInterval(timer);
  assertEquals([found.end, found.matches.length], ["timeout", 50]);
  assert(turns > 4, `${turns} turns`);
});

test("what is kept on the way is bounded, and the rest counted", async (ws) => {
  for (let i = 0; i < 300; i++) {
    ws.put(`f${i}`, "hit\n");
    Deno.utimeSync(ws.at(`f${i}`), 1e9 + i, 1e9 + i);
  }
  const { walk } = job(ws);
  for (const limits of [{ sliceMs: 1000 }, { sliceMs: 0.01 }]) {
    const signal = new AbortController().signal;
    const files = await runSearch({ walk, prefix: "", limit: 10 }, [walk.root], signal, limits);
    const newest = Array.from({ length: 10 }, (_, i) => `f${299 - i}`);
    assertEquals(files.files.map((file) => file.path), newest);
    assertEquals(files.more, 290);
    const grep = { pattern: "hit", contextLines: 0 };
    const job = { walk, prefix: "", limit: 40, grep };
    const lines = await runSearch(job, [walk.root], signal, limits);
    // Five lines are the first that have 40 characters.
    assertEquals(lines.matches.map((file) => file.path).join(), "f0,f1,f10,f100,f101");
    assertEquals(lines.more, 295);
  }
});
