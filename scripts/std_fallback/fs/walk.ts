import { basename } from "@std/path/basename";
import { join } from "@std/path/join";
import { fromFileUrl } from "@std/path/from-file-url";

/** A directory entry and the path that leads to it. */
export interface WalkEntry extends Deno.DirEntry {
  path: string;
}

/** The entries that `walk` yields. No link is followed. */
export interface WalkOptions {
  includeDirs?: boolean;
  includeSymlinks?: boolean;
  exts?: string[];
}

/** Walks the tree under `root`, the root itself first. */
export function* walkSync(
  root: string | URL,
  options: WalkOptions = {},
): IterableIterator<WalkEntry> {
  const path = root instanceof URL ? fromFileUrl(root) : root;
  const { isFile, isDirectory, isSymlink } = Deno.statSync(path);
  yield* visit({ path, name: basename(path), isFile, isDirectory, isSymlink }, options);
}

/** `walkSync` in the asynchronous form. */
export async function* walk(
  root: string | URL,
  options: WalkOptions = {},
): AsyncIterableIterator<WalkEntry> {
  yield* walkSync(root, options);
}

function* visit(entry: WalkEntry, options: WalkOptions): IterableIterator<WalkEntry> {
  const { path, isSymlink, isDirectory } = entry;
  const { exts, includeDirs = true, includeSymlinks = true } = options;
  const isKind = isSymlink ? includeSymlinks : !isDirectory || includeDirs;
  if (isKind && (!exts || exts.some((ext) => path.endsWith(ext)))) yield entry;
  if (!isDirectory) return;
  for (const child of Deno.readDirSync(path)) {
    yield* visit({ ...child, path: join(path, child.name) }, options);
  }
}
