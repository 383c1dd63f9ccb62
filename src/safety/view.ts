/**
 * The view: what may be read, written and reached from a folder. The sandbox's mounts, the verdicts on paths and all
 * sandboxed programs derive from it.
 *
 * @module
 */

import { isWithin } from "../text/paths.ts";
import { dirname } from "../text/std_path.ts";
import type { PathAccess } from "./folder_looks.ts";
import { realPathOf } from "./places.ts";

/** The files and the network that programs may use. Paths without an entry do not exist for them. */
export interface View {
  folder: string;
  /** The access to a file, or to a folder with all in it. The deepest entry that contains a path decides. */
  places: ReadonlyMap<string, PathAccess>;
  network: boolean;
  /** The absolute path of the folder that programs start in, if that is not `folder`. */
  startIn?: string;
  hasSockets?: boolean;
  /** The texts that programs see instead of settings that contain credentials, and of other files. */
  texts?: ReadonlyMap<string, string | Uint8Array>;
  /** The folders that programs see at private paths, instead of those of the run. */
  sources?: ReadonlyMap<string, string>;
  /** Protected links directly in the folder, which no mount protects. */
  links?: readonly string[];
  /** The repositories in writable folders, and what leads to one; git commands write them there. */
  repositories?: readonly string[];
  /** The links of `repositories` with their targets: no mount protects them. */
  gitLinks?: ReadonlyMap<string, string>;
  /** Folders of another view, whose commands may replace them. */
  lent?: readonly string[];
  /** The folders that are hidden or read-only as a whole because there are too many paths in them. */
  closed?: readonly string[];
  /** False if the folder is too large to be searched completely; the rest is closed. */
  isComplete: boolean;
}

/** Returns the view's access to an absolute path with links resolved. */
export function accessAt({ places }: Pick<View, "places">, real: string): PathAccess {
  for (let at = real;; at = dirname(at)) {
    const access = places.get(at);
    if (access !== undefined) return access;
    if (dirname(at) === at) return "hidden";
  }
}

export const writtenFolders = ({ places }: View): string[] =>
  [...places].filter(([path, access]) => access === "write" && realPathOf(path) === path)
    .map(([path]) => path);

/** Returns the folder, and the outermost ones beside it that programs write. */
export function writableRoots({ folder, places }: View): string[] {
  const written = [...places].flatMap(([path, access]) => access === "write" ? path : []);
  const roots = [folder];
  for (const path of written.sort((a, b) => a.length - b.length)) {
    if (!roots.some((root) => isWithin(root, path))) roots.push(path);
  }
  return roots;
}
