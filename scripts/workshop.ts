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
  readonly #isolated: boolean;
  readonly #signal: AbortSignal;
  /** Milliseconds that each test file takes in an unbroken copy, or null where it fails there. */
  readonly #durations = new Map<string, Promise<number | null>>();

  constructor(folder: string, isIsolated: boolean, signal: AbortSignal) {
    this.#folder = folder;
    this.#isolated = isIsolated;
    this.#signal = signal;
  }

  /** Copies the checkout at `root` and returns the path of the copy. */
  async copy(root: string, name: string): Promise<string> {
    const copy = join(this.#folder, name);
    for await (const { path, isDirectory } of walk(root, { includeSymlinks: false })) {
      const file = relative(root, path).replaceAll("\\", "/");
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
    const [program, ...more] = this.#isolated
      ? [...isolation(this.#folder), Deno.execPath(), ...args]
      : [Deno.execPath(), ...args];
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

/** Opens a workshop in `folder`, with isolation where the system has it. */
export async function openWorkshop(folder: string, signal: AbortSignal): Promise<Workshop> {
  const isIsolated = await canIsolate(folder);
  if (!isIsolated) console.error("unshare does not work here: the tests may write anywhere");
  return new Workshop(folder, isIsolated, signal);
}

/** A command in front of another one, which then cannot write outside `folder` or end other processes. */
function isolation(folder: string): string[] {
  const mounts = 'mount --bind "$1" "$1" && mount -o remount,bind,ro / && shift && exec "$@"';
  const flags = ["--pid", "--fork", "--kill-child", "--mount", "--mount-proc"];
  const user = Deno.uid() === 0 ? [] : ["--user", "--map-root-user"];
  return ["unshare", ...user, ...flags, "sh", "-c", mounts, "sh", folder];
}

async function canIsolate(folder: string): Promise<boolean> {
  const [program, ...args] = [...isolation(folder), "true"];
  try {
    const options = { args, stdin: "null", stdout: "null", stderr: "null" } as const;
    return (await new Deno.Command(program!, options).output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
