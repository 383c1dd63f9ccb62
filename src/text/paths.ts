/** Paths that the model and the user write. @module */

import { isAbsolute, relative, resolve, SEPARATOR, slashed } from "./std_path.ts";

/**
 * Resolves a path against the absolute working directory (spec 4.5). An absolute path stays unchanged; others
 * lose `.` and `..`. `~`, `%20` and `file:` have no meaning, so the checked name is also the name that is opened.
 */
export function resolvePath(state: { workingDir: string }, path: string): string {
  return isAbsolute(path) ? path : resolve(state.workingDir, path);
}

/** Replaces a leading `~` by the home folder, like a shell. */
export const expandHome = (path: string): string =>
  path.replace(/^~(?=\/|$)/, () => Deno.env.get("HOME") ?? "~");

const DOTS = /\/\.{0,2}(?:\/|$)/;

/** True if an absolute path is `folder` or below it. Compares parts, and follows no links. */
export function isWithin(folder: string, path: string): boolean {
  // `relative` takes microseconds, and each sandbox makes hundreds of comparisons.
  if (path === folder) return true;
  if (SEPARATOR === "/" && !DOTS.test(folder) && !DOTS.test(path)) {
    return path.startsWith(`${folder}/`);
  }
  const below = slashed(relative(folder, path));
  return below !== ".." && !below.startsWith("../") && !isAbsolute(below);
}
