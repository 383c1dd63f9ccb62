/** The places that paths and patterns lead to, with links followed. @module */

import { basename, dirname, join, resolve } from "../text/std_path.ts";
import { globToRegex } from "../text/glob.ts";
import { isWithin, resolvePath } from "../text/paths.ts";
import { entriesOf, type PathTable } from "./path_table.ts";

type LinkReader = Record<"realPathSync" | "readLinkSync", (path: string) => string>;

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
/** A folder with more entries is not looked through to the end: it may hold secrets, or any match. */
const MAX_LOOKED = 10_000;
/** Patterns with more characters or matches are not expanded: the call is asked about. */
const MAX_PATTERN = 200;
const MAX_MATCHES = 1000;

/** True where a name below `path` may be a secret's; links are not followed, as no search does. */
export function mayHoldSecrets(path: string, { secretPattern }: PathTable): boolean {
  const folders = [path];
  let looked = 0;
  for (const folder of folders) {
    for (const { name, isDirectory, isSymlink } of entriesOf(folder)) {
      if (++looked > MAX_LOOKED) return true;
      const at = join(folder, name);
      if (!isSymlink && secretPattern.test(at)) return true;
      if (isDirectory) folders.push(at);
    }
  }
  return false;
}

/**
 * The paths that a pattern of bash, from its first part with a wildcard on, matches, relative to
 * `folder`, and maybe more; undefined for too many to list. Names that begin with a dot, `.` and `..`
 * among them, count where a part of the pattern begins with one.
 */
export function expandPattern(folder: string, pattern: string): string[] | undefined {
  if (pattern.length > MAX_PATTERN) return undefined;
  const glob = pattern.replace(/([/*])\1+/g, "$1").replace(/\/$/, "");
  const regex = globToRegex(glob);
  const isDotted = /(^|\/)\.|\{/.test(glob);
  const matches: string[] = [];
  let folders = [""];
  let looked = 0;
  for (let deeper = glob.split("/").length; deeper > 0; deeper--) {
    const next: string[] = [];
    for (const above of folders) {
      const entries = entriesOf(join(folder, above));
      for (const { name, isDirectory, isSymlink } of isDotted ? [...DOTS, ...entries] : entries) {
        if (++looked > MAX_LOOKED || matches.length > MAX_MATCHES) return undefined;
        if (name.startsWith(".") && !isDotted) continue;
        const at = above + name;
        if (regex.test(at)) matches.push(at);
        if (isDirectory || isSymlink) next.push(`${at}/`);
      }
    }
    folders = next;
  }
  return matches;
}

const DOTS = [".", ".."].map((name) => ({ name, isDirectory: true, isSymlink: false }));
