/** Access lists and extended attributes of files, which Deno can neither read nor write. @module */

import { attempt } from "../../attempt.ts";
import { basename, dirname } from "../../text/std_path.ts";
import { systemProgram } from "../../start_program.ts";
import { pathOfOpen } from "./regular_file.ts";

/** A copy that takes longer, in ms, waits for something that has replaced the file. */
const MAX_COPY_MS = 5000;
/** On other systems than Linux, `cp` also copies the content. */
const HOW = Deno.build.os === "linux"
  ? ["--attributes-only", "--preserve=mode,xattr", "--"]
  : ["-p", "--"];

/**
 * Gives an open temporary file the owner, the mode, the access list and the extended attributes of the file beside it,
 * and no others. Returns the reason if it cannot. Not for Windows. It takes milliseconds each time, because Deno cannot
 * tell which files have any.
 * @param signal ends the copy
 */
export async function copyAttributes(
  old: Deno.FileInfo & { path: string },
  temporary: Deno.FileInfo & { path: string },
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const limit = AbortSignal.timeout(MAX_COPY_MS);
  const to = pathOfOpen(temporary, temporary.path);
  try {
    const isSame = temporary.uid === old.uid && temporary.gid === old.gid;
    if (!isSame) Deno.chownSync(to, old.uid, old.gid);
  } catch {
    return "its owner would have changed otherwise";
  }
  const command = systemProgram("cp", {
    args: [...HOW, basename(old.path), to],
    cwd: dirname(temporary.path),
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
    stdout: "null",
    stderr: "null",
  });
  // A pipe would be waited for.
  const isCopied = attempt(() => Deno.statSync(old.path).isFile) &&
    await Promise.try(() => command.output()).then(({ success }) => success, () => false);
  const { mode } = Deno.statSync(to);
  // A job may have put a link to a program of root in the file's place.
  if (isCopied && (mode! & 0o6000) !== 0) Deno.chmodSync(to, mode! & 0o1777);
  if (isCopied) return undefined;
  // With an access list, the group bits are the mask of the list, not the group's rights.
  Deno.chmodSync(to, 0o600);
  return "its access list and attributes would have been lost otherwise";
}
