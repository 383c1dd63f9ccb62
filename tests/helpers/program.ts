/**
 * Runs the real program as a process, as a user would, with a home and an environment of its own.
 *
 * @module
 */

import { fromFileUrl } from "@std/path/from-file-url";

/** The program's entry. `scripts/test` makes a bundle, which starts in less processor time. */
export const ENTRY: string = Deno.env.get("COPILOT_ENTRY") ??
  fromFileUrl(new URL("../../main.ts", import.meta.url));

/** A folder for the state of each run: nothing outlives a test, and no run sees the sessions of another. */
const states = Deno.makeTempDirSync();
addEventListener("unload", () => Deno.removeSync(states, { recursive: true }));
let runs = 0;

/** Options of a run. */
export interface RunOptions {
  /** The content of stdin; `/dev/null` if it is missing. */
  stdin?: string | Uint8Array;
  cwd?: string;
  env?: Record<string, string>;
}

/** The result of a run. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Deno's cache in a home folder, if the system has it there. */
const denoDirIn = (home: string) => Deno.build.os === "linux" ? `${home}/.cache/deno` : "";

/** The command that runs the program with `args`. */
export function command(args: readonly string[], options: RunOptions = {}): Deno.Command {
  const { PATH = "", HOME = "", DENO_DIR = denoDirIn(HOME), TMPDIR } = Deno.env.toObject();
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-prompt", ENTRY, ...args],
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    clearEnv: true,
    // Deno's own cache is under HOME. Only the program gets another HOME, so that Deno compiles nothing again.
    env: {
      PATH,
      HOME,
      ...(DENO_DIR && { DENO_DIR }),
      // The only writable folder when scripts/mutants runs the tests.
      ...(TMPDIR && { TMPDIR }),
      NO_COLOR: "1",
      // Deno asks its own host for updates once a day, which would disturb tests.
      DENO_NO_UPDATE_CHECK: "1",
      XDG_CONFIG_HOME: "/nowhere",
      ...(!options.env?.HOME && { XDG_STATE_HOME: `${states}/${runs++}` }),
      ...options.env,
    },
    stdin: options.stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  });
}

/** Runs the program with `args` to its end. */
export async function run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const child = command(args, options).spawn();
  const { stdin } = options;
  if (stdin !== undefined) {
    const writer = child.stdin.getWriter();
    // A program may exit without reading its stdin.
    writer.write(typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin)
      .then(() => writer.close()).catch(() => {});
  }
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
