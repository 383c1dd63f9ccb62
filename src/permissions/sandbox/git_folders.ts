/** git's folders while a command of git writes them: what makes git run programs stays read-only. @module */

import { attempt } from "../../attempt.ts";
import { dirname, join } from "../../text/std_path.ts";
import { wait } from "../../wire/wait.ts";
import { entryAt, type View } from "../view.ts";

/** Settings, hooks, and what leads git to other settings, or to the objects of another repository. */
const READ_ONLY =
  "config config.worktree commondir gitdir hooks info modules worktrees objects/info/alternates"
    .split(" ");
/**
 * Folders, and files with a text, that are made where they are missing, for as long as commands run. In `commondir`, `.` leads git to the folder itself.
 */
const MISSING: readonly (readonly [name: string, text?: string])[] = [
  ["hooks"],
  ["info"],
  ["modules"],
  ["worktrees"],
  ["commondir", ".\n"],
  ["config.worktree", ""],
  ["objects/info/alternates", ""],
];
/** The time of a change that what is made here has, whichever run made it. Files of others have another. */
const MADE = new Date(1_000_000_007_000);
/** A command of git waits so often, 5 ms each, while another run removes what it made. */
const MAX_LOCK_TRIES = 100;

/** The view with git's folders open; `close` is called at the end of the command. */
export async function openGitFolders(view: View): Promise<{ view: View; close(): void }> {
  const places = new Map(view.places);
  const open: [folder: string, held: Deno.FsFile][] = [];
  for (const folder of (view.gitFolders ?? []).filter(isOpenable)) {
    const held = await share(folder);
    if (held === undefined) continue;
    open.push([folder, held]);
    if (!makeMissing(folder)) continue;
    places.set(folder, "write");
    for (const path of READ_ONLY.map((name) => join(folder, name))) {
      if (entryAt(path) !== undefined) places.set(path, "read");
    }
  }
  const close = () => {
    for (const [folder, held] of open.splice(0)) {
      // Of several that end at once, the last to let go is alone then.
      attempt(() => held.unlockSync());
      if (attempt(() => held.tryLockSync(true)) ?? true) removeMade(folder);
      held.close();
    }
  };
  return { view: { ...view, places }, close };
}

/** True for a folder in which all that stays read-only can be mounted. */
function isOpenable(folder: string): boolean {
  return entryAt(folder)?.isDirectory === true && entryAt(join(folder, "HEAD")) !== undefined &&
    READ_ONLY.every((name) => entryAt(join(folder, name))?.isSymlink !== true);
}

/** Has no other command, of this run or another, remove what is made in the folder. */
async function share(folder: string): Promise<Deno.FsFile | undefined> {
  const held = attempt(() => Deno.openSync(folder));
  for (let tries = 0; held && tries < MAX_LOCK_TRIES; tries++) {
    // Some network drives have no locks.
    if (attempt(() => held.tryLockSync(false)) ?? true) return held;
    await wait(5, undefined);
  }
  held?.close();
  return undefined;
}

/** False where something is still missing: only what is there can be read-only. */
function makeMissing(folder: string): boolean {
  return MISSING.every(([name, text]) => {
    const path = join(folder, name);
    const isThere = () => entryAt(path) !== undefined;
    const make = () => {
      if (text === undefined) Deno.mkdirSync(path);
      else {
        Deno.mkdirSync(dirname(path), { recursive: true });
        Deno.writeTextFileSync(path, text, { createNew: true });
      }
      Deno.utimeSync(path, MADE, MADE);
    };
    // Another run may make it just now.
    if (!isThere()) attempt(make);
    return isThere();
  });
}

function removeMade(folder: string): void {
  for (const path of MISSING.map(([name]) => join(folder, name))) {
    if (entryAt(path)?.mtime?.getTime() === MADE.getTime()) attempt(() => Deno.removeSync(path));
  }
}
