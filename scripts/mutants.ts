/**
 * Measures what the tests notice: puts small breaks (mutants) one at a time into a copy of the
 * project, runs the tests nearest to the broken file, and prints the breaks that no test noticed.
 */
import { parseArgs } from "@std/cli/parse-args";
import { dirname } from "@std/path/dirname";
import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import { relative } from "@std/path/relative";
import { resolve } from "@std/path/resolve";
import { seeded } from "../tests/helpers/split.ts";
import { lintReports } from "./lint_reports.ts";
import { importsOf, sourceFiles } from "./module_graph.ts";
import type { Break } from "./mutants_plugin.ts";
import {
  openWorkshop,
  type TestResult,
  type Tests,
  type Unbroken,
  type Workshop,
} from "./workshop.ts";

const HELP = `Usage: scripts/mutants [OPTIONS] [PATH...]

Breaks the files under PATH (default: src), one small break at a time, in a temporary copy, runs the
tests nearest to each and prints the breaks that none of them noticed.

  --count N   breaks to try (default: 40)
  --seed N    another choice of breaks; the same seed makes the same choice (default: 1)
  --jobs N    breaks tried at the same time (default: half of the processors)
  --list      print the chosen breaks and the tests for each, and run nothing
  --help      print this
`;

/**
 * Milliseconds of tests for one break: test files farther away than these are left out. So many run in
 * any case: on a busy machine each takes several times as long, and the result must not depend on that.
 */
const TESTS_MS = 30_000;
const MIN_TEST_FILES = 16;
/** The default of `spareMs`, and how many times slower than unbroken tests may be. */
const SPARE_MS = 10_000;
const SLOWNESS = 5;

/** A break of a file. */
export interface Mutant extends Break {
  file: string;
}

/** `count` of the candidates, drawn so that each kind of break is as likely as any other. */
export function choose(candidates: readonly Mutant[], count: number, seed: number): Mutant[] {
  const random = seeded(seed);
  const sorted = candidates.toSorted((a, b) =>
    a.file < b.file ? -1 : a.file > b.file ? 1 : a.start - b.start || (a.after < b.after ? -1 : 1)
  );
  const kinds = [...Map.groupBy(sorted, ({ kind }) => kind)].sort().map(([, group]) => group);
  const chosen: Mutant[] = [];
  while (chosen.length < count && kinds.length > 0) {
    const which = Math.floor(random() * kinds.length);
    const group = kinds[which]!;
    chosen.push(...group.splice(Math.floor(random() * group.length), 1));
    if (group.length === 0) kinds.splice(which, 1);
  }
  return chosen;
}

/** The line from 1 of a break, and its lines before and after it, cut to where they differ. */
export function describe(source: string, { start, end, after }: Break): [number, string, string] {
  const from = source.lastIndexOf("\n", start - 1) + 1;
  const newline = source.indexOf("\n", end);
  const to = newline === -1 ? source.length : newline;
  const left = source.slice(from, start).trimStart().slice(-50);
  const right = source.slice(end, to).slice(0, 30);
  const oneLine = (text: string) => text.replace(/\s+/g, " ");
  const removed = oneLine(source.slice(start, end));
  const before = removed.length > 60 ? `${removed.slice(0, 57)}...` : removed;
  const line = source.slice(0, start).split("\n").length;
  return [line, oneLine(left + before + right), oneLine(left + after + right)];
}

/**
 * For each file of `src/`, the test files that reach it by imports, the nearest first: those that have
 * its name, then those of its room.
 */
export async function testsByFile(root: string): Promise<Map<string, string[]>> {
  // The tests of the scripts reach src/ by accident at most.
  const tests = sourceFiles(root, "tests").filter((file) => !file.startsWith("tests/scripts/"));
  const files = [...sourceFiles(root, "src"), ...tests, "main.ts"];
  const importers = new Map<string, string[]>();
  const add = (from: string, to: string) => importers.set(to, [...importers.get(to) ?? [], from]);
  for (const { from, to } of await importsOf(root, files)) if (to !== undefined) add(from, to);
  for (const from of files) {
    const source = await Deno.readTextFile(join(root, from));
    // A worker, or a program that a test starts.
    const urls = /(?:new URL|import\.meta\.resolve)\(\s*"(\.[^"]+\.ts)"/g;
    for (const [, url] of source.matchAll(urls)) {
      add(from, join(dirname(from), url!).replaceAll("\\", "/"));
    }
    if (from.startsWith("tests/") && /\bmain\.ts\b/.test(source)) add(from, "main.ts");
  }
  return new Map(
    files.filter((file) => file.startsWith("src/")).map((file) => [file, nearest(file, importers)]),
  );
}

