/**
 * Runs scripts in a folder that is resolved once. Between two system calls, a background command can replace any folder
 * that it may write with a link. Deno has no `openat`, but a shell whose working directory is a folder stays in it.
 * @module
 */

import { attempt } from "../../attempt.ts";
import { join } from "../../text/std_path.ts";
import { utf8Text } from "../../text/utf8.ts";
import type { Grant } from "../../types/tool.ts";
import { systemProgram } from "../../start_program.ts";

export const hasShell = Deno.build.os !== "windows";

/** With it, `mv` and `ln` take their target as a name, also if a folder or a link to one is there. */
export const AS_NAME = Deno.build.os === "darwin" ? "h" : "T";

/** The links have changed since the decision on the call. */
export class MovedError extends Error {
  /** @param temporary the temporary file that may remain */
  constructor(readonly temporary?: string) {
    super();
  }
}

const MOVED = 3;

/**
 * Runs a script with `/bin/sh` in `folder`. `$at` is the folder's path.
 * @param folder absolute, without links
 * @throws {MovedError} if the path now leads elsewhere, or the script exits with `$MOVED`
 */
export async function runInFolder(
  folder: string,
  script: string,
  args: readonly string[],
): Promise<{ code: number; stdout: string; error: string }> {
  const { code, stdout, stderr } = await systemProgram("/bin/sh", {
    args: ["-c", `at=$0\n[ "$(pwd -P)" = "$at" ] || exit $MOVED\n${script}`, folder, ...args],
    cwd: folder,
    env: { MOVED: String(MOVED), LC_ALL: "C" },
  }).output();
  if (code === MOVED) throw new MovedError();
  return { code, stdout: utf8Text(stdout), error: utf8Text(stderr).trim() };
}

const PATTERNS = ["*", ".[!.]*", "..?*"];

/** Returns the names in a folder, of a granted one only if its path has no links. @throws {MovedError} */
export async function* entryNames(path: string, grant?: Grant): AsyncGenerator<string> {
  // Also throws if it is not a folder.
  for await (const { name } of Deno.readDir(path)) {
    if (grant && hasShell) break;
    yield name;
  }
  if (!grant || !hasShell) return;
  const script = `printf '%s\\0' ${PATTERNS.join(" ")}`;
  const { stdout } = await runInFolder(path, script, []);
  for (const name of stdout.split("\0")) {
    // A pattern without a match is a plain name.
    const isName = !PATTERNS.includes(name) || attempt(() => Deno.lstatSync(join(path, name)));
    if (name !== "" && isName) yield name;
  }
}
