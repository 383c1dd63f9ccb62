/** Resolves paths and patterns, following links. @module */

import { basename, dirname, join, resolve } from "../text/std_path.ts";
import { isWithin, resolvePath } from "../text/paths.ts";

type LinkReader = Record<"realPathSync" | "readLinkSync", (path: string) => string>;

export interface Place {
  path: string;
  /** The path with all links followed, as far as it exists. */
  real: string;
  /** True if `real` is the working directory or below it. */
  isInside: boolean;
}

/**
 * Resolves `path`, which may not exist yet, and follows dangling links. A path that cannot be resolved counts as
 * outside. Callers open `real`, so a link that changes later has no effect.
 */
export function placeOf(workingDir: string, path: string, system: LinkReader = Deno): Place {
  const asked = resolvePath({ workingDir }, path);
  try {
    const real = resolveLinks(asked, system, MAX_LINKS);
    return { path: asked, real, isInside: isWithin(system.realPathSync(workingDir), real) };
  } catch {
    return { path: asked, real: asked, isInside: false };
  }
}

/** Returns `path` with its links followed, including dangling ones at its end. */
function resolveLinks(path: string, system: LinkReader, linksLeft: number): string {
  try {
    return system.realPathSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) || dirname(path) === path) throw error;
  }
  // The text is not normalized first: `..` after a link is the parent of the link's target.
  const folder = resolveLinks(dirname(path), system, linksLeft);
  const name = join(folder, basename(path));
  let target: string;
  try {
    target = system.readLinkSync(name);
  } catch {
    return name;
  }
  if (linksLeft === 0) throw new Error("Cannot resolve the path as it has too many links");
  return resolveLinks(resolve(folder, target), system, linksLeft - 1);
}

/** Linux follows this many links in one path. */
const MAX_LINKS = 40;
