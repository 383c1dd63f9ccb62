/** The folders of a run that sandboxed commands see as `/tmp` and the like. @module */

import { attempt } from "../../attempt.ts";
import { systemProgram } from "../../start_program.ts";
import { makeTempFolder, removeTempFolder } from "../../temp_folder.ts";
import { dirname, join } from "../../text/std_path.ts";
import { privateFolder, type VariableReader } from "../../user_files.ts";
import { namesIn } from "../path_table.ts";
import { entryAt, realPathOf } from "../places.ts";

/** Another run may just be creating a newer folder; in milliseconds. */
const MIN_AGE_MS = 60_000;
/** Commands may have removed write permissions in their folders, and may still be ending. */
const REMOVE = `for try in 1 2 3 4 5; do
  chmod -R u+rwX -- "$@"
  rm -rf -- "$@" && exit
  sleep 0.1
done`;

/** Creates the folder of this run, which `atEnd`'s argument removes, and removes all folders of killed runs. */
export function makeOwnFolder(
  atEnd: (remove: () => void) => void,
  env?: VariableReader,
): string {
  const folder = makeTempFolder("copilot-sandbox-", env);
  atEnd(() => {
    removeTempFolder(folder);
    // Commands may have removed permissions in it.
    if (entryAt(folder)) attempt(() => removal([folder]).outputSync());
  });
  const around = dirname(folder);
  // The system empties the other places.
  if (around === realPathOf(privateFolder(env) ?? "")) {
    removeLater(namesIn(around).map((name) => join(around, name)).filter(isLeft));
  }
  return folder;
}

/** Starts removing folders, which are not links, and does not wait. */
export function removeLater(folders: readonly string[]): void {
  if (folders.length > 0) attempt(() => removal(folders).spawn().unref());
}

/** True for what a killed program left: it is old, and its lock is free. */
function isLeft(path: string): boolean {
  const { isDirectory, uid, mtime } = entryAt(path) ?? {};
  const isOld = Date.now() - (mtime?.getTime() ?? Infinity) > MIN_AGE_MS;
  if (!isDirectory || uid !== Deno.uid() || !isOld) return false;
  using file = attempt(() => Deno.openSync(path));
  return attempt(() => file?.tryLockSync(true)) === true;
}

const removal = (paths: readonly string[]) =>
  systemProgram("/bin/sh", {
    args: ["-c", REMOVE, "sh", ...paths],
    cwd: "/",
    stdout: "null",
    stderr: "null",
  });
