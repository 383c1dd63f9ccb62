/** Finds programs, except in the working directory, which may have its own `bash`. @module */

import { attempt } from "./attempt.ts";
import { isWithin } from "./text/paths.ts";
import { basename, dirname, isAbsolute, join } from "./text/std_path.ts";

/** The PATH of this program's own helpers: folders of the system, wherever one works. The last is that of NixOS. */
export const SYSTEM_PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin";

/** The default folders without PATH, which are trusted even if the working directory is `/`. */
const USUAL = ["/usr/local/bin", "/usr/bin", "/bin"];

/** Folders that package managers write and remove as a whole, and with them sandboxed commands: no mount is in them. */
export const DEPENDENCIES =
  /^(node_modules|bower_components|\.venv|venv|__pycache__|\.tox|\.nox|\.cache|\.next|\.gradle)$/;

/** True for a folder in those of a project: commands may have written it, also those of another session. */
export function isInDependencies(path: string): boolean {
  for (let at = path; dirname(at) !== at; at = dirname(at)) {
    if (!DEPENDENCIES.test(basename(at))) continue;
    const home = Deno.env.get("HOME") ?? "/";
    // No sandboxed command works directly in these.
    if (!["/", "/opt", home, realOrPath(home)].includes(dirname(at))) return true;
  }
  return false;
}

/** The folders beside the working directory that commands of this run may write. */
export const listedFolders = new Set<string>();

/**
 * Returns the folders of PATH (not for Windows) that are neither in `folder`, nor in another one that commands may
 * write, nor in the dependencies of a project. Relative and empty ones, which depend on the working directory, are
 * dropped, and missing ones, which may be created in `folder`, behind a link.
 */
export function programFolders(
  folder?: string,
  path: string = Deno.env.get("PATH") ?? USUAL.join(":"),
): string[] {
  const folders = path.split(":").filter(isAbsolute);
  if (folder === undefined) return folders;
  const inside = [folder, ...listedFolders].flatMap((at) => [at, realOrPath(at)]);
  const isInside = (at: string) => inside.some((root) => isWithin(root, at));
  return folders.filter((one) => {
    const real = attempt(() => Deno.realPathSync(one));
    const isOpen = (at: string) => isInside(at) || isInDependencies(at);
    return USUAL.includes(one) || real !== undefined && !isOpen(one) && !isOpen(real);
  });
}

const realOrPath = (path: string): string => attempt(() => Deno.realPathSync(path)) ?? path;

/**
 * Returns the path of the first program called `name` in `folders`, except for a link that leads from elsewhere into
 * the folder `written` or another one that commands may write, as they may have made its target.
 */
export function findProgram(
  name: string,
  folders: readonly string[],
  written: string | undefined,
): string | undefined {
  const roots = written === undefined ? [] : [written, ...listedFolders].map(realOrPath);
  return folders.map((folder) => join(folder, name)).find((path) => {
    const info = attempt(() => Deno.statSync(path));
    return info?.isFile && (info.mode! & 0o111) !== 0 &&
      roots.every((root) => isWithin(root, path) || !isWithin(root, realOrPath(path)));
  });
}
