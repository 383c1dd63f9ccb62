/** The repositories around a folder, and those that commands made in it. @module */

import { attempt } from "../attempt.ts";
import { isWithin } from "../text/paths.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { basename, dirname, join } from "../text/std_path.ts";
import { type FolderLooks, isGitName, isUnseen } from "./folder_looks.ts";
import { gitFolderOf, gitFoldersOf, headName, leadsIntoKnown } from "./git_files.ts";
import { OPEN_FOLDER, runInPlace, type WaitTime, waitTime } from "./in_place.ts";
import { namesIn } from "./path_table.ts";
import { entryAt } from "./places.ts";
import { AS_NAME } from "../tools/files/in_folder.ts";

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

/** Gives new folders with repositories names that this program can read. Arguments: an id, and what `find` gets. */
const RENAME = `export id=$1; shift
find . -mindepth 1 -maxdepth 1 -type d "$@" -exec /bin/sh -c '
  [ -z "$(find "$0" "(" -iname .git -o -name HEAD -o -type d ! -perm -500 ")" -print -quit)" ] ||
    { mv -f${AS_NAME} "$0" "./untrusted-$id-$$" && echo "untrusted-$id-$$"; }' {} ';'`;

/**
 * Renames folders that commands made since a time, other than those with the names `seen`: older ones are hidden from
 * them. Returns a line for each.
 */
function renameUnseen(at: string, seen: readonly string[], since: number, time: WaitTime) {
  const newer = ["-newerct", new Date(since || 0).toISOString()];
  const others = seen.flatMap((name) => ["!", "-name", name.replace(/[*?[\]\\]/g, "\\$&")]);
  const id = crypto.randomUUID().slice(0, 8);
  const { output, fault } = runInPlace(at, RENAME, [id, ...newer, ...others], time);
  const lines = output.split("\n").filter(Boolean).map((name) =>
    `${at}/${name} has its name as it has a repository, and a long path or another name than UTF-8`
  );
  return { lines, isDone: !fault };
}

/**
 * Returns the repositories that commands can write below `root`, what leads to one, folders that are closed, and a line
 * for each that had to be renamed.
 *
 * @param since the time from which on commands made links, in ms since 1970
 * @param time for folders that have to be renamed
 */
export function repositoriesIn(
  root: string,
  looks: FolderLooks,
  isWritten: (path: string) => boolean,
  since = 0,
  time = waitTime(),
): { found: string[]; lines: string[]; isDone: boolean } {
  const [found, lines]: [string[], string[]] = [[], []];
  let isDone = true;
  const isSince = (path: string) => (entryAt(path)?.birthtime?.getTime() ?? since) >= since;
  const folders = [root].filter(isWritten);
  const limit = looks.cost + MAX_NEW_COST;
  const ofRoot = isWritten(`${root}/.git`) ? [] : gitFoldersOf(`${root}/.git`);
  const isKnown = (at: string) => isWritten(dirname(at)) && !isWritten(at) || ofRoot.includes(at);
  for (const at of folders) {
    if (looks.cost > limit) return { found, lines, isDone: false };
    let look = looks.at(at);
    if (look === undefined) {
      looks.cost += OPENED_COST;
      runInPlace(dirname(at), OPEN_FOLDER, [basename(at)]);
      look = looks.at(at);
    }
    // The user may open a closed folder later.
    const isClosed = look === undefined && entryAt(at)?.uid === Deno.uid();
    if (isClosed || look?.isRepository || isGitName(basename(at))) found.push(at);
    const inside = look?.entries.filter(({ isDirectory }) => isDirectory) ?? [];
    if (inside.some(isUnseen)) {
      looks.cost += OPENED_COST;
      const seen = inside.filter((one) => !isUnseen(one)).map(({ name }) => name);
      const renamed = renameUnseen(at, seen, since, time);
      lines.push(...renamed.lines);
      isDone &&= renamed.isDone;
      look = looks.at(at);
    }
    for (const entry of look?.entries ?? []) {
      const { name, path, isDirectory, isLink } = entry;
      if (isLink && isWritten(path)) {
        const target = entry.target ??= attempt(() => Deno.readLinkSync(path)) ?? "\ufffd";
        if (mayHide(target, looks.paths.own) && isSince(path)) found.push(path);
      }
      if (!isDirectory && !isGitName(name) || !isWritten(path)) continue;
      if (isDirectory && !isUnseen(entry)) folders.push(path);
      // The user may add a worktree or a submodule while a job runs.
      else if (!isDirectory && (isLink || !leadsIntoKnown(path, isKnown))) found.push(path);
    }
  }
  return { found, lines, isDone };
}
