/** The repository that the working directory belongs to, and the settings that it brings. @module */

import { attempt } from "../attempt.ts";
import { dirname, join } from "../text/std_path.ts";
import { readJsonFile } from "../user_files.ts";

/** The folders from the root of the repository that `folder` is in down to `folder`; outside of one, only itself. */
export function foldersDownTo(folder: string): string[] {
  const folders: string[] = [];
  for (let at = folder;; at = dirname(at)) {
    folders.unshift(at);
    if (attempt(() => Deno.statSync(join(at, ".git")))) return folders;
    if (at === dirname(at)) return [folder];
  }
}

/** The root of the repository that `folder` is in; outside of one, `folder`. */
export function repositoryOf(folder: string): string {
  return foldersDownTo(folder)[0]!;
}

/** The settings file of a project, in the folder that it is for. */
export const PROJECT_FILE = ".copilot/permissions.json";

/** The settings that a project brings in the folder `at`. */
export type ProjectSettings = { at: string; settings: Record<string, unknown> };

/** The settings of the folders of a repository down to `folder`, the outermost first. */
export function projectSettings(folder: string): ProjectSettings[] {
  return foldersDownTo(folder).flatMap((at) => {
    const settings = readJsonFile(join(at, PROJECT_FILE), false);
    return settings === undefined ? [] : [{ at, settings }];
  });
}

/** True for a path below a repository's `.git`, whose files nobody wrote as instructions. */
export const isInGit = (path: string): boolean => /[\\/]\.git[\\/]/i.test(path);
