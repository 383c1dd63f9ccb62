/**
 * Measures the tests: puts small breaks (mutants) one at a time into a copy of the project, runs the
 * tests nearest to the broken file, and prints the breaks that no test noticed. A broken program may do
 * anything: if `unshare` works, the tests run in namespaces in which only the copies are writable.
 */
import { parseArgs } from "@std/cli/parse-args";
import { ensureDir } from "@std/fs/ensure-dir";
import { walk } from "@std/fs/walk";
import { basename } from "@std/path/basename";
import { dirname } from "@std/path/dirname";
import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import { relative } from "@std/path/relative";
import { resolve } from "@std/path/resolve";
import { seeded } from "../tests/helpers/split.ts";
import { importsOf, lintReports, readModules, targetOf } from "./modules.ts";
import type { Break } from "./mutants_plugin.ts";

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
 * The milliseconds of tests for one break. At least `MIN_TEST_FILES` run even so: on a busy machine each
 * takes several times as long, and the result must not depend on that.
 */
const TESTS_MS = 30_000;
const MIN_TEST_FILES = 16;
/** The default of `spareMs`, and the factor by which tests may be slower than unbroken. */
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
 * its name, then those of its room, of which those that share a word of its name.
 */
export async function testsByFile(root: string): Promise<Map<string, string[]>> {
  const modules = await readModules(root, ["src", "tests", "main.ts"]);
  // The tests of the scripts reach src/ by accident at most.
  const files = [...modules.keys()].filter((file) => !file.startsWith("tests/scripts/"));
  const importers = new Map<string, string[]>();
  const add = (from: string, to: string) => importers.set(to, [...importers.get(to) ?? [], from]);
  for (const { from, to } of importsOf(modules)) if (to !== undefined) add(from, to);
  for (const from of files) {
    const source = await Deno.readTextFile(join(root, from));
    // A worker, or a program that a test starts.
    const urls = /(?:new URL|import\.meta\.resolve)\(\s*"(\.[^"]+\.ts)"/g;
    for (const [, url] of source.matchAll(urls)) add(from, targetOf(from, url!));
    if (from.startsWith("tests/") && /\bmain\.ts\b/.test(source)) add(from, "main.ts");
    // A test may reach the file that it is named after by its helpers only.
    for (const mirror of mirrorsOf(from)) if (modules.has(mirror)) add(mirror, from);
  }
  return new Map(
    files.filter((file) => file.startsWith("src/")).map((file) => [file, nearest(file, importers)]),
  );
}

/** The tests of src/a/b/c.ts may be tests/a/b/c_test.ts, tests/a/b_c_test.ts or tests/a/b_test.ts. */
function mirrorsOf(file: string): string[] {
  const stem = stemOf(file);
  return [stem, stem.replace(/\/([^/]+)$/, "_$1"), dirname(stem)].map((one) => `${one}_test.ts`);
}

const stemOf = (file: string) => file.replace(/^src\//, "tests/").replace(/\.ts$/, "");

function nearest(file: string, importers: ReadonlyMap<string, string[]>): string[] {
  const distance = new Map([[file, 0]]);
  for (const [at, steps] of distance) {
    for (const from of importers.get(at) ?? []) {
      if (!distance.has(from)) distance.set(from, steps + 1);
    }
  }
  const [stem, mirrors] = [stemOf(file), mirrorsOf(file)];
  const [, room] = stem.split("/");
  const name = `/${basename(stem)}_test.ts`;
  const words = basename(stem).split("_");
  const key = (test: string) => [
    mirrors.includes(test) ? 0 : test.endsWith(name) ? 1 : 2,
    test.startsWith(`tests/${room}/`) ? 0 : 1,
    basename(test).split("_").some((word) => words.includes(word)) ? 0 : 1,
    distance.get(test)!,
    dirname(test) === dirname(stem) ? 0 : 1,
  ];
  return [...distance.keys()].filter((name) => name.endsWith("_test.ts")).sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    const differs = x.findIndex((value, i) => value !== y[i]);
    return differs < 0 ? (a < b ? -1 : 1) : x[differs]! - y[differs]!;
  });
}

