/** git's folders while a command of git writes them: what makes git run programs stays read-only. @module */

import { attempt } from "../../attempt.ts";
import { basename, dirname, join } from "../../text/std_path.ts";
import { wait } from "../../wire/wait.ts";
import { smallFile } from "../git_files.ts";
import { entryAt, NEW, type View } from "../view.ts";
import {
  changedFaults,
  type GitAnswers,
  type GitState,
  gitState,
  HEAD_TEXT,
  putAside,
} from "./git_faults.ts";

/** Settings, hooks, and what leads git to other settings, or to the objects of another repository. */
const READ_ONLY =
  "config config.worktree commondir ../commondir gitdir hooks info modules worktrees remotes branches objects/info/alternates"
    .split(" ");
/**
 * Folders, and files with a text, that are made where they are missing, for as long as commands run. In `commondir`, `.` leads git to the folder itself.
 */
const MISSING: readonly (readonly [name: string, text?: string])[] = [
  ["hooks"],
  ["info"],
  ["modules"],
  ["worktrees"],
  ["remotes"],
  ["branches"],
  ["commondir", ".\n"],
  ["config.worktree", ""],
  ["objects/info/alternates", ""],
];
/**
 * A folder in the work tree that git ignores. As long as it is there, git never takes the work tree for a repository
 * whose settings a command wrote, even if `.git` is broken.
 */
const BESIDE = "../commondir";
/** True for the folder of a linked work tree: its objects are those of the repository. */
const isLinked = (folder: string): boolean => basename(dirname(folder)) === "worktrees";
const missingIn = (folder: string): typeof MISSING =>
  isLinked(folder)
    ? MISSING.filter(([name]) => !name.includes("/"))
    : basename(folder) === ".git"
    ? [...MISSING, [`${BESIDE}/.gitignore`, "*\n"]]
    : MISSING;
/** The time of a change that what is made here has, whichever run made it. Files of others have another. */
const MADE = new Date(1_000_000_007_000);
const neededIn = (folder: string): string[] =>
  ["", ...isLinked(folder) ? [] : ["objects", "refs"]].map((name) => join(folder, name));
/** A command of git waits so often, 5 ms each, while another run removes what it made. */
const MAX_LOCK_TRIES = 100;

/** The view with git's `folders` open; `close` is called at the end of the command, and returns what it put back. */
export async function openGitFolders(
  view: View,
  git: GitAnswers,
): Promise<{ view: View; close(): string[] }> {
  const places = new Map(view.places);
  const open: { folder: string; held: Deno.FsFile; before: GitState }[] = [];
  for (const folder of (view.gitFolders ?? []).filter(isOpenable)) {
    const held = await share(folder);
    if (held === undefined) continue;
    open.push({ folder, held, before: gitState(folder) });
    if (!makeMissing(folder)) continue;
    places.set(folder, "write");
    for (const path of READ_ONLY.map((name) => join(folder, name))) {
      if (entryAt(path) !== undefined) places.set(path, "read");
    }
  }
  const close = () =>
    open.splice(0).flatMap(({ folder, held, before }) => {
      // Others may still write here, and a job can hold a lock for as long as it runs.
      const mended = attempt(() => mend(folder, git, before)) ?? [];
      // Of several that end at once, the last to let go is alone then.
      attempt(() => held.unlockSync());
      if (attempt(() => held.tryLockSync(true)) ?? true) removeMade(folder);
      held.close();
      return mended;
    });
  return { view: { ...view, places }, close };
}

/**
 * Undoes what would make the person's own git write or run something: links, through which git writes; a repository
 * that git does not see any more, so that it takes the folder around it for one, with settings of its own; commands
 * that a rebase would run. What is not known from `before` may be the work of a command.
 */
function mend(folder: string, git: GitAnswers, before?: GitState): string[] {
  for (const path of neededIn(folder)) {
    if (!entryAt(path)?.isDirectory) {
      attempt(() => Deno.removeSync(path));
      Deno.mkdirSync(path);
    }
    const { mode } = Deno.statSync(path);
    if (mode !== null && (mode & 0o700) !== 0o700) Deno.chmodSync(path, mode | 0o700);
  }
  return putAside(changedFaults(folder, git, before, READ_ONLY));
}

/** True for a folder that git takes for a repository. */
function isIntact(folder: string): boolean {
  return HEAD_TEXT.test(smallFile(join(folder, "HEAD"))) && neededIn(folder).every((path) => {
    const { isDirectory, mode } = entryAt(path) ?? {};
    return isDirectory && ((mode ?? 0o700) & 0o700) === 0o700;
  });
}

/** True for a repository in which all that stays read-only can be mounted. */
function isOpenable(folder: string): boolean {
  return isIntact(folder) && entryAt(join(folder, BESIDE))?.isDirectory !== false &&
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
  return missingIn(folder).every(([name, text]) => {
    const path = join(folder, name);
    const isThere = () => entryAt(path) !== undefined;
    const make = () => {
      if (text === undefined) Deno.mkdirSync(path);
      else {
        Deno.mkdirSync(dirname(path), { recursive: true });
        Deno.writeTextFileSync(path, text, NEW);
      }
      Deno.utimeSync(path, MADE, MADE);
    };
    // Another run may make it just now.
    if (!isThere()) attempt(make);
    return isThere();
  });
}

/**
 * Undoes what commands of git left if their run was killed: what was made for them is there still, and no run has it
 * open. Returns undefined for none.
 */
export function mendKilled({ repositories = [] }: View, git: GitAnswers): string[] | undefined {
  const killed = repositories.filter((folder) => madeIn(folder).length > 0).flatMap((folder) => {
    const held = attempt(() => Deno.openSync(folder));
    const isAlone = held && (attempt(() => held.tryLockSync(true)) ?? true);
    const mended = isAlone ? attempt(() => mend(folder, git)) ?? [] : undefined;
    if (isAlone) removeMade(folder);
    held?.close();
    return mended === undefined ? [] : [mended];
  });
  return killed.length > 0 ? killed.flat() : undefined;
}

const madeIn = (folder: string): string[] =>
  missingIn(folder).map(([name]) => join(folder, name))
    .filter((path) => entryAt(path)?.mtime?.getTime() === MADE.getTime());

function removeMade(folder: string): void {
  if (!isIntact(folder)) return;
  for (const path of madeIn(folder)) attempt(() => Deno.removeSync(path));
  attempt(() => Deno.removeSync(join(folder, BESIDE)));
}
