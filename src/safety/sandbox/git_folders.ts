/** git's folders while a git command writes them: files that make git run programs stay read-only. @module */

import { attempt } from "../../attempt.ts";
import { isWithin } from "../../text/paths.ts";
import { basename, dirname, join } from "../../text/std_path.ts";
import { wait } from "../../wire/wait.ts";
import { headName, isLinkedTree, isRepository } from "../git_files.ts";
import { runInPlaces } from "../in_place.ts";
import { namesIn } from "../path_table.ts";
import { entryAt, realPathOf } from "../places.ts";
import { type View, writableRoots } from "../view.ts";
import {
  allMended,
  changedFaults,
  type GitAnswers,
  type GitState,
  gitState,
  type Mended,
  mendRepositories,
  putAside,
  removeLinks,
} from "./git_faults.ts";

const ALTERNATES = "objects/info/alternates";
/** In the work tree: while it exists, git takes that for no repository if `.git` is broken. */
const BESIDE = "../commondir";
/** Folders and files that are created if they are missing, while commands run. `commondir` leads git to its own folder. */
const MADE_FOLDERS = "hooks info modules worktrees remotes branches".split(" ");
const MADE_FILES = ["commondir", "config.worktree", ALTERNATES];
/** Settings, hooks, and files that lead git to other settings or to another repository's objects. */
const READ_ONLY = ["config", "gitdir", BESIDE, ...MADE_FOLDERS, ...MADE_FILES];
const createdIn = (folder: string): string[] => [
  ...[...MADE_FOLDERS, ...basename(folder) === ".git" ? [BESIDE] : []],
  ...isLinkedTree(folder) ? MADE_FILES.slice(0, 2) : MADE_FILES,
];
const foldersAndFiles = (names: readonly string[]): string[] =>
  [false, true].map((isFile) =>
    names.filter((name) => MADE_FILES.includes(name) === isFile).join(" ")
  );
/** The modification time of the files that are created here, by any run. Other files have another. */
const MADE = Date.parse("2001-09-09T01:46:47Z");
const neededIn = (folder: string): string[] => isLinkedTree(folder) ? [] : ["objects", "refs"];
const MAKE_MISSING = `set -C
made=$1 files=\${2%${ALTERNATES}}
[ -z "$1" ] || mkdir $1
for name in $files; do
  { [ $name = config.worktree ] || echo .; } >"./$name" && made="$made $name"
done
[ -z "$made" ] || touch -h -t 200109090146.47 $made
[ "$files" = "$2" ] || {
  into objects && { [ -d info ] || mkdir info; } && into info || exit
  : >alternates && touch -h -t 200109090146.47 alternates
  true
}`;
const REMOVE_MADE = `files=\${2%${ALTERNATES}}
[ -z "$1$files" ] || rm -df $1 $files
[ "$files" = "$2" ] || { into objects && into info && rm -f alternates; }`;
/** The number of times a git command waits 5 ms while another run removes its files. */
const MAX_LOCK_TRIES = 100;

const statesBefore = new Map<string, GitState>();

/** With more of git's folders, a command opens only those that it names: each takes a dozen mounts. */
const MAX_UNNAMED = 6;

/** Returns the folders of git to open for a command: of many, those around the folder and those that it names. */
function foldersFor(command: string, view: View): string[] {
  const all = (view.repositories ?? []).filter(isOpenable);
  const roots = writableRoots(view);
  const isNamed = (at: string) => {
    const tree = basename(at) === ".git" ? dirname(at) : at;
    return roots.includes(tree) || !roots.some((root) => isWithin(root, tree)) ||
      command.includes(basename(tree));
  };
  return all.length > MAX_UNNAMED ? all.filter(isNamed) : all;
}

/**
 * Opens git's folders in the view for a command, and returns what is created in them meanwhile. Call `close` after the
 * command; it returns a line for each path that it removed or put aside. With `alone`, it opens only these folders, and no other
 * command does meanwhile.
 */
export async function openGitFolders(
  view: View,
  git: GitAnswers,
  command = "",
  alone?: readonly string[],
): Promise<{ view: View; made: string[]; close(): string[] }> {
  const places = new Map(view.places);
  const open = new Map<string, GitState | undefined>();
  const locks = new Map<string, Deno.FsFile>();
  const isWritable = view.places.get(view.folder) === "write";
  for (const folder of isWritable ? alone ?? foldersFor(command, view) : []) {
    const held = await lockFolder(folder, alone !== undefined);
    if (held === undefined) continue;
    locks.set(folder, held.file);
    if (held.before) statesBefore.set(folder, held.before);
    open.set(folder, statesBefore.get(folder));
  }
  for (const folder of makeMissing([...open.keys()])) {
    places.set(folder, "write");
    for (const path of READ_ONLY.map((name) => join(folder, name))) {
      if (entryAt(path) !== undefined) places.set(path, "read");
    }
  }
  const close = () => {
    // Other commands, of this run or another, may still write here.
    const { lines, isDone } = mend(open, git);
    // If several end at once, the last to unlock gets the lock alone.
    for (const held of locks.values()) attempt(() => held.unlockSync());
    const isAlone = ([, held]: [string, Deno.FsFile]) =>
      attempt(() => held.tryLockSync(true)) ?? true;
    const alone = [...locks].filter(isAlone).map(([folder]) => folder);
    if (isDone) removeMade(alone);
    for (const folder of alone) statesBefore.delete(folder);
    for (const held of locks.values()) held.close();
    open.clear();
    locks.clear();
    return lines;
  };
  const made = [...open.keys()].flatMap((at) => madeIn(at).map((name) => join(at, name)));
  return { view: { ...view, places }, made, close };
}