/** Returns whether a test notices a break of `copy`, and how. The nearest tests run first. */
async function verdict(
  workshop: Workshop,
  copy: string,
  tests: readonly string[],
  spareMs: number,
  broken: <T>(run: () => Promise<T>) => Promise<T>,
): Promise<TestResult> {
  let [count, spent] = [0, 0];
  for (const file of tests) {
    if (spent > TESTS_MS && count >= MIN_TEST_FILES) break;
    const found = await workshop.unbroken(copy, file);
    if (found === null) continue;
    const limit = spareMs + SLOWNESS * found.ms;
    const result = await broken(() => workshop.test(copy, { files: [file], ...found }, limit));
    if (result !== "passed") return result;
    count++;
    spent += found.ms;
  }
  return "passed";
}

/** Parts of the checkout that are not copied. */
const NOT_COPIED = /^(\.git|\.deno|dist|coverage)(\/|$)/;
/** The limit for a test file in an unbroken copy. */
const MAX_UNBROKEN_MS = 300_000;

/** The result of a run of tests: a break survives if they pass. */
type TestResult = "passed" | "failed" | "too long";

/** Test files to run. `only` names the tests that count; if it is missing, all do. */
interface Tests {
  files: readonly string[];
  only?: readonly string[];
}

/** A test file's run in an unbroken copy. `only` names the tests that pass, if others fail. */
interface Unbroken {
  ms: number;
  only?: readonly string[];
}

/** Copies of the checkout, and the tests that run in them. */
export class Workshop {
  readonly #folder: string;
  readonly #root: string;
  /** True if the tests can write in the workshop's folder only. */
  readonly isIsolated: boolean;
  readonly #signal: AbortSignal;
  /** Each test file's run in an unbroken copy; null if none of its tests pass there. */
  readonly #unbroken = new Map<string, Promise<Unbroken | null>>();

