/** The repositories around a folder, and those that commands made in it. @module */

import { attempt } from "../attempt.ts";
import { isWithin } from "../text/paths.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { basename, dirname, join } from "../text/std_path.ts";
import { type FolderLooks, isGitName, isUnseen } from "./folder_looks.ts";
import { gitFolderOf, gitFoldersOf, headName, leadsIntoKnown } from "./git_files.ts";
import { OPEN_FOLDER, runInPlace } from "./in_place.ts";
import { namesIn } from "./path_table.ts";
import { entryAt } from "./places.ts";

/** Returns the folders from the root of the repository down to `folder`; outside of one, only `folder`. */
export function foldersDownTo(folder: string): string[] {
  const folders: string[] = [];
  for (let at = folder;; at = dirname(at)) {
    folders.unshift(at);
    if (attempt(() => Deno.statSync(join(at, ".git")))) return folders;
    if (at === dirname(at)) return [folder];
  }
}

export function repositoryOf(folder: string): string {
  return foldersDownTo(folder)[0]!;
}

/** Returns the checked-out branch of the repository around `folder`, or the start of a commit's hash. */
export function branchOf(folder: string): string | undefined {
  const gitFolder = gitFolderOf(repositoryOf(folder));
  const name = gitFolder && headName(gitFolder);
  return name && shortened(oneLine(name), MAX_BRANCH_CHARS);
}

const MAX_BRANCH_CHARS = 40;

/** The repository that the folder is a part of, and its files elsewhere; never a home folder, or one above it. */
export function repositoryAround(folder: string, homes: readonly string[] = []): string[] {
  for (let at = folder;; at = dirname(at)) {
    if (homes.some((home) => isWithin(at, home))) return [];
    if (entryAt(join(at, ".git")) !== undefined) return [at, ...gitFoldersOf(join(at, ".git"))];
    if (dirname(at) === at) return [];
  }
}

/** A path in git's folder, or in a folder that commands see as their `/tmp` or, by a digest, as a cache. */
const HIDING =
  /(^|\/)(\.git(?=\/)|copilot-sandbox-[\da-f]{10,}(?=\/|$)|([\da-f]{64})(?=\/|$))|\ufffd/i;

/** True for the target of a link that may lead to a repository which is not looked for. `own` has this program's folders. */
function mayHide(target: string, own: readonly string[]): boolean {
  const [named, , , digest] = HIDING.exec(target) ?? [];
  if (digest === undefined) return named !== undefined;
  const roots = own.flatMap((at) => [
    `${at}/caches`,
    ...namesIn(`${at}/servers`).map((name) => `${at}/servers/${name}`),
  ]);
  return roots.some((root) => entryAt(`${root}/${digest}`) !== undefined);
}

/** The cost of opening a folder, which takes a program. */
const OPENED_COST = 1000;
/** The cost of a look for new repositories, which comes after a command that made many folders: some 2 s. */
const MAX_NEW_COST = 500_000;

/**
 * Returns the repositories that commands can write below `root`, what leads to one, and folders that are closed;
 * `isDone` is false if this program could not look at all of them.
 *
 * @param since the time from which on commands made links, in ms since 1970
 */
export function repositoriesIn(
  root: string,
  looks: FolderLooks,
  isWritten: (path: string) => boolean,
  since = 0,
): { found: string[]; isDone: boolean } {
  const found: string[] = [];
  let isDone = true;
  const isSince = (path: string) => (entryAt(path)?.birthtime?.getTime() ?? since) >= since;
  const folders = [root].filter(isWritten);
  const limit = looks.cost + MAX_NEW_COST;
  const ofRoot = isWritten(`${root}/.git`) ? [] : gitFoldersOf(`${root}/.git`);
  const isKnown = (at: string) => isWritten(dirname(at)) && !isWritten(at) || ofRoot.includes(at);
  for (const at of folders) {
    if (looks.cost > limit) return { found, isDone: false };
    let look = looks.at(at);
    if (look === undefined) {
      looks.cost += OPENED_COST;
      runInPlace(dirname(at), OPEN_FOLDER, [basename(at)]);
      look = looks.at(at);
    }
    // The user may open a closed folder later.
    const isClosed = look === undefined && entryAt(at)?.uid === Deno.uid();
    if (isClosed || look?.isRepository || isGitName(basename(at))) found.push(at);
    for (const entry of look?.entries ?? []) {
      const { name, path, isDirectory, isLink } = entry;
      if (isLink && isWritten(path)) {
        const target = entry.target ??= attempt(() => Deno.readLinkSync(path)) ?? "\ufffd";
        if (mayHide(target, looks.paths.own) && isSince(path)) found.push(path);
      }
      if (!isDirectory && !isGitName(name) || !isWritten(path)) continue;
      if (isDirectory && isUnseen(entry)) isDone = false;
      else if (isDirectory) folders.push(path);
      // The user may add a worktree or a submodule while a job runs.
      else if (isLink || !leadsIntoKnown(path, isKnown)) found.push(path);
    }
  }
  return { found, isDone };
}
