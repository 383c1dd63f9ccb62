/** The folders of a run that confined commands see as `/tmp` and the like. @module */

import { attempt } from "../../attempt.ts";
import { makeTempFolder } from "../../temp_folder.ts";
import { dirname, join } from "../../text/std_path.ts";
import { entryAt } from "../view.ts";

const PREFIX = "copilot-sandbox-";
/** A younger folder may be one that another run just makes, in milliseconds. */
const MIN_AGE_MS = 60_000;
/** Commands may have taken the right to write in their folders, and may still be ending. */
const REMOVE = `for try in 1 2 3 4 5; do
  chmod -R u+rwX -- "$@"
  rm -rf -- "$@" && exit
  sleep 0.1
done`;

/** A folder in which a sandbox is tried. A run that is killed meanwhile has it removed by a later one. */
export const makeSandboxFolder = (): string => makeTempFolder(PREFIX);

/** Makes the folder of this run, removed by what is given to `atEnd`, and has those removed that killed runs left. */
export function makeOwnFolder(atEnd: (remove: () => void) => void): string {
  const folder = makeSandboxFolder();
  // The system ends the lock with this program.
  const held = attempt(() => Deno.openSync(folder));
  attempt(() => held?.tryLockSync(true));
  atEnd(() => {
    attempt(() => held?.close());
    attempt(() => Deno.removeSync(folder, { recursive: true }));
    if (entryAt(folder)) attempt(() => removal([folder]).outputSync());
  });
  const around = dirname(folder);
  const all = attempt(() => [...Deno.readDirSync(around)]) ?? [];
  removeLater(
    all.filter(({ name }) => name.startsWith(PREFIX)).map(({ name }) => join(around, name))
      .filter((path) => path !== folder && isLeft(path)),
  );
  return folder;
}

/** Removes folders, which are no links, without waiting for it. */
export function removeLater(folders: readonly string[]): void {
  if (folders.length > 0) attempt(() => removal(folders).spawn().unref());
}

/** True for a folder of this user's, of a run that ended. */
function isLeft(path: string): boolean {
  const { isDirectory, uid, mtime } = entryAt(path) ?? {};
  const isOld = Date.now() - (mtime?.getTime() ?? Infinity) > MIN_AGE_MS;
  if (!isDirectory || uid !== Deno.uid() || !isOld) return false;
  using file = attempt(() => Deno.openSync(path));
  return attempt(() => file?.tryLockSync(true)) === true;
}

const removal = (paths: readonly string[]) =>
  new Deno.Command("/bin/sh", {
    args: ["-c", REMOVE, "sh", ...paths],
    env: { PATH: "/usr/bin:/bin" },
    cwd: "/",
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  });
