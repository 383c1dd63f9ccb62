/**
 * Scripts that change folders which sandboxed programs can write. Between two system calls, such a program can replace
 * any folder there by a link. Deno has no `openat`, but a shell whose working directory is a folder stays in it.
 * @module
 */

import { attempt } from "../attempt.ts";
import { systemProgram } from "../start_program.ts";

/**
 * `at` enters a folder unless a link leads to it: the shell's own `pwd` may only repeat the path, and `$()` drops line
 * breaks at its end. `into` enters a folder in it unless it is a link, without another program. `each` runs the script
 * in a folder, `$here`, and prints its output, its errors and its exit code, each with a NUL character at its end.
 */
const EACH = `exec 3>&1
end="
."
at() { cd -- "$1" && [ "$(/bin/pwd -P; echo .)" = "$1$end" ]; }
into() { exec 4<. && cd -- "./$1" && [ .. -ef /dev/fd/4 ]; }
each() {
  errors=$({ at "$1" && here=$1 && shift && run "$@"; } 2>&1 >&3)
  printf '\\0%s\\0%s\\0' "$errors" $? >&3
}
run() {
`;

/** The ms that programs may still take while this program blocks: until they end, neither Esc nor signals are handled. */
export interface WaitTime {
  left: number;
}

export const waitTime = (): WaitTime => ({ left: 10_000 });

/** Returns the output of a program, without input; undefined if it did not start. `timeout` is the path of that program. */
export function outputIn(
  time: WaitTime,
  timeout: string | undefined,
  words: readonly string[],
  env: Record<string, string>,
): Deno.CommandOutput | undefined {
  if (time.left <= 0) return undefined;
  const begun = performance.now();
  const seconds = String(Math.ceil(time.left / 1000));
  const [program = "", ...args] = [...timeout ? [timeout, "-s", "KILL", seconds] : [], ...words];
  const ran = attempt(() =>
    systemProgram(program, { args, env, cwd: "/", stderr: "null" }).outputSync()
  );
  time.left -= performance.now() - begun;
  return ran;
}

/** A file may be a pipe without a reader, and folders may grow without end. */
const TIMEOUT = Deno.build.os === "linux" ? "/usr/bin/timeout" : undefined;

type InPlace = readonly [folder: string, args?: readonly string[] | undefined];
const MAX_PLACES = 50;

/** Runs a script with `/bin/sh` in folders. Returns the output for each, and the reason if it failed. */
export function runInPlaces(
  script: string,
  folders: readonly InPlace[],
  time = waitTime(),
): { output: string; fault: string | undefined }[] {
  if (folders.length === 0) return [];
  const now = folders.slice(0, MAX_PLACES);
  let at = 0;
  const runs = now.map(([, args = []]) =>
    ["each", ...[undefined, ...args].map(() => `"\${${++at}}"`)].join(" ")
  );
  const words = ["/bin/sh", "-c", `${EACH}${script}\n}\n${runs.join("\n")}`, "sh"];
  const given = now.flatMap(([folder, args = []]) => [folder, ...args]);
  const ran = outputIn(time, TIMEOUT, [...words, ...given], { LC_ALL: "C", TZ: "UTC0" });
  const parts = new TextDecoder().decode(ran?.stdout).split("\0");
  const results = now.map((_, i) => {
    const [output = "", errors = "", code] = parts.slice(3 * i, 3 * i + 3);
    const why = errors.split("\n")[0] || "it was replaced, or took too long";
    return { output: output.trim(), fault: code === "0" ? undefined : why };
  });
  return [...results, ...runInPlaces(script, folders.slice(MAX_PLACES), time)];
}

export const runInPlace = (
  folder: string,
  script: string,
  args?: readonly string[],
  time?: WaitTime,
) => runInPlaces(script, [[folder, args]], time)[0]!;

/** Prints a file unless a link leads to it. */
export const READ_FILE = `[ -f "./$1" ] && exec 4<"./$1" &&
[ "$(readlink /proc/self/fd/4)" = "$here/$1" ] && head -c 1000000 <&4`;

/** Opens a folder that a command closed, whose name is the argument; no link that replaces it, at most to a folder. */
export const OPEN_FOLDER = `[ -L "./$1" ] || chmod u+rwx "./$1/"`;

/** Opens all that commands have closed: it would look removed, and git adds nothing then. */
export const OPEN_ALL =
  "find . ! -type l '(' ! -perm -600 -o -type d ! -perm -100 ')' -exec chmod u+rwX '{}' ';'";
