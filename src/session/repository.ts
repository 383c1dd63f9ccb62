/**
 * Which folders belong to the one that is worked in.
 *
 * @module
 */

import { dirname, join } from "../text/std_path.ts";

/** The folders from the one whose repository `folder` is in, or else from itself, down to it. */
export function foldersDownTo(folder: string): string[] {
  const folders: string[] = [];
  for (let at = folder;; at = dirname(at)) {
    folders.unshift(at);
    if (isThere(join(at, ".git"))) return folders;
    if (at === dirname(at)) return [folder];
  }
}

/** The nearest folder at or above `folder` that is a repository's; else `folder`. */
export function repositoryOf(folder: string): string {
  return foldersDownTo(folder)[0]!;
}

function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
