/** Finds programs, except in the working directory, which may have its own `bash`. @module */

import { attempt } from "./attempt.ts";
import { isWithin } from "./text/paths.ts";
import { isAbsolute, join } from "./text/std_path.ts";

/** The default folders without PATH, which are trusted even if the working directory is `/`. */
const USUAL = ["/usr/local/bin", "/usr/bin", "/bin"];

/**
 * Returns the folders of PATH that are not in `folder` (not for Windows). Relative and empty ones, which depend on the
 * working directory, are dropped, and missing ones, which may be created in `folder`, behind a link.
 */
export function programFolders(
  folder?: string,
  path: string = Deno.env.get("PATH") ?? USUAL.join(":"),
): string[] {
  const folders = path.split(":").filter(isAbsolute);
  if (folder === undefined) return folders;
  const inside = [folder, realOrPath(folder)];
  const isInside = (at: string) => inside.some((root) => isWithin(root, at));
  return folders.filter((one) => {
    const real = attempt(() => Deno.realPathSync(one));
    return USUAL.includes(one) || real !== undefined && !isInside(one) && !isInside(real);
  });
}

/** Returns the folders of PATH that are not in the folder in which this program was started. */
export const outerFolders = (): string[] => programFolders(attempt(Deno.cwd) ?? "/");

const realOrPath = (path: string): string => attempt(() => Deno.realPathSync(path)) ?? path;

/**
 * Returns the path of the first program called `name` in `folders`, except for a link that leads into the folder
 * `written` from elsewhere, as commands may have made its target.
 */
export function findProgram(
  name: string,
  folders: readonly string[],
  written: string | undefined,
): string | undefined {
  const root = written && realOrPath(written);
  return folders.map((folder) => join(folder, name)).find((path) => {
    const info = attempt(() => Deno.statSync(path));
    return info?.isFile && (info.mode! & 0o111) !== 0 &&
      (root === undefined || isWithin(root, path) || !isWithin(root, realOrPath(path)));
  });
}
