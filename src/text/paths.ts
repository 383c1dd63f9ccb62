/** Paths as the model and the user write them. @module */

import { isAbsolute, relative, resolve, slashed } from "./std_path.ts";

/**
 * Resolves a path against the absolute working directory (spec 4.5): an absolute one is unchanged, others
 * lose `.` and `..`. `~`, `%20` and `file:` mean nothing: a name checked here is the name opened later.
 */
export function resolvePath(state: { workingDir: string }, path: string): string {
  return isAbsolute(path) ? path : resolve(state.workingDir, path);
}

/** True where an absolute path is `folder` or below it, by their parts: no link is followed. */
export function isWithin(folder: string, path: string): boolean {
  const below = slashed(relative(folder, path));
  return below !== ".." && !below.startsWith("../") && !isAbsolute(below);
}
