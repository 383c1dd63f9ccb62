/** git's files: its folders, wherever they are kept, and what their settings name. @module */

import { attempt } from "../attempt.ts";
import { dirname, join, resolve } from "../text/std_path.ts";
import { isRepositoryWith } from "./folder_looks.ts";

/** Something in the folder that commands may not write, or that is hidden from them. */
export interface Finding {
  path: string;
  access: "none" | "read";
  /** True for a folder in which git keeps a repository. */
  isGitFolder?: true;
  /** What settings name here: if it is missing, no command may make it. */
  named?: "hooks" | "file";
}

/**
 * The folders in which git keeps what belongs to a `.git` that is a file: a worktree's or submodule's, and
 * the repository's. The file may be a command's own work: what it names counts only where git has written
 * there that it belongs to this one.
 */
export function gitFoldersOf(dotGit: string): string[] {
  const named = gitFileTarget(dotGit);
  const folder = named && realPathIn(named);
  if (!folder) return [];
  const back = smallFile(join(folder, "gitdir")).trim();
  const worktree = /^\s*worktree\s*=\s*(.+)$/m.exec(smallFile(join(folder, "config")))?.[1];
  const isWorktree = back !== "" && realPathIn(resolve(folder, back)) === realPathIn(dotGit);
  const isSubmodule = worktree !== undefined &&
    realPathIn(resolve(folder, worktree)) === realPathIn(dirname(dotGit));
  if (!isWorktree && !isSubmodule) return [];
  const common = realPathIn(resolve(folder, smallFile(join(folder, "commondir")).trim()));
  // git keeps a worktree's folder as REPOSITORY/worktrees/NAME.
  const isTied = common === dirname(dirname(folder)) && isRepository(common);
  return isTied ? [folder, common] : [folder];
}

/** Returns the path that a `.git` that is a file names; undefined for none, or one that git may read in another way. */
export function gitFileTarget(dotGit: string): string | undefined {
  const named = /^gitdir: ([^\0\ufffd]+?)[\r\n]*$/.exec(smallFile(dotGit))?.[1];
  return named && resolve(dirname(dotGit), named);
}

/** True for a folder that git takes for a repository. */
export function isRepository(folder: string): boolean {
  return isRepositoryWith((name) => isThereAt(join(folder, name)));
}

/** True for a repository without a work tree, and for folders in it. */
export function isInsideGit(folder: string): boolean {
  return isRepository(folder) || dirname(folder) !== folder && isInsideGit(dirname(folder));
}

/** The most that is read of a file of git's. */
const MAX_GIT_FILE = 100_000;

/** The start of a small file; nothing where none can be read. */
export function smallFile(path: string): string {
  try {
    const { isFile, size } = Deno.statSync(path);
    return isFile && size <= MAX_GIT_FILE ? Deno.readTextFileSync(path) : "";
  } catch {
    return "";
  }
}

/** The most files of settings that one repository includes. */
const MAX_INCLUDED = 100;

/** A setting that names a folder or file, on one line, and maybe behind the names of sections. */
const SETTING =
  /^\ufeff?[ \t]*(?:\[(?:"(?:\\.|[^"\\\n])*"|[^\]"\n])*\][ \t]*)*(hooksPath|path)[ \t]*=[ \t]*((?:"(?:\\.|[^"\\\n])*"|\\.|[^"\\#;\n])*)/gim;

/** git's files, and the folders and files in which it looks for hooks and further settings, the user's own included. */
export function gitFindings(
  path: string,
  worktree: string,
  { home = "~", own = [] }: { home?: string | undefined; own?: readonly string[] } = {},
): Finding[] {
  const folders = [path, ...gitFoldersOf(path)];
  const known = [
    ...folders.flatMap((at) => [join(at, "config"), join(at, "config.worktree")]),
    ...["/etc/gitconfig", join(home, ".gitconfig")],
    ...own.map((at) => join(dirname(at), "git/config")),
  ];
  const settings = new Set(known);
  const hooks: string[] = [];
  for (const file of settings) {
    if (settings.size > MAX_INCLUDED) break;
    const named = smallFile(file).replace(/\\\r?\n/g, "").matchAll(SETTING);
    for (const [, key, text] of named) {
      const value = text!.trimEnd().replace(/\\(.)|"/g, "$1");
      // Includes are relative to the file that names them, hooks to the work tree.
      const isInclude = key!.toLowerCase() === "path";
      const at = resolve(isInclude ? dirname(file) : worktree, value.replace(/^~(?=\/)/, home));
      if (isInclude) settings.add(at);
      else hooks.push(at);
    }
  }
  const included = [...settings].slice(known.length);
  return [
    ...folders.map((one) => ({ path: one, access: "read", isGitFolder: true } as const)),
    // One that was left there keeps git from settings beside a broken repository.
    ...[...known, join(worktree, "commondir")].map((
      one,
    ) => ({ path: one, access: "read" } as const)),
    ...included.map((one) => ({ path: one, access: "read", named: "file" } as const)),
    ...hooks.map((one) => ({ path: one, access: "read", named: "hooks" } as const)),
  ];
}

const isThereAt = (path: string): boolean => attempt(() => Deno.lstatSync(path)) !== undefined;
const realPathIn = (path: string): string | undefined => attempt(() => Deno.realPathSync(path));
