/** The repository of the working directory, and its settings. @module */

import { attempt } from "../attempt.ts";
import { smallFile } from "../safety/git_files.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { dirname, join, resolve } from "../text/std_path.ts";
import { readJsonFile } from "../user_files.ts";

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
  const dotGit = join(repositoryOf(folder), ".git");
  const [, linked] = /^gitdir: (.+)/.exec(smallFile(dotGit)) ?? [];
  const head = smallFile(
    join(linked === undefined ? dotGit : resolve(dirname(dotGit), linked), "HEAD"),
  );
  const [, branch, hash] = /^(?:ref: refs\/heads\/(.+)|([\da-f]{7})[\da-f]{33,})\s*$/.exec(head) ??
    [];
  const name = branch ?? hash;
  return name && shortened(oneLine(name), MAX_BRANCH_CHARS);
}

const MAX_BRANCH_CHARS = 40;

export const PROJECT_FILE = ".copilot/permissions.json";

export type ProjectSettings = { at: string; settings: Record<string, unknown> };

/** Returns the settings in a repository's folders down to `folder`, the outermost first. */
export function projectSettings(folder: string): ProjectSettings[] {
  return foldersDownTo(folder).flatMap((at) => {
    const settings = readJsonFile(join(at, PROJECT_FILE), false);
    return settings === undefined ? [] : [{ at, settings }];
  });
}

/** True for a path below a repository's `.git`, whose files are not written as instructions. */
export const isInGit = (path: string): boolean => /[\\/]\.git[\\/]/i.test(path);
