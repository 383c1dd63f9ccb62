/** Access lists and extended attributes of files, which Deno can neither read nor write. @module */

import { basename, dirname } from "../../text/std_path.ts";
import { programFolders } from "../shell/find_program.ts";

/**
 * Gives a temporary file the access list and the extended attributes of a file beside it, and takes
 * away those that their folder gave it; false where that cannot be done. Not for Windows. It takes
 * milliseconds each time, as nothing that Deno can read tells which files have any.
 * @param folder the working directory, whose programs are not run
 */
export async function copyAttributes(
  from: string,
  temporary: string,
  folder?: string,
): Promise<boolean> {
  // Outside Linux it copies the content as well.
  const cp = Deno.build.os === "linux" ? "cp --attributes-only --preserve=mode,xattr" : "cp -p";
  try {
    const { success } = await new Deno.Command("/bin/sh", {
      // The folder is resolved once. Where it was swapped for a link, no file of that random name is
      // there, and `cp` would make one.
      args: [
        "-c",
        `[ -f "$2" ] && exec ${cp} -- "$1" "$2"`,
        "sh",
        basename(from),
        basename(temporary),
      ],
      cwd: dirname(temporary),
      clearEnv: true,
      env: { PATH: programFolders(folder).join(":") },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  } catch {
    return false;
  }
}
