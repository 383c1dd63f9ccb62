/** The places that paths and patterns lead to, with links followed. @module */

import { basename, dirname, join, resolve } from "../text/std_path.ts";
import { isWithin, resolvePath } from "../text/paths.ts";

type LinkReader = Record<"realPathSync" | "readLinkSync", (path: string) => string>;

/** Reads the file system's links, each real path once: what is asked about one call is many times the same. */
export class LinksReadOnce implements LinkReader {
  readonly #known = new Map<string, string>();

  realPathSync(path: string): string {
    const real = this.#known.get(path) ?? Deno.realPathSync(path);
    this.#known.set(path, real);
    return real;
  }

  readLinkSync(path: string): string {
    return Deno.readLinkSync(path);
  }
}

/** A path, and the place that it leads to. */
export interface Place {
  /** The path that was asked for, absolute. */
  path: string;
  /** The path with every link followed, as far as it exists. */
  real: string;
  /** True where `real` is the working directory or below it. */
  isInside: boolean;
}

/**
 * The place that `path` leads to, which may not exist yet: the deepest folder that does is resolved,
 * and a link to nothing is followed to where a file would be created. A path that cannot be resolved,
 * as in a folder that may not be searched, counts as outside. Whoever opens the file opens `real`: a
 * link that is changed afterwards is not seen.
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

/** `path` with its links followed, its last ones also where they lead to nothing. */
function resolveLinks(path: string, system: LinkReader, linksLeft: number): string {
  try {
    return system.realPathSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) || dirname(path) === path) throw error;
  }
  // The text is not folded first: `..` after a link is the folder above the one that the link leads to.
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

/** Linux follows as many links in one path. */
const MAX_LINKS = 40;
