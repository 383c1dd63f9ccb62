import {
  compileLinePattern,
  type FindLine,
  findLineEnd,
  findLineStart,
} from "./regex/line_pattern.ts";
import { SearchStopped } from "./regex/dfa.ts";
import { countUnreadable, emptyTally, type Tally, Walk, type WalkOptions } from "./walk.ts";
import { hasBom, utf16Label } from "../files/line_endings.ts";

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

export interface FoundFiles {
  tally: Tally;
  matches: (FileMatches & Partial<Pick<Deno.FileInfo, "dev" | "ino">>)[];
  /** The newest files, with their times of modification in milliseconds. */
  files: { path: string; mtime: number }[];
  more: number; // the number of other matching files
}

export type Task = string | string[];

export class Searcher {
  readonly tasks: Task[];
  readonly found: FoundFiles = { tally: emptyTally(), matches: [], files: [], more: 0 };
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

  #unlessStopped<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof SearchStopped)) throw error;
    }
  }
}

const byPath = (a: { path: string }, b: { path: string }) => a.path < b.path ? -1 : 1;

/** Sorts the results and drops those over the limit of `job`. Returns the number of characters of the rest. */
export function sortFound(found: FoundFiles, job: SearchJob): number {
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

function fileKeeper(job: SearchJob, found: FoundFiles): (path: string) => void {
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
  found: FoundFiles,
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

interface FileMatches {
  path: string;
  /** The lines of output. `match` is false for a line of context and for `--`. */
  lines: { text: string; match: boolean }[];

  /** The number of matching lines, including those missing from `lines`. */
  count: number;
}

const SHOWN_LINE_CHARS = 500;
/** The number of characters shown before the end of the match. */
const LEAD_CHARS = 250;
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Returns the matching lines of a UTF-8 text as `path:12:line`, with `contextLines` around them as `path-12-line` and
 * `--` between groups that do not touch. After `maxChars`, the rest is only counted. Returns undefined if no line
 * matches.
 */
export function matchLines(
  bytes: Uint8Array,
  find: FindLine,
  options: { path: string; contextLines: number; maxChars: number },
): FileMatches | undefined {
  const { path, contextLines, maxChars } = options;
  const lines: FileMatches["lines"] = [];
  let chars = 0;
  let count = 0;
  /** The start and the number of the next line that is not shown yet. */
  let next = 0;
  let number = 1;
  /** The number of lines after it that are context of the last match. */
  let after = 0;

  function show(mark: ":" | "-", end: number, at = next): void {
    const line = bytes.subarray(next, bytes[end - 1] === 13 ? end - 1 : end);
    const text = shownPart(line, at - next);
    lines.push({ text: `${path}${mark}${number++}${mark}${text}`, match: mark === ":" });
    chars += lines.at(-1)!.text.length + 1;
    next = end + 1;
  }

  for (let found = find(bytes, 0); found; found = find(bytes, found.end + 1)) {
    count++;
    if (chars > maxChars) continue;
    for (; after > 0 && next < found.start; after--) show("-", findLineEnd(bytes, next));
    let from = found.start;
    for (let i = 0; i < contextLines && from > next; i++) from = findLineStart(bytes, from - 1);
    if (from > next && contextLines > 0 && lines.length > 0) {
      lines.push({ text: "--", match: false });
    }
    for (; next < from; next++) if (bytes[next] === 10) number++;
    while (next < found.start) show("-", findLineEnd(bytes, next));
    show(":", found.end, found.at);
    after = contextLines;
  }
  for (; after > 0 && next < bytes.length && chars <= maxChars; after--) {
    show("-", findLineEnd(bytes, next));
  }
  return count === 0 ? undefined : { path, lines, count };
}

/** Returns at most {@linkcode SHOWN_LINE_CHARS} characters of a line, around the position `at`. */
function shownPart(bytes: Uint8Array, at: number): string {
  const line = utf8.decode(bytes);
  if (line.length <= SHOWN_LINE_CHARS) return line;
  const lead = utf8.decode(bytes.subarray(0, at)).length - LEAD_CHARS;
  const from = Math.max(0, Math.min(lead, line.length - SHOWN_LINE_CHARS));
  const to = from + SHOWN_LINE_CHARS;
  // Drop half a surrogate pair at either end.
  const part = line.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  const [before, behind] = [from > 0 ? "..." : "", to < line.length ? "..." : ""];
  return `${before}${part}${behind} [cut: the line has ${line.length} characters]`;
}

/** Larger files are not searched: each thread has a whole file in memory. */
const MAX_SEARCHED_BYTES = 64 * 1024 * 1024;
/** A file with a NUL byte among its first bytes is binary, as in git. */
const BINARY_CHECK_BYTES = 8192;
/** The maximum size of one read in bytes, so that each is short. */
const READ_BYTES = 4 * 1024 * 1024;

/** One buffer for all files: a new one for each takes 1.5 times as long. */
let buffer = new Uint8Array(256 * 1024);

/**
 * Calls `use` with the text of a file as UTF-8 and the open file. A file that is unreadable, binary or too large is
 * counted in `tally` instead. UTF-16 is recognized by its byte order mark. `unsaved` is the editor's text of the file.
 * @throws {SearchStopped} if `stop`, called between reads, returns true.
 */
function withFileText(
  path: string,
  tally: Tally,
  stop: () => boolean,
  use: (text: Uint8Array, file: Deno.FsFile) => void,
  unsaved?: string,
): void {
  try {
    using file = Deno.openSync(path);
    const text = unsaved === undefined
      ? readUtf8(file, tally, stop)
      : new TextEncoder().encode(unsaved);
    if (text !== undefined) use(text, file);
  } catch (error) {
    if (error instanceof SearchStopped) throw error;
    countUnreadable(path, error, tally);
  }
}

/** Returns the whole text, valid until the next call; undefined if the file is counted instead. */
function readUtf8(file: Deno.FsFile, tally: Tally, stop: () => boolean): Uint8Array | undefined {
  let length = 0;
  for (let n; (n = file.readSync(buffer.subarray(length, length + READ_BYTES))) !== null;) {
    length += n;
    if (length > MAX_SEARCHED_BYTES) {
      tally.large++;
      return undefined;
    }
    if (length > READ_BYTES && stop()) throw new SearchStopped("The search was stopped");
    if (length === buffer.length) {
      const larger = new Uint8Array(Math.min(4 * length, MAX_SEARCHED_BYTES + 1));
      larger.set(buffer);
      buffer = larger;
    }
  }
  const bytes = buffer.subarray(0, length);
  const utf16 = utf16Label(bytes);
  if (utf16 !== undefined) return new TextEncoder().encode(new TextDecoder(utf16).decode(bytes));
  if (bytes.subarray(0, BINARY_CHECK_BYTES).includes(0)) {
    tally.binary++;
    return undefined;
  }
  return hasBom(bytes) ? bytes.subarray(3) : bytes;
}
