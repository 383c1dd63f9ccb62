/**
 * Lists folders without hidden files, `node_modules`, and names in `.rgignore`, `.ignore`, `.gitignore` and
 * `.git/info/exclude`. As in ripgrep, this is their precedence, and a rule that includes a name includes it even if it
 * is hidden. Unlike ripgrep, a `.gitignore` applies outside repositories too, and git's user settings do not.
 * Synchronous calls take a fraction of the time; a search runs in slices.
 * @module
 */

import { attempt } from "../../attempt.ts";
import { slashed } from "../../text/std_path.ts";
import type { HiddenPaths } from "../../types/tool.ts";
import { type IgnoreVerdict, parseIgnore, type Rules, verdict } from "./ignore.ts";

/** The ignore files that apply to a folder, the nearest first. */
interface IgnoreLevel {
  rules: Rules;
  at: number; // the length of the absolute path of the rules' folder, with a slash
  up: IgnoreLevel | undefined;
}

/** The levels of a folder, one for each of {@linkcode IGNORE_FILES}. */
type Scope = readonly (IgnoreLevel | undefined)[];

/** The files with rules. Those of an earlier file override those of a later one, in any folder. */
const IGNORE_FILES = [".rgignore", ".ignore", ".gitignore"];
const NO_RULES: Scope = [];

/** The files that a glob pattern includes. */
interface Filter {
  regex: RegExp;
  /** True if it is matched against the bare name, false for the path from the root. */
  byName: boolean;
  exclude: boolean; // true to include the files that do not match
}

/** The parameters of a walk. All paths are absolute, with `/` between their parts. */
export interface WalkOptions {
  root: string;
  top: string; // the highest folder whose ignore files apply: `root` or above
  maxDepth: number; // the maximum depth of folders, 0 for the files in `root` only
  hidden: readonly RegExp[]; // names that are included although they are hidden
  always?: (name: string) => boolean; // the files that no rule ignores
  filter?: Filter; // the files to include; all if it is missing
  /** The files and folders that a policy withholds. Then `root` has no links. */
  withheld?: HiddenPaths;
}

/** Returns an empty tally: the numbers of included and skipped files, by reason. */
export const emptyTally = () => ({
  files: 0, // included
  ignored: 0, // files and folders that are hidden or ignored
  filtered: 0, // files that the filter rejects
  unreadable: 0, // files and folders that the system does not open
  binary: 0, // files with NUL bytes
  large: 0, // files over the size limit
  unnameable: 0, // files and folders whose names are not UTF-8 and therefore cannot be named
  links: 0, // links to files and folders
  withheld: 0, // files and folders that the policy withholds
  cutRules: 0, // ignore files of which only the first rules apply
});
export type Tally = ReturnType<typeof emptyTally>;

/** The maximum number of bytes read from an ignore file, with comments: real ones are far smaller. */
const MAX_IGNORE_BYTES = 1024 * 1024;
/** Folders without real files: reading one runs code in the kernel, and some block forever. */
const SYSTEM_FOLDERS = Deno.build.os === "linux" ? ["/proc", "/sys"] : [];
/** The files and folders in a folder that a search includes, as absolute paths. */
interface FolderEntries {
  files: string[];
  folders: string[];
  links: string[];
}

/** Lists folders one by one, and counts the files that it skips. */
export class Walk {
  /** The scopes above the folders that were found and not yet listed. */
  readonly #above = new Map<string, Scope>();

  /** @param stop called about every millisecond while rules are read and applied */
  constructor(
    private readonly options: WalkOptions,
    private readonly tally: Tally,
    private readonly stop: () => boolean = () => false,
  ) {}

  /** Returns what a search includes of a folder. Links are not followed. @throws {Stopped} if `stop` returns true. */
  list(folder: string): FolderEntries {
    let entries: Deno.DirEntry[];
    try {
      // The root of a file system keeps its slash.
      entries = Array.from(Deno.readDirSync(/^$|:$/.test(folder) ? `${folder}/` : folder));
    } catch (error) {
      countUnreadable(folder, error, this.tally);
      return { files: [], folders: [], links: [] };
    }
    const has = (name: string) => entries.some((entry) => entry.name === name);
    const above = this.#above.get(folder) ?? this.#scopeAbove(folder);
    const scope = this.#scopeIn(folder, above, has);
    const found = this.#take(folder, entries, scope);
    for (const inner of found.folders) this.#above.set(inner, scope);
    this.#above.delete(folder);
    return found;
  }