function nearest(file: string, importers: ReadonlyMap<string, string[]>): string[] {
  const distance = new Map([[file, 0]]);
  for (const [at, steps] of distance) {
    for (const from of importers.get(at) ?? []) {
      if (!distance.has(from)) distance.set(from, steps + 1);
    }
  }
  const stem = file.replace(/^src\//, "tests/").replace(/\.ts$/, "");
  // src/a/b/c.ts may be tested by tests/a/b/c_test.ts, tests/a/b_c_test.ts or tests/a/b_test.ts.
  const mirrors = [stem, stem.replace(/\/([^/]+)$/, "_$1"), dirname(stem)].map((one) =>
    `${one}_test.ts`
  );
  const [, room, ...inRoom] = stem.split("/");
  const name = `/${inRoom.at(-1)}_test.ts`;
  const key = (test: string) => [
    mirrors.includes(test) ? 0 : test.endsWith(name) ? 1 : 2,
    test.startsWith(`tests/${room}/`) ? 0 : 1,
    distance.get(test)!,
    dirname(test) === dirname(stem) ? 0 : 1,
  ];
  return [...distance.keys()].filter((name) => name.endsWith("_test.ts")).sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    const differs = x.findIndex((value, i) => value !== y[i]);
    return differs < 0 ? (a < b ? -1 : 1) : x[differs]! - y[differs]!;
  });
}

/** Whether a test notices a break of `copy`, and how. */
async function verdict(
  workshop: Workshop,
  copy: string,
  tests: readonly string[],
  spareMs: number,
  broken: <T>(run: () => Promise<T>) => Promise<T>,
): Promise<TestResult> {
  const run = (tests: Tests, ms: number) =>
    broken(() => workshop.test(copy, tests, spareMs + SLOWNESS * ms));
  const others: (Unbroken & { file: string })[] = [];
  const timeOf = (some: readonly Unbroken[]) => some.reduce((sum, { ms }) => sum + ms, 0);
  let hasNearest = false;
  for (const file of tests) {
    if (timeOf(others) > TESTS_MS && others.length >= MIN_TEST_FILES) break;
    const found = await workshop.unbroken(copy, file);
    if (found === null) continue;
    if (hasNearest) {
      others.push({ file, ...found });
      continue;
    }
    hasNearest = true;
    // The nearest alone notices most breaks: how long the others take need not be known then.
    const result = await run({ files: [file], ...found.only && { only: found.only } }, found.ms);
    if (result !== "passed") return result;
  }
  // The first that fails ends them: those that take long come last.
  const whole = others.filter(({ only }) => !only).sort((a, b) => a.ms - b.ms);
  const groups = [
    ...whole.length > 0 ? [{ files: whole.map(({ file }) => file), ms: timeOf(whole) }] : [],
    ...others.flatMap(({ file, ms, only }) => only ? [{ files: [file], ms, only }] : []),
  ];
  for (const { ms, ...group } of groups) {
    const result = await run(group, ms);
    if (result !== "passed") return result;
  }
  return "passed";
}

/** A run over a choice of mutants. */
export interface Trial {
  /** The project's folder, which is only read. */
  root: string;
  mutants: readonly Mutant[];
  /** The test files for each file, the nearest first. */
  tests: ReadonlyMap<string, readonly string[]>;
  /** Mutants that are tried at the same time. */
  jobs: number;
  /** The limit for the tests of a break, in milliseconds beside several times what they take unbroken. */
  spareMs?: number;
  signal: AbortSignal;
  /** Called after each mutant. */
  onVerdict(mutant: Mutant, result: TestResult): void;
}

