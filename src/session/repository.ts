/** The repository of the working directory, and its settings. @module */

import { attempt } from "../attempt.ts";
import { dirname, join } from "../text/std_path.ts";
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
