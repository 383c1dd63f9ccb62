/** git's folders while a git command writes them: files that make git run programs stay read-only. @module */

import { attempt } from "../../attempt.ts";
import { basename, dirname, join } from "../../text/std_path.ts";
import { wait } from "../../wire/wait.ts";
import { smallFile } from "../git_files.ts";
import { runInPlace } from "../in_place.ts";
import { entryAt, type View } from "../view.ts";
import {
  changedFaults,
  type GitAnswers,
  type GitState,
  gitState,
  HEAD_TEXT,
  putAside,
  removeLinks,
} from "./git_faults.ts";

/** Settings, hooks, and files that lead git to other settings or to another repository's objects. */
const READ_ONLY =
  "config config.worktree commondir ../commondir gitdir hooks info modules worktrees remotes branches objects/info/alternates"
    .split(" ");
/**
 * Folders, and files with a text, that are created if they are missing, while commands run. In `commondir`, `.`
 * leads git to the folder itself.
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
 * A folder in the work tree that git ignores. While it exists, git never uses the work tree as a repository with
 * settings that a command wrote, even if `.git` is broken.
 */
const BESIDE = "../commondir";
/** True for the folder of a linked work tree, whose objects are those of the repository. */
const isLinked = (folder: string): boolean => basename(dirname(folder)) === "worktrees";
const missingIn = (folder: string): typeof MISSING =>
  isLinked(folder)
    ? MISSING.filter(([name]) => !name.includes("/"))
    : basename(folder) === ".git"
    ? [...MISSING, [`${BESIDE}/.gitignore`, "*\n"]]
    : MISSING;
/** The modification time of the files that are created here, by any run. Other files have another. */
const MADE = Date.parse("2001-09-09T01:46:47Z");
const neededIn = (folder: string): string[] => isLinked(folder) ? [] : ["objects", "refs"];
/** Arguments: the folder, name, and text of each file; `/` is for a folder, `//` for one that stays. */
const MAKE_MISSING = `set -C
at=$0 folders= files=
stamp() {
  [ -z "$folders" ] || mkdir $folders
  [ -z "$folders$files" ] || touch -h -t 200109090146.47 $folders $files
  folders= files=
}
while [ $# -gt 0 ]; do
  [ "$1" = "$at" ] || { stamp; at "$1" || exit; at=$1; }
  case $3 in
    //) mkdir "./$2" ;;
    /) folders="$folders ./$2" ;;
    *) printf %s "$3" >"./$2" && files="$files ./$2" ;;
  esac
  shift 3
done
stamp`;
/** Arguments: the folder and name of each file or empty folder. */
const REMOVE_MADE = `at=$0 made=
remove() { [ -z "$made" ] || rm -df $made; made=; }
while [ $# -gt 0 ]; do
  [ "$1" = "$at" ] || { remove; at "$1" || exit; at=$1; }
  made="$made ./$2"
  shift 2
done
remove`;
const folderAndName = (path: string): [string, string] => [dirname(path), basename(path)];
/** The number of times a git command waits 5 ms while another run removes its files. */
const MAX_LOCK_TRIES = 100;

/** Opens git's `folders` in the view. Call `close` after the command; it returns the restored paths. */
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
      // Others may still write here, and a job may hold a lock while it runs.
      const mended = mend(folder, git, before);
      // If several end at once, the last to unlock gets the lock alone.
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
  const removed = removeLinks(folder, { needed: neededIn(folder), others: READ_ONLY });
  const aside = attempt(() => putAside(changedFaults(folder, git, before)));
  return [...removed, ...aside ?? [`${folder} could not be looked through: do not use git there`]];
}

/** True for a folder that git considers a repository. */
function isIntact(folder: string): boolean {
  return HEAD_TEXT.test(smallFile(join(folder, "HEAD"))) &&
    ["", ...neededIn(folder)].every((name) => {
      const { isDirectory, mode } = entryAt(join(folder, name)) ?? {};
      return isDirectory && ((mode ?? 0o700) & 0o700) === 0o700;
    });
}

/** True for a repository in which all read-only parts can be mounted. */
function isOpenable(folder: string): boolean {
  return isIntact(folder) && entryAt(join(folder, BESIDE))?.isDirectory !== false &&
    READ_ONLY.every((name) => entryAt(join(folder, name))?.isSymlink !== true);
}

/** Keeps other commands, of this run or another, from removing the files that are created in the folder. */
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

/** Returns false if something is still missing: only existing files can be made read-only. */
function makeMissing(folder: string): boolean {
  const missing = missingIn(folder).map(([name, text]) => ({ path: join(folder, name), text }))
    .filter(({ path }) => entryAt(path) === undefined);
  // Another run may create it at the same time.
  const { fault } = runInPlace(
    folder,
    MAKE_MISSING,
    missing.flatMap(({ path, text }) => {
      const around = dirname(path);
      const first = entryAt(around) === undefined ? [...folderAndName(around), "//"] : [];
      return [...first, ...folderAndName(path), text ?? "/"];
    }),
  );
  return fault === undefined && missing.every(({ path }) => entryAt(path) !== undefined);
}

/**
 * Undoes what commands of git left if their run was killed: what was made for them is there still, and no run has it
 * open. Returns undefined for none.
 */
export function mendKilled({ repositories = [] }: View, git: GitAnswers): string[] | undefined {
  const killed = repositories.filter((folder) => madeIn(folder).length > 0).flatMap((folder) => {
    const held = attempt(() => Deno.openSync(folder));
    const isAlone = held && (attempt(() => held.tryLockSync(true)) ?? true);
    const mended = isAlone ? mend(folder, git) : undefined;
    if (isAlone) removeMade(folder);
    held?.close();
    return mended === undefined ? [] : [mended];
  });
  return killed.length > 0 ? killed.flat() : undefined;
}

const madeIn = (folder: string): string[] =>
  missingIn(folder).map(([name]) => join(folder, name))
    .filter((path) => entryAt(path)?.mtime?.getTime() === MADE);

function removeMade(folder: string): void {
  if (!isIntact(folder)) return;
  const beside = join(folder, BESIDE);
  const made = [...madeIn(folder), ...entryAt(beside)?.isDirectory ? [beside] : []];
  runInPlace(folder, REMOVE_MADE, made.flatMap(folderAndName));
}
