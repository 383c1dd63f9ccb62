/**
 * Lists folders without hidden files, `node_modules`, and what `.rgignore`, `.ignore`, `.gitignore` and
 * `.git/info/exclude` name. As in ripgrep, they go in this order, and a rule that keeps a name keeps
 * it although it is hidden; unlike there, a `.gitignore` counts outside of repositories too, and
 * git's user settings do not. Synchronous calls take a fraction of the time; most run in a worker.
 * @module
 */

import { attempt } from "../../attempt.ts";
import { slashed } from "../../text/std_path.ts";
import type { Withheld } from "../../types/tool.ts";
import { type IgnoreVerdict, MAX_RULES_COST, parseIgnore, type Rules, verdict } from "./ignore.ts";

/** The ignore files that apply to a folder, the nearest first. */
interface IgnoreLevel {
  rules: Rules;
  at: number; // the length of the absolute path of the rules' folder, with a slash
  up: IgnoreLevel | undefined;
}

interface Scope {
  levels: readonly (IgnoreLevel | undefined)[]; // of each of IGNORE_FILES
  cost: number; // what all its rules take of what those for one path may cost
}

/** The files with rules: those of the first go before those of the others, whatever the folder. */
const IGNORE_FILES = [".rgignore", ".ignore", ".gitignore"];
const NO_RULES: Scope = { levels: [], cost: 0 };

/** The files that a glob pattern takes. */
interface Filter {
  regex: RegExp;
  /** True where it is matched against the bare name, false where against the path from the root. */
  byName: boolean;
  exclude: boolean; // true to take the files that do not match
}

/** The parameters of a walk. All paths are absolute, with `/` between their parts. */
export interface WalkOptions {
  root: string;
  top: string; // the highest folder whose ignore files count: `root` or above
  maxDepth: number; // the most folders to go down, 0 for the files in `root` only
  hidden: readonly RegExp[]; // names that are taken although they are hidden
  filter?: Filter; // the files to take; all where it is missing
  /** The files and folders that a policy withholds; `root` has no links then. */
  withheld?: Withheld;
}

/** A tally of nothing: the numbers of files taken and left out, by reason. */
export const emptyTally = () => ({
  files: 0, // taken
  ignored: 0, // files and folders that are hidden or ignored
  filtered: 0, // files that the filter rejects
  unreadable: 0, // files and folders that the system would not open
  binary: 0, // files with NUL bytes
  large: 0, // files over the size limit
  unnameable: 0, // files and folders whose names are not UTF-8, and which cannot be named therefore
  links: 0, // links to files and folders
  withheld: 0, // files and folders that the policy withholds
  cutRules: 0, // ignore files of which only the first rules count; several threads may count one
});
export type Tally = ReturnType<typeof emptyTally>;

export function addTally(to: Tally, from: Tally): void {
  for (const key of Object.keys(to) as (keyof Tally)[]) to[key] += from[key];
}

/** The most bytes of an ignore file that are read, comments included: no real one comes near. */
const MAX_IGNORE_BYTES = 1024 * 1024;
/** Folders without real files: reading one runs code in the kernel, and some wait for ever. */
const SYSTEM_FOLDERS = Deno.build.os === "linux" ? ["/proc", "/sys"] : [];
/** The folders whose rules are remembered; beyond, all are dropped and read again when needed. */
const MAX_SCOPES = 20_000;
/** The most that all remembered rules may cost: beyond, they are dropped likewise. */
const MAX_SCOPES_COST = 8 * MAX_RULES_COST;

/** The files and folders in a folder that a search takes, as absolute paths. */
interface FolderEntries {
  files: string[];
  folders: string[];
}

/** Lists one folder after the other, and counts the files that it leaves out. */
export class Walk {
  readonly #scopes = new Map<string, Scope>();
  #cost = 0;

  /** @param stop called every millisecond or so while rules are read and applied */
  constructor(
    private readonly options: WalkOptions,
    private readonly tally: Tally,
    private readonly stop: () => boolean = () => false,
  ) {}

  /**
   * The files and folders in `folder` that a search takes. Links are never followed.
   * @throws {Stopped} when `stop` returns true; then nothing of the folder is counted.
   */
  list(folder: string): FolderEntries {
    let entries: Deno.DirEntry[];
    try {
      // The root of a file system keeps its slash.
      entries = Array.from(Deno.readDirSync(/^$|:$/.test(folder) ? `${folder}/` : folder));
    } catch (error) {
      countUnreadable(folder, error, this.tally);
      return { files: [], folders: [] };
    }
    const has = (name: string) => entries.some((entry) => entry.name === name);
    return this.#take(folder, entries, this.#scopeIn(folder, this.#scopeAbove(folder), has));
  }

  /** The same of some of its entries, for a folder that is read in pieces. */
  take(folder: string, entries: readonly Deno.DirEntry[]): FolderEntries {
    return this.#take(folder, entries, this.#scopeOf(folder));
  }

