/** Access lists and extended attributes of files, which Deno can neither read nor write. @module */

import { basename, dirname } from "../../text/std_path.ts";
import { programFolders } from "../../find_program.ts";

/** A copy that takes longer, in ms, waits for something that has replaced the file. */
const MAX_COPY_MS = 5000;

/**
 * Copies the access list and the extended attributes of a file to a temporary file beside it, and removes those
 * inherited from the folder. Returns false if that is impossible. Not for Windows. It takes milliseconds each time,
 * because Deno cannot tell which files have any.
 * @param limits `folder`: the working directory, whose programs are not run; `signal` ends the copy
 */
export async function copyAttributes(
  from: string,
  temporary: string,
  limits: { folder: string | undefined; signal: AbortSignal | undefined },
): Promise<boolean> {
  // Outside Linux, it also copies the content.
  const cp = Deno.build.os === "linux" ? "cp --attributes-only --preserve=mode,xattr" : "cp -p";
  const { folder, signal } = limits;
  const limit = AbortSignal.timeout(MAX_COPY_MS);
  try {
    const { success } = await new Deno.Command("/bin/sh", {
      // The folder is resolved once. If it was replaced by a link, no file of that random name is there, and `cp` would
      // create one.
      args: [
        "-c",
        `[ -f "$1" ] && [ -f "$2" ] && exec ${cp} -- "$1" "$2"`,
        "sh",
        basename(from),
        basename(temporary),
      ],
      cwd: dirname(temporary),
      clearEnv: true,
      env: { PATH: programFolders(folder).join(":") },
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  } catch {
    return false;
  }
}
