/** git's folders while a command of git writes them: what makes git run programs stays read-only. @module */

import { attempt } from "../../attempt.ts";
import { basename, dirname, join } from "../../text/std_path.ts";
import { wait } from "../../wire/wait.ts";
import { smallFile } from "../git_files.ts";
import { entryAt, NEW, type View } from "../view.ts";

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
/** The text of HEAD; a branch whose name is not UTF-8 has a log that Deno cannot look at. */
const HEAD_TEXT = /^(ref: refs\/[^\n\ufffd]+|[\da-f]{40,64})\n*$/;
const neededIn = (folder: string): string[] =>
  ["", ...isLinked(folder) ? [] : ["objects", "refs"]].map((name) => join(folder, name));
/** A command of git waits so often, 5 ms each, while another run removes what it made. */
const MAX_LOCK_TRIES = 100;

/** The view with git's `folders` open; `close` is called at the end of the command, and returns what it put back. */
export async function openGitFolders(
  view: View,
): Promise<{ view: View; folders: string[]; close(): string[] }> {
  const places = new Map(view.places);
  const folders: string[] = [];
  const open: { folder: string; held: Deno.FsFile; mend: () => string[] }[] = [];
  for (const folder of (view.gitFolders ?? []).filter(isOpenable)) {
    const held = await share(folder);
    if (held === undefined) continue;
    open.push({ folder, held, mend: menderOf(folder) });
    if (!makeMissing(folder)) continue;
    folders.push(folder);
    places.set(folder, "write");
    for (const path of READ_ONLY.map((name) => join(folder, name))) {
      if (entryAt(path) !== undefined) places.set(path, "read");
    }
  }
  const close = () =>
    open.splice(0).flatMap(({ folder, held, mend }) => {
      // Others may still write here, and a job can hold a lock for as long as it runs.
      const mended = attempt(mend) ?? [];
      // Of several that end at once, the last to let go is alone then.
      attempt(() => held.unlockSync());
      if (attempt(() => held.tryLockSync(true)) ?? true) removeMade(folder);
      held.close();
      return mended;
    });
  return { view: { ...view, places }, folders, close };
}

/**
 * Undoes what would make the person's own git write or run something, once a command has ended: links, through
 * which git writes; a repository that git does not see any more, so that it takes the folder around it for one,
 * with settings of its own; and commands that a rebase would run.
 */
function menderOf(folder: string): () => string[] {
  const headPath = join(folder, "HEAD");
  const head = smallFile(headPath);
  // git writes the files that it names, without a look at their paths.
  const resolvedPath = join(folder, "MERGE_RR");
  const resolved = textIfFile(resolvedPath);
  return () => {
    const undone: string[] = [];
    for (const path of neededIn(folder)) {
      if (!entryAt(path)?.isDirectory) {
        attempt(() => Deno.removeSync(path));
        Deno.mkdirSync(path);
        undone.push(path);
      }
      const { mode } = Deno.statSync(path);
      if (mode !== null && (mode & 0o700) !== 0o700) Deno.chmodSync(path, mode | 0o700);
    }
    undone.push(...removeLinks(folder, READ_ONLY));
    if (!HEAD_TEXT.test(smallFile(headPath))) {
      attempt(() => Deno.removeSync(headPath, { recursive: true }));
      Deno.writeTextFileSync(headPath, head, NEW);
      undone.push(headPath);
    }
    if (entryAt(resolvedPath) && (resolved ?? "") !== textIfFile(resolvedPath)) {
      Deno.removeSync(resolvedPath, { recursive: true });
      undone.push(resolvedPath);
    }
    for (const [name, pattern] of RUN_LATER) {
      const path = join(folder, name);
      const text = textIfFile(path) ?? "";
      const left = text.replace(pattern, "");
      if (left === text) continue;
      // It may be closed to writing.
      Deno.removeSync(path);
      Deno.writeTextFileSync(path, left, NEW);
      undone.push(path);
    }
    return undone;
  };
}

const textIfFile = (path: string): string | undefined =>
  entryAt(path)?.isFile ? attempt(() => Deno.readTextFileSync(path)) : undefined;

/** Lines of files by which git runs programs later, as it goes on with a rebase or the like. */
const RUN_LATER: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["rebase-merge/git-rebase-todo", /^[ \t]*(exec|x)([ \t\r].*)?$/gm],
  ["rebase-merge/strategy", /.*\/.*/g],
  // Values may go on in further lines: a file that names a strategy and a path loses all of its text.
  ["sequencer/opts", /^(?=[^]*strategy)[^]*\/[^]*$/i],
];

/** Removes the links in a folder, but for what it has of `others`. Of objects, which no link leads git to write, only their folders are looked at. */
function removeLinks(folder: string, others: readonly string[] = []): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory, isSymlink }) => {
    const path = join(folder, name);
    if (others.includes(name)) return [];
    if (isSymlink) return attempt(() => (Deno.removeSync(path), [path])) ?? [];
    if (!isDirectory || basename(folder) === "objects" && /^[\da-f]{2}$/.test(name)) return [];
    const { mode } = Deno.lstatSync(path);
    // A command can close a folder to hide a link in it.
    if (mode !== null && (mode & 0o700) !== 0o700) {
      attempt(() => Deno.chmodSync(path, mode | 0o700));
    }
    // A folder of another user, which no command could write, must not end the look at the others.
    return attempt(() => removeLinks(path)) ?? [];
  });
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

function removeMade(folder: string): void {
  if (!isIntact(folder)) return;
  for (const path of missingIn(folder).map(([name]) => join(folder, name))) {
    if (entryAt(path)?.mtime?.getTime() === MADE.getTime()) attempt(() => Deno.removeSync(path));
  }
  attempt(() => Deno.removeSync(join(folder, BESIDE)));
}
