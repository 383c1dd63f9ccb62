/** What sandboxed commands leave for the user's git to run or follow is put aside. @module */

import { attempt } from "../../attempt.ts";
import { isWithin } from "../../text/paths.ts";
import { basename, dirname, join, resolve } from "../../text/std_path.ts";
import { folderState, hasOtherBytes } from "../folder_looks.ts";
import { gitFileTarget, gitFoldersOf, smallFile } from "../git_files.ts";
import { entryAt, NEW } from "../view.ts";

/** git's answers about a repository. */
export interface GitAnswers {
  /** The text of a settings file without what git runs or follows; undefined if it has none of that. */
  harmlessText(file: string): string | undefined;
  /** True if a checkout of the index may write files of git's own, or outside of the work tree. */
  indexMayLeadAway(gitFolder: string): boolean;
}

/** A path to put aside, with the text to write in its place. */
type Fault = readonly [path: string, text?: string | undefined];

/** The text of HEAD; a branch whose name is not UTF-8 has a log that Deno cannot look at. */
export const HEAD_TEXT = /^(ref: refs\/[^\n\ufffd]+|[\da-f]{40,64})\n*$/;
/** Lines of files by which git runs programs later, as it continues a rebase or the like. */
const RUN_LATER: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["rebase-merge/git-rebase-todo", /^[ \t]*(exec|x)([ \t\r].*)?$/gm],
  ["rebase-merge/strategy", /.*\/.*/g],
  // Values may go on in further lines: a file that names a strategy and a path loses all of its text.
  ["sequencer/opts", /^(?=[^]*strategy)[^]*\/[^]*$/i],
];
/** The names of an index, which may have a part in a shared file. */
const INDEX = /^(shared)?index/;
/** The files that git is asked about, and their states when it found nothing in them, by folder. */
const ASKED_FILES = /^config|^(shared)?index/;
const harmlessStates = new Map<string, string>();

const isThere = (path: string): boolean => entryAt(path) !== undefined;
const textIfFile = (path: string): string | undefined =>
  entryAt(path)?.isFile ? attempt(() => Deno.readTextFileSync(path)) : undefined;

/** All that changes with the files of such names in a folder; undefined if another change may leave it the same. */
function filesState(folder: string, names: RegExp): string | undefined {
  const files = attempt(() => [...Deno.readDirSync(folder)].filter(({ name }) => names.test(name)));
  const states = files?.map(({ name }) => {
    const state = attempt(() => folderState(Deno.lstatSync(join(folder, name))));
    return state && `${name} ${state}`;
  });
  return states?.every(Boolean) ? states.sort().join("\n") : undefined;
}

/** What git commands change in a folder of git, and git follows. */
export const gitState = (folder: string) => ({
  head: smallFile(join(folder, "HEAD")),
  resolved: textIfFile(join(folder, "MERGE_RR")),
  index: filesState(folder, INDEX),
});
export type GitState = ReturnType<typeof gitState>;

/** Removes links, puts other files aside, and says so in a line for each. */
export function putAside(faults: Iterable<Fault>): string[] {
  return [...faults].map(([path, text]) => {
    const aside = `${path}.untrusted-${crypto.randomUUID().slice(0, 8)}`;
    const folder = dirname(path);
    const done = attempt(() => {
      // A program that still runs may have exchanged the folder for a link.
      if (Deno.realPathSync(folder) !== folder) return undefined;
      Deno.chmodSync(folder, Deno.lstatSync(folder).mode! | 0o700);
      const entry = entryAt(path);
      if (entry?.isSymlink) Deno.removeSync(path);
      else if (entry) Deno.renameSync(path, aside);
      if (text !== undefined) Deno.writeTextFileSync(path, text, NEW);
      return entry?.isSymlink ? "was removed" : `was moved to ${basename(aside)}`;
    });
    return `${path} ${done ?? "could not be moved away"} as git would run or follow what it names`;
  });
}

