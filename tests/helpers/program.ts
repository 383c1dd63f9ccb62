/**
 * Runs the real program as a process, as a user would, with a home and an environment of its own.
 *
 * @module
 */

import { fromFileUrl } from "@std/path/from-file-url";

/** What Deno runs: `scripts/test` makes a bundle, which starts with a third less of the processor's time. */
export const ENTRY: string = Deno.env.get("COPILOT_ENTRY") ??
  fromFileUrl(new URL("../../main.ts", import.meta.url));

/** How to run it. */
export interface RunOptions {
  /** What stands on stdin: nothing at all (`/dev/null`) when left out. */
  stdin?: string | Uint8Array;
  cwd?: string;
  env?: Record<string, string>;
}

/** What became of it. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Deno's cache in a home folder, where the system's own place for it is there. */
const denoDirIn = (home: string) => Deno.build.os === "linux" ? `${home}/.cache/deno` : "";

/** The command that runs the program with `args`. */
export function command(args: readonly string[], options: RunOptions = {}): Deno.Command {
  const { PATH = "", HOME = "", DENO_DIR = denoDirIn(HOME), TMPDIR } = Deno.env.toObject();
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-prompt", ENTRY, ...args],
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    clearEnv: true,
    // Deno's own cache is under HOME: only the program is to see another one, and nothing is compiled anew.
    env: {
      PATH,
      HOME,
      ...(DENO_DIR && { DENO_DIR }),
      // Where all else is read-only, as when the tests are tested.
      ...(TMPDIR && { TMPDIR }),
      NO_COLOR: "1",
      // Deno asks its own host for news once a day: beside the servers of the tests, and at a bad time.
      DENO_NO_UPDATE_CHECK: "1",
      XDG_CONFIG_HOME: "/nowhere",
      // A test keeps what lasts in a folder of its own, or not at all.
      ...(!options.env?.HOME && { XDG_STATE_HOME: "/dev/null" }),
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
    // A program that ends without reading closes the pipe: that is its good right.
    writer.write(typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin)
      .then(() => writer.close()).catch(() => {});
  }
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