/** Tries every mutant; returns the results in the order of the mutants. */
export async function tryAll(
  { root, mutants, tests, jobs, signal, onVerdict, spareMs = SPARE_MS }: Trial,
): Promise<TestResult[]> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "mutants-" }));
  try {
    const workshop = await openWorkshop(folder, root, signal);
    const results: TestResult[] = [];
    let next = 0;
    const work = async (job: number) => {
      const copy = await workshop.copy(`${job}`);
      for (let i = next++; i < mutants.length; i = next++) {
        signal.throwIfAborted();
        const { file, start, end, after } = mutants[i]!;
        const path = join(copy, file);
        const source = await Deno.readTextFile(path);
        const broken = async <T>(run: () => Promise<T>): Promise<T> => {
          await Deno.writeTextFile(path, source.slice(0, start) + after + source.slice(end));
          const result = await run();
          await Deno.writeTextFile(path, source);
          return result;
        };
        results[i] = await verdict(workshop, copy, tests.get(file) ?? [], spareMs, broken);
        onVerdict(mutants[i]!, results[i]!);
      }
    };
    // All have to end before their folder goes.
    const ends = await Promise.allSettled(Array.from({ length: jobs }, (_, job) => work(job)));
    for (const end of ends) if (end.status === "rejected") throw end.reason;
    return results;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function main(): Promise<number> {
  const flags = parseArgs(Deno.args, {
    string: ["count", "seed", "jobs"],
    boolean: ["help", "list"],
    default: { count: "40", seed: "1", jobs: `${Math.max(1, navigator.hardwareConcurrency >> 1)}` },
    unknown: (arg, key) => {
      if (key !== undefined) throw new TypeError(`Cannot use ${arg} as there is no such option`);
    },
  });
  if (flags.help) {
    console.log(HELP.trimEnd());
    return 0;
  }
  const [count, seed, jobs] = [flags.count, flags.seed, flags.jobs].map(Number);
  if (![count, seed, jobs].every((value) => Number.isSafeInteger(value) && value! >= 0) || !jobs) {
    throw new RangeError("Cannot use --count, --seed and --jobs as they must be whole numbers");
  }
  const root = fromFileUrl(new URL("../", import.meta.url));
  const named = flags._.map((path) => relative(root, resolve(`${path}`)).replaceAll("\\", "/"));
  const paths = named.length > 0 ? named : ["src"];
  const plugin = new URL("./mutants_plugin.ts", import.meta.url);
  const candidates = (await lintReports(plugin, root, paths))
    .map(({ file, message }): Mutant => ({ file, ...JSON.parse(message) }))
    .filter(({ file }) => file.startsWith("src/"));
  const mutants = choose(candidates, count!, seed!);
  const tests = await testsByFile(root);
  const sources = new Map<string, string>();
  for (const { file } of mutants) sources.set(file, await Deno.readTextFile(join(root, file)));
  const shown = (mutant: Mutant) => {
    const [line, before, after] = describe(sources.get(mutant.file)!, mutant);
    return `${mutant.file}:${line} ${before} -> ${after}`;
  };
  if (flags.list) {
    for (const one of mutants) {
      console.log(`${shown(one)}\n  ${tests.get(one.file)?.slice(0, 5).join(" ")}`);
    }
    return 0;
  }
  const interrupt = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    Deno.addSignalListener(name, () => interrupt.abort());
  }
  let done = 0;
  const onVerdict = (mutant: Mutant, result: TestResult) =>
    console.error(`${++done} of ${mutants.length}: ${result}: ${shown(mutant)}`);
  const { signal } = interrupt;
  const trial = { root, mutants, tests, jobs, signal, onVerdict };
  const results = await tryAll(trial).catch((error) => {
    if (signal.aborted) return null;
    throw error;
  });
  if (results === null) return 130;
  const survivors = mutants.filter((_, i) => results[i] === "passed").map(shown).sort();
  for (const survivor of survivors) console.log(survivor);
  const noticed = mutants.length - survivors.length;
  const late = results.filter((one) => one === "too long").length;
  const share = mutants.length > 0 ? Math.floor(100 * noticed / mutants.length) : 100;
  console.log(
    `${noticed} of ${mutants.length} noticed (${share} %), ${late} by the time limit; ` +
      `seed ${seed}, of ${candidates.length} breaks under ${paths.join(" ")}`,
  );
  return 0;
}

if (import.meta.main) {
  try {
    Deno.exit(await main());
  } catch (error) {
    console.error(`mutants: ${error instanceof Error ? error.message : error}`);
    Deno.exit(1);
  }
}