  #take(folder: string, entries: readonly Deno.DirEntry[], scope: Scope): FolderEntries {
    const { options: { root, maxDepth, filter, withheld } } = this;
    const tally = emptyTally();
    const files: string[] = [];
    const folders: string[] = [];
    const deeper = maxDepth >= folder.slice(root.length).split("/").length;
    for (const { name, isFile, isDirectory, isSymlink } of entries) {
      if (!isFile && !isDirectory && !isSymlink) continue;
      const path = `${folder}/${name}`;
      if (this.#isLeftOut(path, name, isDirectory, scope)) tally.ignored++;
      else if (isDirectory) {
        if (!deeper || SYSTEM_FOLDERS.includes(path)) continue;
        if (withheld && isWithheld(withheld, path, true)) tally.withheld++;
        else folders.push(path);
      } else if (takes(filter, path.slice(root.length + 1), name)) {
        if (isSymlink) tally.links++;
        else if (withheld && isWithheld(withheld, path, false)) tally.withheld++;
        else files.push(path);
      } else tally.filtered++;
    }
    addTally(this.tally, tally);
    return { files, folders };
  }

  #isLeftOut(path: string, name: string, isDir: boolean, scope: Scope): boolean {
    if (isDir && (name === "node_modules" || name === ".git")) return true;
    return ruled(path, name, isDir, scope, this.stop) ??
      (name.startsWith(".") && !this.options.hidden.some((regex) => regex.test(name)));
  }

  #scopeAbove(path: string): Scope {
    if (path.length <= this.options.top.length) return NO_RULES;
    const folder = path.slice(0, path.lastIndexOf("/"));
    const scope = this.#scopeOf(folder);
    // A path in an ignored folder was named on purpose: the rules that ignore it do not count.
    const isIgnored = ruled(path, path.slice(folder.length + 1), true, scope, this.stop);
    return isIgnored ? NO_RULES : scope;
  }

  /** The scope in a folder whose names are not known. */
  #scopeOf(folder: string): Scope {
    const has = (name: string) => attempt(() => Deno.lstatSync(`${folder}/${name}`)) !== undefined;
    return this.#scopes.get(folder) ?? this.#scopeIn(folder, this.#scopeAbove(folder), has);
  }

  /** The scope in `folder`, then remembered: `above` with the rules that the folder itself adds. */
  #scopeIn(folder: string, above: Scope, has: (name: string) => boolean): Scope {
    let { levels: [own, ignore, gitignore], cost } = above;
    const level = (file: string, up: IgnoreLevel | undefined): IgnoreLevel | undefined => {
      const rules = readRules(`${folder}/${file}`, MAX_RULES_COST - cost, this.stop);
      if (rules === undefined) return up;
      cost += rules.cost;
      this.#cost += rules.cost;
      if (rules.isCut) this.tally.cutRules++;
      return rules.list.length ? { rules, at: folder.length + 1, up } : up;
    };
    // A repository within another has rules of its own only.
    if (has(".git")) gitignore = level(".git/info/exclude", undefined);
    const levels = [own, ignore, gitignore].map((up, i) => {
      const file = IGNORE_FILES[i]!;
      return has(file) ? level(file, up) : up;
    });
    if (this.#scopes.size >= MAX_SCOPES || this.#cost > MAX_SCOPES_COST) {
      this.#scopes.clear();
      this.#cost = 0;
    }
    const scope = { levels, cost };
    this.#scopes.set(folder, scope);
    return scope;
  }
}

const takes = (filter: Filter | undefined, path: string, name: string): boolean =>
  filter === undefined || filter.regex.test(filter.byName ? name : path) !== filter.exclude;

/** True where a policy withholds a file, or a folder with all its entries. */
export function isWithheld(
  { folder, paths, absolute = [], files }: Withheld,
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
  for (const first of scope.levels) {
    for (let level = first; level !== undefined; level = level.up) {
      const found = verdict(level.rules, path.slice(level.at), name, isDir, stop);
      if (found !== undefined) return found;
    }
  }
}

function readRules(path: string, room: number, stop: () => boolean): Rules | undefined {
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
  // A file that is gone since, or cannot be read, has no rules.
  if (read === undefined) return undefined;
  const { text, isWhole } = read;
  if (isWhole) return parseIgnore(text, room, stop);
  // A part of a line is another rule.
  const rules = parseIgnore(text.slice(0, text.lastIndexOf("\n") + 1), room, stop);
  return { ...rules, isCut: true };
}

/** Counts a failure to open; a file that is gone by now is none. */
export function countUnreadable(path: string, error: unknown, tally: Tally): void {
  if (!(error instanceof Deno.errors.NotFound)) tally.unreadable++;
  // A listed name that the system does not find has bytes that are not UTF-8, shown as U+FFFD.
  else if (path.includes("\ufffd")) tally.unnameable++;
}
