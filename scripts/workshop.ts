/**
 * Copies of the checkout in which tests of a broken program run. Such a program may do what it must
 * never do: where `unshare` works, the tests run in process and mount namespaces of their own, in
 * which only the copies can be written to.
 */
import { ensureDir } from "@std/fs/ensure-dir";
import { walk } from "@std/fs/walk";
import { join } from "@std/path/join";
import { relative } from "@std/path/relative";

/** Parts of the checkout that a copy does without. */
const NOT_COPIED = /^(\.git|\.deno|dist|coverage)(\/|$)/;
/** The limit for a test file in an unbroken copy. */
const MAX_UNBROKEN_MS = 300_000;

/** How a run of tests ended: a break survives where they passed. */
export type TestResult = "passed" | "failed" | "too long";

/** Test files to run; `only` names the tests of theirs that count, all where it is left out. */
export interface Tests {
  files: readonly string[];
  only?: readonly string[];
}

/** What a test file does in an unbroken copy; `only` names the tests that pass, where others fail. */
export interface Unbroken {
  ms: number;
  only?: readonly string[];
}

/** Copies of the checkout, and the tests that run in them. */
export class Workshop {
  readonly #folder: string;
  readonly #root: string;
  /** True where the tests write in the workshop's folder alone. */
  readonly isIsolated: boolean;
  readonly #signal: AbortSignal;
  /** What each test file does in an unbroken copy, or null where nothing of it passes there. */
  readonly #unbroken = new Map<string, Promise<Unbroken | null>>();

  constructor(folder: string, root: string, isIsolated: boolean, signal: AbortSignal) {
    this.#folder = folder;
    this.#root = root;
    this.isIsolated = isIsolated;
    this.#signal = signal;
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
    // Set up, and later than all else: a script of the copy that looks finds nothing to do.
    await ensureDir(join(copy, ".deno/bin"));
    await Deno.symlink(Deno.execPath(), join(copy, ".deno/bin/deno"));
    await Deno.writeTextFile(join(copy, ".deno/ready"), "");
    return copy;
  }

  /** Runs tests of a copy, up to the first that fails, and ends them after `limit` milliseconds. */
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
    const child = new Deno.Command(program!, {
      args: more,
      cwd: copy,
      env: {
        HOME: temporary,
        TMPDIR: temporary,
        DENO_DIR: join(this.#folder, "deno"),
        DENO_NO_UPDATE_CHECK: "1",
        NO_COLOR: "1",
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
      // What a broken program leaves behind may hold its output open: it is not waited for.
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

  /** What a test file does where nothing is broken; null where nothing of it passes. */
  unbroken(copy: string, file: string): Promise<Unbroken | null> {
    let found = this.#unbroken.get(file);
    if (!found) {
      found = this.#measure(copy, file);
      this.#unbroken.set(file, found);
    }
    return found;
  }

  async #measure(copy: string, file: string): Promise<Unbroken | null> {
    let only: string[] | undefined;
    // A machine that is busy can make a test fail once.
    for (let attempt = 1; attempt <= 2; attempt++) {
      const start = performance.now();
      const { result, output } = await this.#run(copy, [file], MAX_UNBROKEN_MS, "piped");
      const ms = performance.now() - start;
      if (result === "passed") return { ms };
      const passed = passedIn(output);
      only = only?.filter((name) => passed.includes(name)) ?? passed;
      if (attempt === 2 && only.length > 0) {
        console.error(`${file} has tests that do not pass here, though nothing is broken`);
        return { ms, only };
      }
    }
    console.error(`${file} is left out: it does not pass here, though nothing is broken`);
    return null;
  }
}

/** The names of the tests that passed, in the output of the reporter `tap`. */
function passedIn(output: string): string[] {
  return [...output.matchAll(/^ok \d+ - (.*)$/gm)]
    .map(([, name]) => name!.replace(/ # SKIP.*$/, "").replace(/\\([#\\])/g, "$1"));
}

/** Opens a workshop in `folder` for the checkout at `root`, with isolation where the system has it. */
export async function openWorkshop(
  folder: string,
  root: string,
  signal: AbortSignal,
): Promise<Workshop> {
  const isIsolated = await canIsolate(folder, root);
  if (!isIsolated) console.error("unshare does not work here: the tests may write anywhere");
  return new Workshop(folder, root, isIsolated, signal);
}

/** Makes every file system but `$1` read-only, `$2` for certain, and runs the rest of the arguments. */
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
  # The first process of a namespace is the parent of those whose own has ended: this shell waits for them.
  exit $?`;

/** A command in front of another one, which then writes in `folder` only and sees no other processes. */
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