/**
 * Undoes what would make the user's own git write or run something: links, broken repositories, commands of a
 * rebase. What is not known from `before` may be the work of a command.
 */
function mend(folders: ReadonlyMap<string, GitState | undefined>, git: GitAnswers): Mended {
  // Links that are directly in git's folder from before are the user's.
  const othersIn = (folder: string) => [...READ_ONLY, ...folders.get(folder)?.links ?? []];
  const removed = removeLinks([...folders.keys()], othersIn, git.time, neededIn);
  const others = [...folders].flatMap(([folder, before]) => {
    const unseen = `${folder} could not be looked through: do not use git there`;
    return [
      mendInside(folder, git),
      attempt(() => putAside(changedFaults(folder, git, before), git.own)) ??
        { lines: [unseen], isDone: false },
    ];
  });
  return allMended(removed, ...others);
}

const FIND_INSIDE =
  "find . '(' -path ./modules -o -path ./worktrees ')' -prune -o '(' -iname .git -o -name HEAD ')' -print";

/**
 * Mends the repositories in a folder of git, to which the user may come by a link, but for those of submodules and work
 * trees, which no command writes.
 */
function mendInside(folder: string, git: GitAnswers): Mended {
  const [found] = runInPlaces(FIND_INSIDE, [[folder]], git.time);
  const names = found!.output.split("\n").filter((name) => name !== "" && name !== "./HEAD");
  const paths = names.map((name) => join(folder, name));
  const repositories = paths.flatMap((at) => {
    const inside = basename(at) === "HEAD" ? dirname(at) : at;
    return inside === at || isRepository(inside) ? [inside] : [];
  });
  // A name with a line break, or one that is not UTF-8.
  const isDone = !found!.fault && paths.every(entryAt);
  // Both names lead to the same one.
  return allMended(
    { lines: [], isDone },
    mendRepositories([...new Set(repositories)], folder, git),
  );
}

function isIntact(folder: string): boolean {
  return headName(folder) !== undefined &&
    ["", ...neededIn(folder)].every((name) => {
      const { isDirectory, mode } = entryAt(join(folder, name)) ?? {};
      return isDirectory && ((mode ?? 0o700) & 0o700) === 0o700;
    });
}

/** True for a repository in which all read-only parts can be mounted. */
export function isOpenable(folder: string): boolean {
  return isIntact(folder) && realPathOf(folder) === folder &&
    entryAt(join(folder, BESIDE))?.isDirectory !== false &&
    READ_ONLY.every((name) => entryAt(join(folder, name))?.isSymlink !== true);
}

/**
 * Keeps other commands, of this run or another, from removing the files that are created in the folder; with
 * `isAlone`, from writing it. While another command writes it, nothing is known from `before`.
 */
async function lockFolder(
  folder: string,
  isAlone: boolean,
): Promise<{ file: Deno.FsFile; before: GitState | undefined } | undefined> {
  let before: GitState | undefined;
  // A pipe in its place is no folder, and is not waited for.
  const held = attempt(() => Deno.openSync(`${folder}/.`));
  for (let tries = 0; held && tries < MAX_LOCK_TRIES; tries++) {
    // Some network drives have no locks.
    const isFirst = attempt(() => held.tryLockSync(true)) ?? true;
    if (isFirst) before = gitState(folder);
    const isLocked = isAlone ? isFirst : attempt(() => held.tryLockSync(false)) ?? true;
    if (isLocked) return { file: held, before };
    await wait(5);
  }
  held?.close();
  return undefined;
}

/** Creates what is missing in git's folders, as only existing files can be read-only. Returns the complete ones. */
function makeMissing(folders: readonly string[]): string[] {
  const missing = (folder: string) =>
    createdIn(folder).filter((name) => entryAt(join(folder, name)) === undefined);
  // Another run may create it at the same time.
  const ran = runInPlaces(
    MAKE_MISSING,
    folders.map((folder) => [folder, foldersAndFiles(missing(folder))]),
  );
  return folders.filter((folder, at) => !ran[at]!.fault && missing(folder).length === 0);
}

/** Undoes what commands of git left if their run was killed, or a search was not completed; undefined if no command left anything. */
export function mendKilled({ repositories = [] }: View, git: GitAnswers): string[] | undefined {
  const killed = repositories.filter(isLeftOpen).map((folder) => {
    using held = attempt(() => Deno.openSync(`${folder}/.`));
    const isAlone = held && (attempt(() => held.tryLockSync(true)) ?? true);
    const mended = isAlone ? mend(new Map([[folder, undefined]]), git) : undefined;
    if (mended?.isDone) removeMade([folder]);
    return mended?.lines ?? [];
  });
  return killed.length > 0 ? killed.flat() : undefined;
}

/** True for a folder of git that a command may write, or that was not looked through after one. */
export const isLeftOpen = (folder: string): boolean => madeIn(folder).length > 0;

function madeIn(folder: string): string[] {
  const names = namesIn(folder);
  return createdIn(folder).filter((name) => name.includes("/") || names.includes(name))
    .filter((name) => entryAt(join(folder, name))?.mtime?.getTime() === MADE);
}

/** Removes what was created. It remains if not all could be searched, so that the next command searches again. */
const removeMade = (folders: readonly string[]) =>
  runInPlaces(
    REMOVE_MADE,
    folders.filter(isIntact).map((folder) => [folder, foldersAndFiles(madeIn(folder))]),
  );
