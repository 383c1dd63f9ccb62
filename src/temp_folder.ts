/** A private folder for temporary files. @module */

import { attempt } from "./attempt.ts";
import { reasonOf } from "./text/reason.ts";
import { dirname } from "./text/std_path.ts";
import { privateFolder, type VariableReader } from "./user_files.ts";

/** Further places for the folder: that of TMPDIR or the system, then the usual ones. */
const PLACES = Deno.build.os === "windows" ? [undefined] : [undefined, "/tmp", "/var/tmp"];

/** The folders of this program, locked until it ends, so that others do not remove them. */
export const tempFolders = new Map<string, Deno.FsFile | undefined>();

/**
 * Creates a folder for this user only, and returns its path without links. It is in {@linkcode privateFolder}, which no
 * sandboxed command sees. Without that one, it is in a usual place, which commands of other sessions may write.
 *
 * @throws {Error} if that fails everywhere.
 */
export function makeTempFolder(prefix: string, env?: VariableReader): string {
  const own = privateFolder(env);
  let fault: unknown;
  for (const dir of own === undefined ? PLACES : [own, ...PLACES]) {
    try {
      if (dir === own && own !== undefined) makePrivate(own);
      const made = Deno.makeTempDirSync({ prefix, ...dir !== undefined && { dir } });
      const real = Deno.realPathSync(made);
      const file = attempt(() => Deno.openSync(real));
      attempt(() => file?.tryLockSync(true));
      tempFolders.set(real, file);
      return real;
    } catch (error) {
      fault ??= error;
    }
  }
  throw noTempFiles(own ?? Deno.env.get("TMPDIR") ?? "/tmp", fault);
}

/** Makes the folder for all runs of this user. Root makes no folder in another user's home, as that user could not use it. */
function makePrivate(folder: string): void {
  const isOfOther = (path: string) => {
    const uid = attempt(() => Deno.statSync(path).uid);
    return typeof uid === "number" && uid !== Deno.uid();
  };
  let around = folder;
  while (attempt(() => Deno.statSync(around)) === undefined) around = dirname(around);
  if ((around === folder || Deno.uid() === 0) && isOfOther(around)) {
    throw new Deno.errors.PermissionDenied("it is another user's");
  }
  Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** Removes a folder of {@linkcode makeTempFolder} with all in it, as far as the user may. */
export function removeTempFolder(folder: string): void {
  attempt(() => tempFolders.get(folder)?.close());
  tempFolders.delete(folder);
  attempt(() => Deno.removeSync(folder, { recursive: true }));
}

/** Returns the error for a folder in which no temporary files can be written. */
export function noTempFiles(folder: string, fault: unknown): Error {
  const reason = reasonOf(fault);
  return new Error(
    `Cannot write temporary files in ${folder} (${reason}): set XDG_STATE_HOME to a folder with room`,
    { cause: fault },
  );
}
