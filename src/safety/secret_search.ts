/** Searches the readable folders of the home folder and of the system for secrets. @module */

import { isWithin } from "../text/paths.ts";
import { join } from "../text/std_path.ts";
import { type Finding, type FolderLooks, hasOtherBytes, type PathAccess } from "./folder_looks.ts";
import { DEPENDENCIES } from "../find_program.ts";
import { smallFile, withoutCredentials } from "./git_files.ts";
import { runInPlaces } from "./in_place.ts";
import type { PathTable } from "./path_table.ts";
import { canOpen, realPathOf } from "./places.ts";

/** Each folder of the home folder is looked through up to this depth, and for about 0.2 s. */
const HOME_LEVELS = 3;
const MAX_HOME_COST = 50_000;

/** Returns the secrets in shown folders of the home folder. A folder for which there is no time is hidden. */
export function homeSecrets(
  places: ReadonlyMap<string, PathAccess>,
  { home = "/" }: PathTable,
  looks: FolderLooks,
): { found: Finding[]; isComplete: boolean } {
  const found: Finding[] = [];
  let isComplete = true;
  for (const [top, shown] of home === "/" ? [] : places) {
    if (shown !== "read" || !isWithin(home, top)) continue;
    const limit = looks.cost + MAX_HOME_COST;
    let folders = [top];
    for (let level = 0; level < HOME_LEVELS; level++) {
      const looked = folders.flatMap((at) => looks.cost < limit ? looks.at(at)?.entries ?? [] : []);
      for (const { name, path, access } of looked) {
        // Flutter runs git in its own repository, which fails without the settings.
        const isGits = /^config(\.worktree)?$/.test(name) && path.includes("/.git/");
        const text = isGits ? smallFile(path) : "";
        const isPlain = text !== "" && withoutCredentials(text) === text;
        if (access === "hidden" && !isPlain) found.push({ path, access });
      }
      folders = looked.filter(({ name, isDirectory, access }) =>
        isDirectory && access !== "hidden" && !DEPENDENCIES.test(name) && name !== "site-packages"
      ).map(({ path }) => path);
    }
    if (looks.cost < limit) continue;
    isComplete = false;
    found.push({ path: top, access: "hidden" });
  }
  return { found, isComplete };
}

/** System folders in which users may store secrets, and the levels that are searched for known names. */
const SECRET_PLACES = ["/etc", "/var/cache", "/var/lib", "/opt"];
const SYSTEM_LEVELS = 4;
const PUBLIC = /\.(pem|asc|gpg)$|^(credentials|secrets?)$/;

/** Returns the system's secrets: by known names and, to root, what others may not read. No command writes there. */
function findSystemSecrets(looks: FolderLooks): string[] {
  const places = ["/usr/local", ...SECRET_PLACES].flatMap((path) => realPathOf(path) ?? []);
  // A file may disappear meanwhile.
  const find =
    `find . -size +0 -type f ! -perm -4 -print -o -type d ! -perm -1 -prune -print || [ $? = 1 ]`;
  const closed = Deno.uid() === 0 ? runInPlaces(find, places.map((path) => [path])) : [];
  const found = closed.flatMap(({ output, fault }, i) =>
    (fault ? "." : output).split("\n").filter(Boolean).map((path) => join(places[i]!, path))
  );
  const look = (folder: string, levels: number) => {
    for (const { name, path, isDirectory, access } of looks.at(folder)?.entries ?? []) {
      if (access === "hidden" && !PUBLIC.test(name)) found.push(path);
      else if (isDirectory && levels > 1) look(path, levels - 1);
    }
  };
  for (const folder of SECRET_PLACES) look(folder, SYSTEM_LEVELS);
  return found.filter((path) => hasOtherBytes(path) || canOpen(path));
}

/** @param own the folders that are not the system's */
export function systemSecrets(looks: FolderLooks, own: readonly string[]) {
  looks.systemSecrets ??= Deno.build.os === "linux" ? findSystemSecrets(looks) : [];
  return looks.systemSecrets.filter((path) => !own.some((at) => isWithin(at, path)))
    .map((path): Finding => ({ path, access: "hidden" }));
}