/** Returns what changed in a folder of git, all of which may have if nothing is known from before; never `others`. */
export function changedFaults(
  at: string,
  git: GitAnswers,
  { head = "ref: refs/heads/main\n", resolved, index }: Partial<GitState> = {},
  others: readonly string[] = [],
): Map<string, string | undefined> {
  const faults = new Map<string, string | undefined>();
  for (const path of linksIn(at, others)) faults.set(path, undefined);
  const [headPath, resolvedPath, indexPath] = [`${at}/HEAD`, `${at}/MERGE_RR`, `${at}/index`];
  if (!HEAD_TEXT.test(smallFile(headPath))) faults.set(headPath, head);
  // git writes the files that it names, without a look at their paths.
  if (isThere(resolvedPath) && (resolved ?? "") !== textIfFile(resolvedPath)) {
    faults.set(resolvedPath, undefined);
  }
  for (const [name, pattern] of RUN_LATER) {
    const path = join(at, name);
    const text = textIfFile(path) ?? "";
    const left = text.replace(pattern, "");
    if (left !== text) faults.set(path, left);
  }
  const isSame = index !== undefined && filesState(at, INDEX) === index;
  if (!isSame && isThere(indexPath) && git.indexMayLeadAway(at)) faults.set(indexPath, undefined);
  return faults;
}

/** Returns the faults of `repositories` in `root` that commands made; one that cannot be looked into is a fault. */
export const newFaults = (repositories: readonly string[], root: string, git: GitAnswers) =>
  repositories.flatMap((at): Fault[] =>
    attempt(() => [...faultsOf(at, repositories, root, git)]) ?? (isThere(at) ? [[at]] : [])
  );

function faultsOf(
  at: string,
  repositories: readonly string[],
  root: string,
  git: GitAnswers,
): Iterable<Fault> {
  const { isDirectory, isSymlink } = Deno.lstatSync(at);
  // No link on the way may lead elsewhere later.
  const realIn = (...names: string[]) => {
    const path = resolve(at, ...names);
    return attempt(() => Deno.realPathSync(path)) === path ? path : undefined;
  };
  if (!isDirectory) {
    const named = isSymlink ? attempt(() => Deno.readLinkSync(at)) : gitFileTarget(at);
    const target = named && realIn("..", named);
    const isKnown = target && (repositories.includes(target) || gitFoldersOf(at).includes(target));
    return isKnown ? [] : [[at]];
  }
  const state = filesState(at, ASKED_FILES);
  const isKnown = state !== undefined && harmlessStates.get(at) === state;
  const faults = changedFaults(at, git, isKnown ? { index: filesState(at, INDEX) } : {}, ["hooks"]);
  const configs = isKnown ? [] : ["config", "config.worktree"].map((name) => join(at, name));
  for (const path of configs.filter(isThere)) {
    const text = git.harmlessText(path);
    if (text !== undefined) faults.set(path, text);
  }
  // Without that, it is no repository.
  if (!isThere(`${at}/HEAD`)) faults.delete(`${at}/HEAD`);
  if (state !== undefined && faults.size === 0) harmlessStates.set(at, state);
  const [hooks, common, shared] = [
    `${at}/hooks`,
    `${at}/commondir`,
    `${at}/objects/info/alternates`,
  ];
  const leadsTo = smallFile(common).trim();
  const isWorktree = leadsTo === "." ||
    leadsTo === "../.." && repositories.includes(dirname(dirname(at)));
  if (isThere(common) && !isWorktree) faults.set(common, undefined);
  const lines = smallFile(shared).split("\n").filter(Boolean);
  const isNear = lines.every((line) => isWithin(root, realIn("objects", line) ?? "/"));
  if (!isNear || entryAt(shared)?.size && lines.length === 0) faults.set(shared, undefined);
  const names = entryAt(hooks)?.isDirectory && attempt(() => [...Deno.readDirSync(hooks)]);
  const areSamples = names && names.every(({ name }) => name.endsWith(".sample"));
  if (isThere(hooks) && !areSamples) faults.set(hooks, undefined);
  return faults;
}

/** Returns the links in a folder, but for what it has of `others`. Of objects, which no link leads git to write, only their folders are looked at. */
function linksIn(folder: string, others: readonly string[] = []): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory, isSymlink }) => {
    const path = join(folder, name);
    if (others.includes(name)) return [];
    // Deno names no link with other bytes.
    if (isSymlink) return hasOtherBytes(name) ? [] : [path];
    if (!isDirectory || basename(folder) === "objects" && /^[\da-f]{2}$/.test(name)) return [];
    const { mode } = Deno.lstatSync(path);
    // A command can close a folder to hide a link in it.
    if (mode !== null && (mode & 0o700) !== 0o700) {
      attempt(() => Deno.chmodSync(path, mode | 0o700));
    }
    // A folder of another user, which no command could write, must not end the look at the others.
    return attempt(() => linksIn(path)) ?? [];
  });
}