  #take(folder: string, entries: readonly Deno.DirEntry[], scope: Scope): FolderEntries {
    const { options: { root, maxDepth, filter, withheld } } = this;
    const tally = emptyTally();
    const files: string[] = [];
    const folders: string[] = [];
    const links: string[] = [];
    const deeper = maxDepth >= folder.slice(root.length).split("/").length;
    for (const { name, isFile, isDirectory, isSymlink } of entries) {
      if (!isFile && !isDirectory && !isSymlink) continue;
      const path = `${folder}/${name}`;
      const below = path.slice(root.length + 1);
      if (this.#isLeftOut(path, name, isDirectory, scope)) tally.ignored++;
      else if (isDirectory) {
        if (!deeper || SYSTEM_FOLDERS.includes(path)) continue;
        if (withheld && isWithheld(withheld, path, true)) tally.withheld++;
        else folders.push(path);
      } else if (!filter || filter.regex.test(filter.byName ? name : below) !== filter.exclude) {
        if (isSymlink) links.push(path);
        else if (withheld && isWithheld(withheld, path, false)) tally.withheld++;
        else files.push(path);
      } else tally.filtered++;
    }
    tally.links = links.length;
    for (const key of Object.keys(tally) as (keyof Tally)[]) this.tally[key] += tally[key];
    return { files, folders, links };
  }

  #isLeftOut(path: string, name: string, isDir: boolean, scope: Scope): boolean {
    if (isDir && (name === "node_modules" || name === ".git")) return true;
    if (!isDir && this.options.always?.(name)) return false;
    return ruled(path, name, isDir, scope, this.stop) ??
      (name.startsWith(".") && !this.options.hidden.some((regex) => regex.test(name)));
  }

  #scopeAbove(path: string): Scope {
    if (path.length <= this.options.top.length) return NO_RULES;
    const folder = path.slice(0, path.lastIndexOf("/"));
    const has = (name: string) => attempt(() => Deno.lstatSync(`${folder}/${name}`)) !== undefined;
    const scope = this.#scopeIn(folder, this.#scopeAbove(folder), has);
    // A path in an ignored folder was named on purpose: the rules that ignore it do not apply.
    const isIgnored = ruled(path, path.slice(folder.length + 1), true, scope, this.stop);
    return isIgnored ? NO_RULES : scope;
  }

  /** Returns the scope in `folder`: `above` with the rules that the folder itself adds. */
  #scopeIn(folder: string, above: Scope, has: (name: string) => boolean): Scope {
    let [native, ignore, gitignore] = above;
    const level = (file: string, up: IgnoreLevel | undefined): IgnoreLevel | undefined => {
      const rules = readRules(`${folder}/${file}`, this.stop);
      if (rules === undefined) return up;
      if (rules.isCut) this.tally.cutRules++;
      return rules.list.length ? { rules, at: folder.length + 1, up } : up;
    };
    // A repository within another has only its own rules.
    if (has(".git")) gitignore = level(".git/info/exclude", undefined);
    return [native, ignore, gitignore].map((up, i) => {
      const file = IGNORE_FILES[i]!;
      return has(file) ? level(file, up) : up;
    });
  }
}

/** True if a policy withholds a file, or a folder with all its entries. */
export function isWithheld(
  { folder, paths, absolute = [], files }: HiddenPaths,
  path: string,
  isDir: boolean,
): boolean {
  const top = slashed(folder).replace(/\/?$/, "/");
  const name = path.startsWith(top) ? path.slice(top.length) : path;
  const isIn = (name: string) => (regex: RegExp) => regex.test(name) || regex.test(`${name}/`);
  if (paths.some(isIn(name.normalize())) || absolute.some(isIn(path.normalize()))) return true;
  return !isDir && files !== undefined && files.test(path);
}

function ruled(
  path: string,
  name: string,
  isDir: boolean,
  scope: Scope,
  stop: () => boolean,
): IgnoreVerdict {
  for (const first of scope) {
    for (let level = first; level !== undefined; level = level.up) {
      const found = verdict(level.rules, path.slice(level.at), name, isDir, stop);
      if (found !== undefined) return found;
    }
  }
}

function readRules(path: string, stop: () => boolean): Rules | undefined {
  const read = attempt(() => {
    if (!Deno.lstatSync(path).isFile) return undefined;
    using file = Deno.openSync(path);
    const { size } = file.statSync();
    const bytes = new Uint8Array(Math.min(size, MAX_IGNORE_BYTES));
    let length = 0;
    for (let n; (n = file.readSync(bytes.subarray(length)));) length += n;
    const text = new TextDecoder().decode(bytes.subarray(0, length));
    return { text, isWhole: size <= MAX_IGNORE_BYTES };
  });
  // A file that is gone or unreadable has no rules.
  if (read === undefined) return undefined;
  const { text, isWhole } = read;
  if (isWhole) return parseIgnore(text, stop);
  // A part of a line is a different rule.
  const rules = parseIgnore(text.slice(0, text.lastIndexOf("\n") + 1), stop);
  return { ...rules, isCut: true };
}

/** Counts a failure to open, unless the file is gone. */
export function countUnreadable(path: string, error: unknown, tally: Tally): void {
  if (!(error instanceof Deno.errors.NotFound)) tally.unreadable++;
  // If the system does not find a listed name, the name has bytes that are not UTF-8, shown as U+FFFD.
  else if (path.includes("\ufffd")) tally.unnameable++;
}
