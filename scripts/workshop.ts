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

/** Copies of the checkout, and the tests that run in them. */
export class Workshop {
  readonly #folder: string;
  readonly #root: string;
  /** True where the tests write in the workshop's folder alone. */
  readonly isIsolated: boolean;
  readonly #signal: AbortSignal;
  /** Milliseconds that each test file takes in an unbroken copy, or null where it fails there. */
  readonly #durations = new Map<string, Promise<number | null>>();

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

  /** Runs test files of a copy, and ends them after `limit` milliseconds. */
  async test(copy: string, files: readonly string[], limit: number): Promise<TestResult> {
    const args = ["test", "-A", "--quiet", "--frozen", "--no-check", "--fail-fast", ...files];
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
      stdout: "null",
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
      const { success } = await child.status;
      this.#signal.throwIfAborted();
      return isLate ? "too long" : success ? "passed" : "failed";
    } finally {
      clearTimeout(timer);
      this.#signal.removeEventListener("abort", stop);
      await Deno.remove(temporary, { recursive: true }).catch(() => {});
    }
  }

  /** Milliseconds that a test file takes unbroken; null where it fails here. */
  duration(copy: string, file: string): Promise<number | null> {
    let found = this.#durations.get(file);
    if (!found) {
      found = this.#measure(copy, file);
      this.#durations.set(file, found);
    }
    return found;
  }

  async #measure(copy: string, file: string): Promise<number | null> {
    // A machine that is busy can make a test fail once.
    for (let attempt = 1; attempt <= 2; attempt++) {
      const start = performance.now();
      const result = await this.test(copy, [file], MAX_UNBROKEN_MS);
      if (result === "passed") return performance.now() - start;
    }
    console.error(`${file} is left out: it does not pass here, though nothing is broken`);
    return null;
  }
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
