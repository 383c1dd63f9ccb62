/** The place of a search, from a tool's `path` and glob pattern. @module */

import { dirname, relative, resolve, slashed } from "../../text/std_path.ts";
import { globToRegex } from "../../text/glob.ts";
import { isWithin } from "../../text/paths.ts";
import type { Grant, ToolContext } from "../../types/tool.ts";
import { FileError, fileError, missingError } from "../files/regular_file.ts";
import { movedError, statRegular } from "../files/regular_file.ts";
import { toolPath } from "../paths.ts";
import type { SearchJob } from "./searcher.ts";
import { isWithheld } from "./walk.ts";

interface Target extends Pick<SearchJob, "walk" | "prefix"> {
  /** Set if a single file was named; then `walk.root` is its folder. */
  file?: string;
}

/**
 * Finds the place to search. The folders of a glob pattern up to the first wildcard count as named: the search starts
 * there, even if they are hidden or ignored.
 * @param glob the pattern, empty for all files
 * @param anywhere true if a pattern without `/` matches names at any depth, as in `rg -g`
 * @throws {Error} if there is no such place, or the pattern leads out of it, or a link out of the working directory;
 * the message suggests the next step to the model.
 */
export async function findTarget(
  context: Pick<ToolContext, "workingDir" | "grant">,
  path: string,
  glob: string,
  anywhere: boolean,
): Promise<Target> {
  const base = resolve(toolPath(context, path));
  const exclude = anywhere && glob.startsWith("!");
  const byName = anywhere && !glob.includes("/");
  checkGlob(exclude ? glob.slice(1) : glob, path);
  let rest = (exclude ? glob.slice(1) : glob).replace(/^(?:\.\/+)+/, "").replace(/\/{2,}/g, "/");
  if (rest.endsWith("/")) rest += "**";
  const prefix = shownPrefix(context.workingDir, base);
  // A pattern relative to the working directory instead of `path` is a common mistake.
  const isSlip = prefix !== "" && rest.startsWith(prefix) &&
    !await pathExists(resolve(base, rest.split("/")[0]!));
  if (isSlip) rest = rest.slice(prefix.length);
  const folders = exclude ? "" : /^(?:[^*?[\]{}\\/]+\/)*/.exec(rest)![0];
  rest = rest.slice(folders.length);
  const named = folders === "" ? base : resolve(base, folders);
  const shown = folders === "" ? path : shownPrefix(context.workingDir, named).slice(0, -1);
  const { isFile, real } = await checkPlace(context, named, shown, folders !== "");
  // The policy decided on the real path, which is also shown.
  const place = context.grant ? real : named;
  const root = isFile ? dirname(place) : place;
  const isDeep = rest === "" || byName || exclude || rest.includes("**");
  let withheld = context.grant?.withheld;
  // The policy has decided on a named file itself.
  if (withheld && isFile) withheld = { folder: withheld.folder, paths: [] };
  return {
    walk: {
      root: withSlashes(root),
      top: withSlashes(await topFolder(context.workingDir, root)),
      maxDepth: isDeep ? Infinity : rest.split("/").length - 1,
      hidden: exclude ? [] : dotNames(rest),
      ...rest !== "" && { filter: { regex: globToRegex(rest), byName, exclude } },
      ...withheld && { withheld },
    },
    prefix: shownPrefix(context.workingDir, root),
    ...isFile && { file: withSlashes(place) },
  };
}

function checkGlob(glob: string, path: string): void {
  const absolute = /^(?:\{[^}]*,|\{)?(?:\/|[a-z]:[\\/])/i.test(glob);
  const leadsOut = glob.split(/[/{},]/).includes("..");
  if (!absolute && !leadsOut) return;
  const [shown, from] = [JSON.stringify(glob), JSON.stringify(path)];
  const now = absolute ? "absolute" : "with ..";
  throw new RangeError(
    `Cannot search for ${shown} as it must lead from path downwards (now ${now}): give the ` +
      `folder as path (now ${from}) and only what is below it here, such as **/*.ts`,
  );
}

/** Returns the names in a pattern that start with a dot: only these hidden names are included. */
function dotNames(glob: string): RegExp[] {
  return [...glob.matchAll(/(?<=^|[/{,])(\.[^/{},]*)(\{?)/g)]
    .map(([, name, brace]) => globToRegex(brace === "" ? name! : `${name}*`));
}

/** Returns the type and the real path of a place. `isBelow` is true if a pattern, not the policy, leads there. */
async function checkPlace(
  { workingDir, grant }: Pick<ToolContext, "workingDir" | "grant">,
  path: string,
  shown: string,
  isBelow: boolean,
): Promise<{ isFile: boolean; real: string }> {
  try {
    const [real, realDir] = [await Deno.realPath(path), await Deno.realPath(workingDir)];
    // The path is in the working directory but its target is not: a search approved here must not run elsewhere.
    if (isWithin(workingDir, path) && !isWithin(realDir, real)) {
      throw new FileError(
        `Cannot search ${shown} as a link in it leads out of the working directory: links are not followed`,
      );
    }
    if (grant && !isBelow && real !== grant.realPath) throw movedError("search", shown);
    const { isDirectory } = await Deno.stat(real);
    if (grant && isBelow) checkGranted(grant, path, { real, isDirectory, realDir }, shown);
    if (isDirectory && !/^\/(proc|sys)(\/|$)/.test(real)) return { isFile: false, real };
    await statRegular(path, shown, "search", grant && { ...grant, realPath: real });
    return { isFile: true, real };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw await missingError(path, shown, "search", isBelow ? undefined : grant);
    }
    throw fileError("search", shown, error);
  }
}

function checkGranted(
  { realPath, withheld }: Grant,
  path: string,
  { real, isDirectory, realDir }: { real: string; isDirectory: boolean; realDir: string },
  shown: string,
): void {
  const refuse = (reason: string) => new FileError(`Cannot search ${shown} as ${reason}`);
  if (!isWithin(realPath, real) && !isWithin(realDir, real)) {
    throw refuse("a link in it leads elsewhere: links are not followed");
  }
  const isIn = (folder: string, at: string) => isWithin(folder, at) && at !== folder;
  for (const start of [path, real]) {
    for (let at = start; isIn(realDir, at) || isIn(realPath, at); at = dirname(at)) {
      if (!isWithheld(withheld, withSlashes(at), at !== start || isDirectory)) continue;
      throw refuse("the rules withhold it: give it as path to ask");
    }
  }
}

/** Returns the highest folder whose ignore files apply: the repository or the working directory. */
async function topFolder(workingDir: string, root: string): Promise<string> {
  for (let folder = root;; folder = dirname(folder)) {
    if (await pathExists(resolve(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return isWithin(workingDir, root) ? resolve(workingDir) : root;
  }
}

const pathExists = (path: string): Promise<boolean> =>
  Deno.lstat(path).then(() => true, () => false);

/** Returns the prefix of shown paths below `folder`: relative to the working directory if they are in it. */
function shownPrefix(workingDir: string, folder: string): string {
  const isInside = isWithin(workingDir, folder);
  const path = withSlashes(isInside ? relative(workingDir, folder) : folder);
  return isInside && path === "" ? "" : `${path}/`;
}

/** Returns `path` with `/` between its parts, without one at the end. */
const withSlashes = (path: string): string => slashed(path).replace(/\/$/, "");
