import { fromFileUrl } from "@std/path/from-file-url";
import { type GlobOptions, globToRegExp } from "@std/path/glob-to-regexp";
import { isGlob } from "@std/path/is-glob";
import { resolve } from "@std/path/resolve";
import { type WalkEntry, walkSync } from "./walk.ts";

/** The folder in which `expandGlob` looks, and the entries that it leaves out. */
export interface ExpandGlobOptions extends GlobOptions {
  root?: string;
  exclude?: string[];
  includeDirs?: boolean;
  followSymlinks?: boolean;
}

/** Yields the entries under `root` whose whole path matches `glob`, sorted by path. */
export function* expandGlobSync(
  glob: string | URL,
  options: ExpandGlobOptions = {},
): IterableIterator<WalkEntry> {
  const { root = ".", exclude = [], includeDirs = true, followSymlinks = false } = options;
  const pattern = resolve(root, glob instanceof URL ? fromFileUrl(glob) : glob);
  const parts = pattern.split(/(?<=[\\/])/);
  const firstGlob = parts.findIndex((part) => isGlob(part));
  const start = resolve(parts.slice(0, firstGlob < 0 ? undefined : firstGlob).join(""));
  // A last `**` matches the folder before it as well.
  const patterns = new Set([pattern, pattern.replace(/[\\/]\*\*$/, "")]);
  const match = [...patterns].map((one) => globToRegExp(one, options));
  const skip = exclude.map((one) => globToRegExp(resolve(root, one), options));
  try {
    const entries = walkSync(start, { match, skip, includeDirs, followSymlinks });
    yield* [...entries].sort((a, b) => a.path < b.path ? -1 : 1);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** `expandGlobSync` in the asynchronous form. */
export async function* expandGlob(
  glob: string | URL,
  options: ExpandGlobOptions = {},
): AsyncIterableIterator<WalkEntry> {
  yield* expandGlobSync(glob, options);
}
