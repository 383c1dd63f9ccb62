/** The work of a search: its tasks and its results. @module */

import { compileLinePattern } from "./regex/line_pattern.ts";
import { type FileMatches, matchLines } from "./match_lines.ts";
import { withFileText } from "./read_text.ts";
import { Stopped } from "./regex/dfa.ts";
import { countUnreadable, emptyTally, type Tally, Walk, type WalkOptions } from "./walk.ts";

export interface SearchJob {
  walk: WalkOptions;
  /** Replaces the root in the shown paths: empty, or with a `/` at its end. */
  prefix: string;
  /** The lines to find in the files; missing if the search is for the files themselves. */
  grep?: {
    pattern: string;
    contextLines: number;
    /** The editor's texts of files by path, which replace those on the disk. */
    unsaved?: Readonly<Record<string, string>>;
  };
  limit: number; // the maximum number of characters of lines, or of files, in the results
}

export interface Found {
  tally: Tally;
  /** The matching files that come first by path. */
  matches: (FileMatches & Partial<Pick<Deno.FileInfo, "dev" | "ino">>)[];
  /** The newest files, with their times of modification in milliseconds. */
  files: { path: string; mtime: number }[];
  more: number; // the number of other matching files
}

/** A folder to list, or files to search. */
export type Task = string | string[];

export class Searcher {
  readonly tasks: Task[];
  readonly found: Found = { tally: emptyTally(), matches: [], files: [], more: 0 };
  readonly #search: (path: string) => void;
  readonly #walk: Walk;

  /**
   * @param stop called about every millisecond; if it returns true, the rest of the task remains
   * @throws {SyntaxError} if the pattern is invalid.
   */
  constructor(job: SearchJob, private readonly stop: () => boolean, tasks: readonly Task[]) {
    this.tasks = tasks.slice();
    this.#search = job.grep
      ? lineKeeper(job, job.grep, this.found, stop)
      : fileKeeper(job, this.found);
    this.#walk = new Walk(job.walk, this.found.tally, stop);
  }

  /** Processes the last of `tasks`, or as much of it as the time allows. Returns false if that is nothing. */
  step(): boolean {
    const task = this.tasks.pop()!;
    return typeof task === "string" ? this.#list(task) : this.#searchFiles(task);
  }

  /** Drops the folder or file that `step` could not finish. */
  skip(): void {
    const task = this.tasks.pop()!;
    if (typeof task !== "string" && task.length > 1) this.tasks.push(task.slice(1));
  }

  #list(folder: string): boolean {
    const listed = this.#unlessStopped(() => this.#walk.list(folder));
    const { files, folders } = listed ?? { files: [], folders: [folder] };
    for (const folder of folders) this.tasks.push(folder);
    if (files.length > 0) this.tasks.push(files);
    return listed !== undefined;
  }

  #searchFiles(files: string[]): boolean {
    let i = 0;
    this.#unlessStopped(() => {
      for (; i < files.length && !this.stop(); i++) this.#search(files[i]!);
    });
    if (i < files.length) this.tasks.push(files.slice(i));
    return i > 0;
  }

  /** Returns the result of `work`; undefined if it was stopped. */
  #unlessStopped<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    }
  }
}

const byPath = (a: { path: string }, b: { path: string }) => a.path < b.path ? -1 : 1;

/** Sorts the results and drops those over the limit of `job`. Returns the number of characters of the rest. */
export function sortFound(found: Found, job: SearchJob): number {
  found.files.sort((a, b) => b.mtime - a.mtime || byPath(a, b));
  found.matches.sort(byPath);
  let chars = 0;
  let kept = 0;
  while (kept < found.matches.length && chars < job.limit) {
    chars += shownChars(found.matches[kept++]!);
  }
  found.more += found.matches.splice(kept).length + found.files.splice(job.limit).length;
  return chars;
}

const shownChars = ({ lines }: FileMatches) =>
  lines.reduce((sum, { text }) => sum + text.length + 1, 0);
const shownPath = (job: SearchJob, path: string) =>
  job.prefix + path.slice(job.walk.root.length + 1);

/** Returns a path on one line, with control characters and line separators escaped. */
export const escapedPath = (path: string): string =>
  path.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`);

function fileKeeper(job: SearchJob, found: Found): (path: string) => void {
  return (path) => {
    try {
      const mtime = Deno.lstatSync(path).mtime?.getTime() ?? 0;
      found.files.push({ path: shownPath(job, path), mtime });
      found.tally.files++;
    } catch (error) {
      countUnreadable(path, error, found.tally);
    }
    if (found.files.length > 4 * job.limit) sortFound(found, job);
  };
}

function lineKeeper(
  job: SearchJob,
  { pattern, contextLines, unsaved }: NonNullable<SearchJob["grep"]>,
  found: Found,
  stop: () => boolean,
): (path: string) => void {
  const find = compileLinePattern(pattern, stop);
  let chars = 0;
  /** Matches in files sorted after this path are only counted, for lack of room. */
  let last: string | undefined;
  return (file) =>
    withFileText(file, found.tally, stop, (text, opened) => {
      const path = shownPath(job, file);
      const counted = last !== undefined && path > last;
      const options = { path: escapedPath(path), contextLines, maxChars: job.limit };
      const lines = counted ? undefined : matchLines(text, find, options);
      const matches = counted ? find(text, 0) !== undefined : lines !== undefined;
      // A binary file may have its first NUL byte after the part that was checked.
      const binary = matches && text.includes(0);
      found.tally[binary ? "binary" : "files"]++;
      if (!matches || binary) return;
      if (lines === undefined) found.more++;
      else {
        const info = job.walk.withheld && opened.statSync();
        found.matches.push({ ...lines, path, ...(info && { dev: info.dev, ino: info.ino }) });
        chars += shownChars(lines);
        if (chars <= 2 * job.limit) return;
        chars = sortFound(found, job);
        last = found.matches.at(-1)!.path;
      }
    }, unsaved?.[file]);
}
