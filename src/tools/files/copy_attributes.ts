/** Access lists and extended attributes of files, which Deno can neither read nor write. @module */

import { basename, dirname } from "../../text/std_path.ts";
import { systemProgram } from "../../start_program.ts";

/** A copy that takes longer, in ms, waits for something that has replaced the file. */
const MAX_COPY_MS = 5000;

/** The exit code of {@linkcode COPY_RIGHTS} if the owner cannot be set. */
const NO_OWNER = 4;
/**
 * Arguments: the names of the file and the temporary file, the latter's identity, and its new owner or "". On Linux, the
 * open file is changed, because a program may replace its name by a link. Elsewhere, `cp` also copies the content.
 */
const COPY_RIGHTS = `to=./$2 cp='cp -p'
if [ -d /proc/self/fd ]; then
  exec 3<"$to" && to=/proc/self/fd/3 && [ "$(stat -Lc %d:%i $to)" = "$3" ] || exit
  cp='cp --attributes-only --preserve=mode,xattr'
fi
[ -z "$4" ] || chown "$4" "$to" || exit ${NO_OWNER}
trap 'kill $!' TERM
if [ -f "$1" ] && [ -f "$to" ] && { $cp -- "$1" "$to" & } && wait $!; then
  # A job may have put a link to a program of root in the file's place.
  [ ! -u "$to" ] && [ ! -g "$to" ] || exec chmod ug-s "$to"
  exit
fi
# With an access list, the group bits are the mask of the list, not the group's rights.
chmod 600 "$to"; exit 1`;

/**
 * Gives a temporary file the owner, the mode, the access list and the extended attributes of the file beside it, and no
 * others. Returns the reason if it cannot. Not for Windows. It takes milliseconds each time, because Deno cannot tell
 * which files have any.
 * @param signal ends the copy
 */
export async function copyAttributes(
  old: Deno.FileInfo & { path: string },
  temporary: Deno.FileInfo & { path: string },
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const limit = AbortSignal.timeout(MAX_COPY_MS);
  const isSame = temporary.uid === old.uid && temporary.gid === old.gid;
  const owner = isSame ? "" : `${old.uid}:${old.gid}`;
  const identity = `${temporary.dev}:${temporary.ino}`;
  const command = systemProgram("/bin/sh", {
    args: ["-c", COPY_RIGHTS, "sh", basename(old.path), basename(temporary.path), identity, owner],
    cwd: dirname(temporary.path),
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
    stdout: "null",
    stderr: "null",
  });
  const code = await Promise.try(() => command.output()).then(({ code }) => code, () => 1);
  if (code === 0) return undefined;
  return code === NO_OWNER
    ? "its owner would have changed otherwise"
    : "its access list and attributes would have been lost otherwise";
}
