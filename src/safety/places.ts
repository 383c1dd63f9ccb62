/** Resolves paths and patterns, following links. @module */

import { attempt } from "../attempt.ts";
import { basename, dirname, join, resolve } from "../text/std_path.ts";
import { isWithin, resolvePath } from "../text/paths.ts";
import { hasOtherBytes } from "./folder_looks.ts";

type LinkReader = Record<"realPathSync" | "readLinkSync", (path: string) => string>;

export interface Place {
  path: string;
  real: string;
  /** True if `real` is the working directory or below it. */
  isInside: boolean;
}

/**
 * Resolves a path, also a missing one. One that cannot be resolved counts as outside. Callers open `real`, so that a
 * link that changes later has no effect.
 */
export function placeOf(workingDir: string, path: string, system: LinkReader = Deno): Place {
  const asked = resolvePath({ workingDir }, path);
  try {
    const root = system.realPathSync(workingDir);
    const real = asked === workingDir ? root : resolveLinks(asked, system, MAX_LINKS);
    return { path: asked, real, isInside: isWithin(root, real) };
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

export const entryAt = (path: string): Deno.FileInfo | undefined =>
  attempt(() => Deno.lstatSync(path));

export const linkIn = (path: string): string | undefined => attempt(() => Deno.readLinkSync(path));

/** @param closed the result for a path that this user may not access */
export function realPathOf(path: string, closed?: string): string | undefined {
  // Deno cannot name the paths that this one represents.
  if (hasOtherBytes(path)) return path;
  try {
    return Deno.realPathSync(path);
  } catch (error) {
    return error instanceof Deno.errors.PermissionDenied ? closed : undefined;
  }
}

/** Returns the links in the folder that are followed on the way to a path, those behind other links included. */
export const linksOn = (folder: string, path: string): string[] =>
  wayOf(path).links.filter((link) => isWithin(folder, link));

/** Returns where a path leads, and the links that are followed on the way. */
function wayOf(path: string): { links: string[]; real: string } {
  const links: string[] = [];
  const names = path.split("/");
  let at = "/";
  while (names.length > 0 && links.length <= MAX_LINKS) {
    const next = join(at, names.shift()!);
    // Deno does not read a target that is not UTF-8.
    const target = entryAt(next)?.isSymlink ? linkIn(next) ?? "" : undefined;
    if (target !== undefined) {
      links.push(next);
      names.unshift(...target.split("/"));
    }
    at = target === undefined ? next : target.startsWith("/") ? "/" : at;
  }
  return { links, real: names.length === 0 ? at : "" };
}

/**
 * Returns where a listed path leads, and if a command may have made a link on the way: in one of the folders `written`,
 * or, in an earlier session, in a folder for which `isOpen` is true.
 */
export function listedPlace(
  path: string,
  written: readonly string[],
  isOpen = (_folder: string) => false,
): { real: string; isMade: boolean } {
  const { links, real } = wayOf(path);
  const isMade = (link: string) =>
    written.some((root) => isWithin(root, link)) ||
    isOpen(dirname(link)) && entryAt(link)?.uid === Deno.uid();
  return { real, isMade: links.some(isMade) };
}

export const canOpen = (path: string): boolean =>
  attempt(() => {
    if (Deno.statSync(path).isDirectory) Deno.readDirSync(path)[Symbol.iterator]().next();
    else Deno.openSync(path).close();
    return true;
  }) ?? false;
