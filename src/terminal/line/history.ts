/**
 * The texts entered in earlier sessions: a private file of one JSON object a line, which any number
 * of sessions append to without a lock. @module
 */

import { dirname } from "../../text/std_path.ts";
import type { TextRange } from "../../types/message.ts";

interface Entry {
  text: string;
  /** The ranges of `text` that were pasted; left out where all was typed. */
  pasted?: readonly TextRange[] | undefined;
  /** The absolute path of the folder it was entered in. */
  folder: string;
}

/** The most bytes of the file, read in a few milliseconds; a larger one is cut to the newer half. */
const MAX_HISTORY_BYTES = 2 ** 20;
/** The most bytes of an entry in the file; a longer one (a pasted file) is for this session only. */
const MAX_ENTRY_BYTES = 64 * 2 ** 10;

/** The texts entered, kept in a file that the first entry makes, for the user alone to read. */
export class History {
  /** Oldest first, each text once; those of the session's folder come after all others. */
  readonly entries: string[];
  /** The ranges of the entries that were pasted, by their texts. */
  readonly pasted = new Map<string, readonly TextRange[]>();
  #newest: string | undefined;
  /** Entries that could not be written yet. */
  readonly #unwritten: Entry[] = [];

  /**
   * Without a path no file keeps the texts.
   * @throws {Error} when the file is there but cannot be read (`Deno.errors`).
   */
  constructor(
    private readonly path: string | undefined,
    private readonly folder: string,
    maxBytes = MAX_HISTORY_BYTES,
  ) {
    const all = path === undefined ? [] : load(path, maxBytes);
    const here = all.filter((entry) => entry.folder === folder);
    const entries = lastOfEach([...all, ...here], ({ text }) => text);
    this.entries = entries.map(({ text }) => text);
    for (const { text, pasted } of entries) if (pasted) this.pasted.set(text, pasted);
    this.#newest = here.at(-1)?.text;
  }

  /**
   * Adds a text, with the ranges of it that were pasted, as the newest entry, here and in the file; blank
   * ones are left out. What could not be written is written with the next one.
   * @throws {Error} when the file cannot be written (`Deno.errors`); `entries` has it all the same.
   */
  add(text: string, pasted?: readonly TextRange[]): void {
    if (text.trim() === "") return;
    const { entries } = this;
    const isAsBefore = JSON.stringify(this.pasted.get(text)) === JSON.stringify(pasted);
    if (pasted) this.pasted.set(text, pasted);
    else this.pasted.delete(text);
    // The reader of the text may have put it into the list already, at its end.
    entries.splice(0, entries.length, ...entries.filter((entry) => entry !== text), text);
    if (this.path === undefined || text === this.#newest && isAsBefore) return;
    this.#newest = text;
    this.#unwritten.push({ text, folder: this.folder, pasted });
    for (let entry; (entry = this.#unwritten[0]);) {
      appendEntry(this.path, entry);
      this.#unwritten.shift();
    }
  }
}

/** The entries of the file, oldest first; a line that is torn or no entry is passed over. */
function load(path: string, maxBytes: number): Entry[] {
  let file: Deno.FsFile;
  try {
    const info = Deno.statSync(path);
    if (info.isCharDevice) return []; // a link to /dev/null: the person wants no history
    if (!info.isFile) throw new Error(`Cannot read ${path} as it must be a file`);
    file = Deno.openSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
  using _closed = file;
  const { size, mode } = file.statSync();
  if (Deno.build.os !== "windows" && mode !== null && mode & 0o077) Deno.chmodSync(path, 0o600);
  const entries = parse(readFrom(file, Math.max(0, size - maxBytes), maxBytes));
  if (size <= maxBytes) return entries;
  const kept = newestOf(entries, maxBytes / 2);
  compactFile(path, file, size, kept);
  return kept;
}

function parse(lines: string): Entry[] {
  return lines.split("\n").flatMap((line) => {
    try {
      const { text, folder, pasted } = JSON.parse(line);
      if (typeof text !== "string" || typeof folder !== "string") return [];
      const isKnown = pasted === undefined || isRanges(pasted);
      return [{ text, folder, pasted: isKnown ? pasted : [[0, text.length]] }];
    } catch {
      return []; // torn, or cut at the limit
    }
  });
}

function isRanges(value: unknown): boolean {
  return Array.isArray(value) &&
    value.every((range) =>
      Array.isArray(range) && range.length === 2 && range.every((at) => typeof at === "number")
    );
}

function readFrom(file: Deno.FsFile, offset: number, maxBytes: number): string {
  file.seekSync(offset, Deno.SeekMode.Start);
  const bytes = new Uint8Array(maxBytes);
  let length = 0;
  for (let got; (got = file.readSync(bytes.subarray(length)));) length += got;
  return new TextDecoder().decode(bytes.subarray(0, length));
}

/** The newest of `entries`, each once, `chars` at most in all. */
function newestOf(entries: readonly Entry[], chars: number): Entry[] {
  const all = lastOfEach(entries, ({ text, folder }) => `${folder}\n${text}`);
  let at = all.length;
  while (at > 0 && (chars -= historyLine(all[at - 1]!).length) >= 0) at--;
  return all.slice(at);
}

/** Puts a file with only `kept` in the place of a large one. */
function compactFile(path: string, old: Deno.FsFile, size: number, kept: readonly Entry[]): void {
  const temporary = `${path}.${crypto.randomUUID()}`;
  try {
    const text = kept.map(historyLine).join("");
    Deno.writeTextFileSync(temporary, text, { mode: 0o600 });
    Deno.renameSync(temporary, path);
    // Entries that another session added to the old file in the meantime.
    for (const entry of parse(readFrom(old, size, MAX_ENTRY_BYTES))) appendEntry(path, entry);
  } catch {
    // A large file is no harm; the next session tries again.
    try {
      Deno.removeSync(temporary);
    } catch { /* Already renamed, or never written. */ }
  }
}

function appendEntry(path: string, entry: Entry): void {
  Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const bytes = new TextEncoder().encode(historyLine(entry));
  if (bytes.length > MAX_ENTRY_BYTES) return;
  using file = Deno.openSync(path, { append: true, create: true, mode: 0o600 });
  // One write at the end of the file: lines of several sessions do not mix. A full disk may take a part.
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
}

/** Begins with a line feed: after a torn line, too, an entry is on a line of its own. */
const historyLine = (entry: Entry): string => `\n${JSON.stringify(entry)}\n`;

/** The last of those with the same key, in their order. */
function lastOfEach<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const last = new Map<string, T>();
  for (const item of items) {
    last.delete(keyOf(item));
    last.set(keyOf(item), item);
  }
  return [...last.values()];
}
