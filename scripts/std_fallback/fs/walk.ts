import { basename } from "@std/path/basename";
import { join } from "@std/path/join";
import { fromFileUrl } from "@std/path/from-file-url";

/** A directory entry and the path that leads to it. */
export interface WalkEntry extends Deno.DirEntry {
  path: string;
}

/** The entries that `walk` yields, and the depth to which it goes. */
export interface WalkOptions {
  maxDepth?: number;
  includeFiles?: boolean;
  includeDirs?: boolean;
  includeSymlinks?: boolean;
  followSymlinks?: boolean;
  exts?: string[];
  match?: RegExp[];
  skip?: RegExp[];
}

/** Walks the tree under `root`, the root itself first. */
export function* walkSync(
  root: string | URL,
  options: WalkOptions = {},
): IterableIterator<WalkEntry> {
  const path = root instanceof URL ? fromFileUrl(root) : root;
  yield* visit(entryOf(path), options, options.maxDepth);
}

/** `walkSync` in the asynchronous form. */
export async function* walk(
  root: string | URL,
  options: WalkOptions = {},
): AsyncIterableIterator<WalkEntry> {
  yield* walkSync(root, options);
}

function entryOf(path: string): WalkEntry {
  const { isFile, isDirectory, isSymlink } = Deno.statSync(path);
  return { path, name: basename(path), isFile, isDirectory, isSymlink };
}

function* visit(
  entry: WalkEntry,
  options: WalkOptions,
  depth: number = Infinity,
): IterableIterator<WalkEntry> {
  const { path } = entry;
  if (depth < 0) return;
  if (entry.isSymlink) {
    if (!options.followSymlinks) {
      if ((options.includeSymlinks ?? true) && wanted(path, options)) yield entry;
      return;
    }
    const target = entryOf(Deno.realPathSync(path));
    if (target.isDirectory) yield* visit(target, options, depth);
    else if ((options.includeFiles ?? true) && wanted(target.path, options)) {
      yield { ...entry, path: target.path };
    }
  } else if (!entry.isDirectory) {
    if ((options.includeFiles ?? true) && wanted(path, options)) yield entry;
  } else if (!options.skip?.some((pattern) => path.match(pattern))) {
    if ((options.includeDirs ?? true) && wanted(path, options)) yield entry;
    if (depth === 0) return;
    for (const child of Deno.readDirSync(path)) {
      yield* visit({ ...child, path: join(path, child.name) }, options, depth - 1);
    }
  }
}

function wanted(path: string, { exts, match, skip }: WalkOptions): boolean {
  return (!exts || exts.some((ext) => path.endsWith(ext))) &&
    (!match || match.some((pattern) => path.match(pattern))) &&
    !skip?.some((pattern) => path.match(pattern));
}
