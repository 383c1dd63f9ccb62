/**
 * Where a path really leads.
 *
 * @module
 */

import { basename, dirname, join, resolve } from "../text/std_path.ts";
import { globToRegex } from "../text/glob.ts";
import { isWithin, resolvePath } from "../text/paths.ts";
import { SECRET_PATH } from "./protected_paths.ts";

/** What is asked of the file system; `Deno` has it. */
export interface LinkReader {
  realPathSync(path: string): string;
  readLinkSync(path: string): string;
}

/** A path and what it stands for. */
export interface Place {
  /** As it was asked for, absolute. */
  path: string;
  /** With every link followed, as far as it exists. */
  real: string;
  /** Whether `real` is the working directory or below it. */
  isInside: boolean;
}

/** As many as Linux follows. */
const MAX_LINKS = 40;

/**
 * Where `path` leads, which may not exist yet: the deepest folder that does is resolved, and a link to
 * nothing is followed to where a file would be created.
 *
 * What cannot be resolved, such as a folder that may not be searched, counts as outside. A link that is
 * changed afterwards is not seen: whoever opens the file opens `real`.
 *
 * @param workingDir the absolute working directory.
 */
export function placeOf(workingDir: string, path: string, system: LinkReader = Deno): Place {
  const asked = resolvePath({ workingDir }, path);
  try {
    const real = realPath(asked, system, MAX_LINKS);
    return { path: asked, real, isInside: isWithin(system.realPathSync(workingDir), real) };
  } catch {
    return { path: asked, real: asked, isInside: false };
  }
}

function realPath(path: string, system: LinkReader, linksLeft: number): string {
  try {
    return system.realPathSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) || dirname(path) === path) throw error;
  }
  // Of the text as it is: `..` after a link is the folder above where the link leads.
  const folder = realPath(dirname(path), system, linksLeft);
  const name = join(folder, basename(path));
  let target: string;
  try {
    target = system.readLinkSync(name);
  } catch {
    return name;
  }
  if (linksLeft === 0) throw new Error("Cannot resolve the path as it has too many links");
  return realPath(resolve(folder, target), system, linksLeft - 1);
}

/** So many files are looked through for secrets. */
const MAX_LOOKED = 10_000;
/** Longer patterns are nobody's, and of more files nobody says which. */
const MAX_PATTERN = 200;
const MAX_MATCHES = 1000;

/**
 * Whether something below the folder `path` has the name of a secret, or there is too much there to
 * say. Links in it are not followed, as no search does.
 */
export function mayHoldSecrets(path: string): boolean {
  const folders = [path];
  let looked = 0;
  for (const folder of folders) {
    try {
      for (const { name, isDirectory, isSymlink } of Deno.readDirSync(folder)) {
        if (++looked > MAX_LOOKED) return true;
        const at = join(folder, name);
        if (!isSymlink && SECRET_PATH.test(at)) return true;
        if (isDirectory) folders.push(at);
      }
    } catch {
      // A file, or nothing that a search could read either.
    }
  }
  return false;
}

/**
 * What a pattern of bash comes to, relative to `folder`, and maybe more; undefined where that is too
 * much to say. Names that begin with a dot, `.` and `..` among them, count where a part of it does.
 *
 * @param folder where its first part with a wildcard is looked for
 * @param pattern from that part on
 */
export function matchesOf(folder: string, pattern: string): string[] | undefined {
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
      const dots = isDotted ? DOTS : [];
      for (const { name, isDirectory, isSymlink } of [...dots, ...entriesOf(join(folder, above))]) {
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

function entriesOf(folder: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(folder)];
  } catch {
    return []; // A file, or nothing that bash could list either.
  }
}
