/**
 * The repository that the working directory belongs to.
 *
 * @module
 */

import { dirname, join } from "../text/std_path.ts";

/** The folders from the root of the repository that `folder` is in down to `folder`; outside of one, only itself. */
export function foldersDownTo(folder: string): string[] {
  const folders: string[] = [];
  for (let at = folder;; at = dirname(at)) {
    folders.unshift(at);
    if (isThere(join(at, ".git"))) return folders;
    if (at === dirname(at)) return [folder];
  }
}

/** The root of the repository that `folder` is in; outside of one, `folder`. */
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
