/**
 * Scripts that change folders which sandboxed programs can write. Between two system calls, such a program can replace
 * any folder there by a link. Deno has no `openat`, but a shell whose working directory is a folder stays in it.
 * @module
 */

import { attempt } from "../attempt.ts";

/** `at` enters a folder unless a link leads to it. The shell's own `pwd` may only repeat the path. */
const AT = `at() { cd -- "$1" && [ "$(/bin/pwd -P)" = "$1" ]; }
at "$0" || exit
`;

/** A file may be a pipe without a reader, and folders may grow without end. */
const SHELL_WORDS = Deno.build.os === "linux"
  ? "/usr/bin/timeout -s KILL 20 /bin/sh".split(" ")
  : ["/bin/sh"];

/** Runs a script with `/bin/sh` in a folder, `$0`. Returns its output, and the reason if it failed. */
export function runInPlace(folder: string, script: string, args: readonly string[] = []) {
  const ran = attempt(() =>
    new Deno.Command(SHELL_WORDS[0]!, {
      args: [...SHELL_WORDS.slice(1), "-c", AT + script, folder, ...args],
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC0" },
      cwd: "/",
      clearEnv: true,
      stdin: "null",
    }).outputSync()
  );
  const text = (bytes?: Uint8Array) => new TextDecoder().decode(bytes).trim();
  const fault = ran?.success
    ? undefined
    : text(ran?.stderr).split("\n")[0] || "it was replaced, or took too long";
  return { output: text(ran?.stdout), fault };
}
