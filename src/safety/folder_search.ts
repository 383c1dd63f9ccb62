/** Searches a folder for what is secret, protected, git's, or named by a rule. @module */

import { DEPENDENCIES } from "../find_program.ts";
import { basename, dirname } from "../text/std_path.ts";
import { type Finding, type FolderLooks, isGitName } from "./folder_looks.ts";
import { gitFindings } from "./named_files.ts";
import type { PathTable } from "./path_table.ts";

/** The maximum cost of listing folders, because each command waits for it: about 0.2 s. */
const MAX_COST = 50_000;
/** The cost of closing a folder that is not searched, which takes a mount. */
const CLOSED_COST = 100;
/** Folders of dependencies and builds: files there are not the user's settings. */
export const GENERATED =
  /^(node_modules|bower_components|target|dist|build|out|vendor|\.venv|venv|__pycache__|\.tox|\.nox|\.cache|\.next|\.gradle)$/;

/** A place to search: for paths that rules cover, and with `paths` also for secrets and protected files. */
export interface PlaceLook {
  root: string;
  paths?: PathTable;
  /** Returns the access to an absolute path that rules allow; undefined if no rule covers it. */
  ruled?: ((path: string) => Finding["access"] | undefined) | undefined;
  isShallow?: boolean;
  /** True for a folder that the user lists: what there is no time to search stays readable. */
  isListed?: boolean;
}

/** Returns what is secret, protected, git's or ruled; what there is no time to search is closed. */
export function findingsIn(
  look: PlaceLook,
  looks: FolderLooks,
): { found: Finding[]; isComplete: boolean } {
  const { root, ruled } = look;
  const own = ruled?.(root);
  const top = folderFindings(look, { path: root }, looks);
  // A command may have closed the folder to this search only: its files can still be read by name.
  if (top === undefined) {
    const found = [...looks.findings.get(root) ?? [], { path: root, access: "read" } as const];
    return { found, isComplete: false };
  }
  const limit = looks.cost + MAX_COST + top.folders.length * CLOSED_COST;
  const found: Finding[] = own === undefined ? [] : [{ path: root, access: own }];
  found.push(...top.found);
  let isComplete = true;
  // Folders that people write are searched first, in case the time does not suffice.
  const isGenerated = ({ path }: FolderToLookAt) => GENERATED.test(basename(path));
  const inOrder = top.folders.toSorted((a, b) =>
    +isGenerated(a) - +isGenerated(b) || (a.path < b.path ? -1 : 1)
  );
  for (const first of inOrder) {
    const inside: Finding[] = [];
    const folders = [first];
    for (const folder of folders) {
      if (looks.cost > limit) break;
      const findings = folderFindings(look, folder, looks);
      inside.push(...findings?.found ?? [{ path: folder.path, access: "hidden" } as const]);
      folders.push(...findings?.folders ?? []);
    }
    if (looks.cost <= limit) found.push(...inside);
    else {
      looks.isLarge = true;
      isComplete = false;
      found.push({ path: first.path, access: look.isListed ? "read" : "hidden" });
    }
  }
  looks.findings.set(root, found);
  return { found, isComplete };
}

interface FolderToLookAt {
  path: string;
  /** True if everything in it is already read-only: only secrets are searched for. */
  isHeld?: boolean;
  isOthers?: boolean;
}

/** Returns the findings in one folder, and its folders to search; undefined if this user may not list it. */
function folderFindings(
  { root, paths, ruled, isShallow }: PlaceLook,
  { path: at, isHeld = false, isOthers = false }: FolderToLookAt,
  looks: FolderLooks,
): { found: Finding[]; folders: FolderToLookAt[] } | undefined {
  const look = looks.at(at, ruled !== undefined);
  if (look === undefined) return undefined;
  if (at !== root && look.isRepository) {
    return { found: gitFindings(at, dirname(at), paths), folders: [] };
  }
  const found: Finding[] = [];
  const folders: FolderToLookAt[] = [];
  for (const { name, path, isDirectory, isLink, access: named } of look.entries) {
    const isOthersOwn = isOthers && !/^\.env/i.test(name);
    // A link in a protected folder leads to what is protected as well.
    const usual = named ?? (isHeld && isLink ? "read" : undefined);
    const own = paths && !isOthersOwn ? usual : undefined;
    const access = own === "hidden" ? own : ruled?.(path) ?? own;
    if (isGitName(name)) {
      found.push(...gitFindings(path, at, paths));
      continue;
    }
    if (access && (access === "hidden" || !isHeld || isLink)) found.push({ path, access });
    if (isShallow || access === "hidden" || !isDirectory) continue;
    folders.push({
      path,
      isHeld: isHeld || access === "read",
      isOthers: isOthers || DEPENDENCIES.test(name),
    });
  }
  return { found, folders };
}
