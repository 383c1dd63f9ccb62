/** git's folders while a command of git writes them: what makes git run programs stays read-only. @module */

import { attempt } from "../../attempt.ts";
import { dirname, join } from "../../text/std_path.ts";
import { entryAt, type View } from "../view.ts";

/** Settings, hooks, and what leads git to other settings, or to the objects of another repository. */
const READ_ONLY =
  "config config.worktree commondir gitdir hooks info modules worktrees objects/info/alternates"
    .split(" ");
/**
 * What is made where it is missing, for as long as a command runs, as only what is there can be read-only:
 * folders, and files with a text. In `commondir`, `.` leads git to the folder itself.
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
/** The number of commands for which something is there, by its path. */
const users = new Map<string, number>();

/** The view with git's folders open; `close` is called at the end of the command. */
export function openGitFolders(view: View): { view: View; close(): void } {
  const places = new Map(view.places);
  const used: string[] = [];
  for (const folder of (view.gitFolders ?? []).filter(isOpenable)) {
    const made = attempt(() => makeMissing(folder));
    if (made === undefined) continue;
    used.push(...made);
    places.set(folder, "write");
    for (const path of READ_ONLY.map((name) => join(folder, name))) {
      if (entryAt(path) !== undefined) places.set(path, "read");
    }
  }
  for (const path of used) users.set(path, (users.get(path) ?? 0) + 1);
  const close = () => {
    for (const path of used) {
      const left = users.get(path)! - 1;
      users.set(path, left);
      if (left > 0) continue;
      users.delete(path);
      attempt(() => Deno.removeSync(path));
    }
  };
  return { view: { ...view, places }, close };
}

/** True for a folder in which all that stays read-only can be mounted. */
function isOpenable(folder: string): boolean {
  return entryAt(folder)?.isDirectory === true && entryAt(join(folder, "HEAD")) !== undefined &&
    READ_ONLY.every((name) => entryAt(join(folder, name))?.isSymlink !== true);
}

/** Makes what is missing. Returns the paths of what was made, for this command or for one that still runs. */
function makeMissing(folder: string): string[] {
  return MISSING.flatMap(([name, text]) => {
    const path = join(folder, name);
    if (users.has(path)) return [path];
    if (entryAt(path) !== undefined) return [];
    if (text === undefined) Deno.mkdirSync(path);
    else {
      Deno.mkdirSync(dirname(path), { recursive: true });
      Deno.writeTextFileSync(path, text, { createNew: true });
    }
    return [path];
  });
}
