/**
 * Work in a folder that is resolved once. Between two system calls a command in the background can put a link in
 * the place of any folder that it may write. Deno has no `openat`, but a shell that stands in a folder works in
 * it wherever its name leads by now. @module
 */

import { utf8Text } from "../../text/utf8.ts";
import type { Grant } from "../../types/tool.ts";
import { programFolders } from "../shell/find_program.ts";

/** False where there is no shell for {@linkcode runInFolder}. */
export const hasShell = Deno.build.os !== "windows";

/** Links lead elsewhere than when the call was decided on. */
export class MovedError extends Error {
  /** @param temporary the temporary file that may be left behind */
  constructor(readonly temporary?: string) {
    super();
  }
}

/** The exit code where the folder is not the granted one. */
const MOVED = 3;

/**
 * Runs a script for `/bin/sh` in `folder`, in which `$at` is the folder's path.
 * @param folder absolute, without links
 * @throws {MovedError} where the path leads elsewhere, or the script exits with `$MOVED`
 */
export async function runInFolder(
  folder: string,
  script: string,
  args: readonly string[],
  { withheld }: Grant,
): Promise<{ code: number; stdout: string; error: string }> {
  const { code, stdout, stderr } = await new Deno.Command("/bin/sh", {
    args: ["-c", `at=$0\n[ "$(pwd -P)" = "$at" ] || exit $MOVED\n${script}`, folder, ...args],
    cwd: folder,
    clearEnv: true,
    env: { PATH: programFolders(withheld.folder).join(":"), MOVED: String(MOVED), LC_ALL: "C" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  if (code === MOVED) throw new MovedError();
  return { code, stdout: utf8Text(stdout), error: utf8Text(stderr).trim() };
}
