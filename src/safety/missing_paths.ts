/** Creates missing paths that no sandboxed command may create. @module */

import { type Finding, hasOtherBytes } from "./folder_looks.ts";
import { runInPlace } from "./in_place.ts";
import { entryAt, placeOf } from "./places.ts";
import { isWithin } from "../text/paths.ts";
import { basename, dirname } from "../text/std_path.ts";

export function makeOwnFolders(own: readonly string[], written: readonly string[]): void {
  for (const at of written.length > 0 ? own : []) {
    const { real } = placeOf("/", at);
    if (written.some((root) => isWithin(root, real))) makeFolders(real, "umask 077");
  }
}

/** Creates a missing path that git's settings name in the folder, so that no command can create it. */
export function makeNamed(
  folder: string,
  path: string,
  named: Exclude<Finding["named"], "link" | undefined>,
): void {
  const { real } = placeOf("/", path);
  if (!isWithin(folder, real) || hasOtherBytes(real) || entryAt(real) !== undefined) return;
  if (named === "file") makeFolders(dirname(real), "", basename(real));
  // git stash would remove an empty folder, which commands cannot.
  else makeFolders(real, "", ".gitignore", "*\n");
}

/** Arguments: the name of a new file or "", its text, and the names of the folders to create below each other. */
const MAKE = `at=\${here%/} file=$1 text=$2 && shift 2
for name do mkdir "./$name" && at=$at/$name && at "$at" || exit; done
set -C
[ -z "$file" ] || printf %s "$text" >"./$file"`;

/** Creates the missing folders of a path, and then a file in it. Follows no link that a command creates meanwhile. */
function makeFolders(path: string, before = "", name = "", text = ""): void {
  const missing: string[] = [];
  let at = path;
  for (; entryAt(at) === undefined; at = dirname(at)) missing.unshift(basename(at));
  if (missing.length === 0 && name === "") return;
  runInPlace(at, `${before}\n${MAKE}`, [name, text, ...missing]);
}