  constructor(folder: string, root: string, isIsolated: boolean, signal: AbortSignal) {
    [this.#folder, this.#root, this.isIsolated, this.#signal] = [folder, root, isIsolated, signal];
  }

  /** Opens a workshop in `folder` for the checkout at `root`, isolated if the system can do it. */
  static async open(folder: string, root: string, signal: AbortSignal): Promise<Workshop> {
    const isIsolated = await canIsolate(folder, root);
    if (!isIsolated) console.error("unshare does not work here: the tests may write anywhere");
    return new Workshop(folder, root, isIsolated, signal);
  }

  /** Copies the checkout and returns the path of the copy. */
  async copy(name: string): Promise<string> {
    const copy = join(this.#folder, name);
    for await (const { path, isDirectory } of walk(this.#root, { includeSymlinks: false })) {
      const file = relative(this.#root, path).replaceAll("\\", "/");
      if (NOT_COPIED.test(file)) continue;
      if (isDirectory) await ensureDir(join(copy, file));
      else await Deno.copyFile(path, join(copy, file));
    }
    // Written last, so that scripts/setup of the copy finds nothing to do.
    await ensureDir(join(copy, ".deno/bin"));
    await Deno.symlink(Deno.execPath(), join(copy, ".deno/bin/deno"));
    await Deno.writeTextFile(join(copy, ".deno/ready"), "");
    return copy;
  }

  /** Runs tests of a copy up to the first failure, for at most `limit` milliseconds. */
  async test(copy: string, { files, only }: Tests, limit: number): Promise<TestResult> {
    const names = only?.map((name) => name.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&"));
    const filter = names ? [`--filter=/^(?:${names.join("|")})$/`] : [];
    return (await this.#run(copy, ["--fail-fast", ...filter, ...files], limit, "null")).result;
  }

  async #run(
    copy: string,
    own: readonly string[],
    limit: number,
    stdout: "piped" | "null",
  ): Promise<{ result: TestResult; output: string }> {
    const args = ["test", "-A", "--reporter=tap", "--frozen", "--no-check", ...own];
    const front = this.isIsolated ? isolation(this.#folder, this.#root) : [];
    const [program, ...more] = [...front, Deno.execPath(), ...args];
    const temporary = await Deno.makeTempDir({ dir: this.#folder });
    // As on most systems, temporary files are not in the home folder: its paths are shown with `~`.
    const home = join(temporary, "home");
    await ensureDir(home);
    const child = new Deno.Command(program!, {
      args: more,
      cwd: copy,
      env: {
        HOME: home,
        TMPDIR: temporary,
        DENO_DIR: join(this.#folder, "deno"),
        DENO_NO_UPDATE_CHECK: "1",
      },
      stdin: "null",
      stdout,
      stderr: "null",
    }).spawn();
    let isLate = false;
    const stop = () => {
      try {
        child.kill("SIGKILL");
      } catch { /* It has ended. */ }
    };
    const timer = setTimeout(() => {
      isLate = true;
      stop();
    }, limit);
    this.#signal.addEventListener("abort", stop);
    try {
      // A process that a broken program left may keep its output open: only unbroken output is read.
      const output = stdout === "piped" ? await new Response(child.stdout).text() : "";
      const { success } = await child.status;
      this.#signal.throwIfAborted();
      return { result: isLate ? "too long" : success ? "passed" : "failed", output };
    } finally {
      clearTimeout(timer);
      this.#signal.removeEventListener("abort", stop);
      await Deno.remove(temporary, { recursive: true }).catch(() => {});
    }
  }

  /** Runs a test file of an unbroken copy once, and remembers the result. */
  unbroken(copy: string, file: string): Promise<Unbroken | null> {
    const found = this.#unbroken.get(file) ?? this.#measure(copy, file);
    this.#unbroken.set(file, found);
    return found;
  }

  async #measure(copy: string, file: string): Promise<Unbroken | null> {
    const start = performance.now();
    const { result, output } = await this.#run(copy, [file], MAX_UNBROKEN_MS, "piped");
    const ms = performance.now() - start;
    if (result === "passed") return { ms };
    const only = passedIn(output);
    if (only.length > 0) {
      console.error(`${file} has tests that do not pass here, though nothing is broken`);
      return { ms, only };
    }
    console.error(`${file} is not used: it does not pass here, though nothing is broken`);
    return null;
  }
}

/** The names of the tests that passed, in the output of the reporter `tap`. */
function passedIn(output: string): string[] {
  return [...output.matchAll(/^ok \d+ - (.*)$/gm)]
    .map(([, name]) => name!.replace(/ # SKIP.*$/, "").replace(/\\([#\\])/g, "$1"));
}

/** Makes each file system but `$1` read-only, checks that `$2` is, and runs the other arguments. */
const ISOLATE = `
  mount --bind "$1" "$1" || exit
  while read -r _ at _; do
    case $at in
      "$1" | /dev | /dev/* | /proc | /proc/* | /sys | /sys/*) ;;
      *) mount -o remount,bind,ro "$at" ;;
    esac
  done </proc/self/mounts 2>/dev/null
  ! [ -w "$2" ] || exit
  shift 2
  "$@"
  # This shell is the first process of its namespace, so it waits for orphans.
  exit $?`;

/** Returns a prefix for a command: it then writes in `folder` only, and sees no other processes. */
function isolation(folder: string, root: string): string[] {
  const flags = ["--pid", "--fork", "--kill-child", "--mount", "--mount-proc"];
  const user = Deno.uid() === 0 ? [] : ["--user", "--map-root-user"];
  return ["unshare", ...user, ...flags, "sh", "-c", ISOLATE, "sh", folder, root];
}

async function canIsolate(folder: string, root: string): Promise<boolean> {
  const [program, ...args] = [...isolation(folder, root), "true"];
  try {
    const options = { args, stdin: "null", stdout: "null", stderr: "null" } as const;
    return (await new Deno.Command(program!, options).output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
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
  /** The limit for the tests of a break: these milliseconds, plus several times their unbroken time. */
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
    const workshop = await Workshop.open(folder, root, signal);
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
    // All jobs must end before their folder is removed.
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
  const candidates = (await lintReports("mutants_plugin.ts", root, paths))
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
