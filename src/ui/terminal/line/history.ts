/** The texts of earlier sessions: a private file of JSON lines, to which sessions append without a lock. @module */

import { attempt } from "../../../attempt.ts";
import { dirname } from "../../../text/std_path.ts";
import type { TextPart } from "../../../types/message.ts";
import { entryText, type HistoryEntry } from "../units.ts";

interface SavedEntry extends Pick<TextPart, "text"> {
  pasted?: TextPart["pasted"] | undefined;
  folder: string;
}

/** A file of more bytes is cut to the newer half. */
const MAX_HISTORY_BYTES = 2 ** 20;
const MAX_ENTRY_BYTES = 64 * 2 ** 10;

/** The history of a folder; the first entry creates the file. */
export class History {
  /** Oldest first, each text once; those of the folder come after all others. */
  readonly entries: HistoryEntry[];
  #newest: string | undefined;

  /**
   * @param path The file; without one, nothing is saved.
   * @throws {Error} if the file exists and cannot be read (`Deno.errors`).
   */
  constructor(
    private readonly path: string | undefined,
    private readonly folder: string,
    maxBytes = MAX_HISTORY_BYTES,
  ) {
    const all = path === undefined ? [] : load(path, maxBytes);
    const here = all.filter((entry) => entry.folder === folder);
    this.entries = lastOfEach([...all, ...here], ({ text }) => text).map(knownEntry);
    this.#newest = here.at(-1)?.text;
  }

  /** Adds the newest entry and saves it. @throws {Error} if the file cannot be written. */
  add(text: string, pasted?: TextPart["pasted"]): void {
    if (text.trim() === "") return;
    const { entries } = this;
    const entry = knownEntry({ text, pasted });
    const before = entries.find((one) => entryText(one) === text);
    const isAsBefore = JSON.stringify(before) === JSON.stringify(entry);
    entries.splice(0, entries.length, ...entries.filter((one) => one !== before), entry);
    if (this.path === undefined || text === this.#newest && isAsBefore) return;
    this.#newest = text;
    append(this.path, { text, folder: this.folder, pasted });
  }
}

const knownEntry = ({ text, pasted }: Omit<SavedEntry, "folder">): HistoryEntry =>
  pasted ? { text, pasted } : text;

function load(path: string, maxBytes: number): SavedEntry[] {
  try {
    const { isCharDevice, isFile, mode, size } = Deno.statSync(path);
    if (isCharDevice) return []; // a link to /dev/null turns the history off
    if (!isFile) throw new Error(`Cannot read ${path} as it must be a file`);
    if (Deno.build.os !== "windows" && mode !== null && mode & 0o077) Deno.chmodSync(path, 0o600);
    const entries = Deno.readTextFileSync(path).split("\n").flatMap(savedEntry);
    if (size <= maxBytes) return entries;
    const once = lastOfEach(entries, ({ text, folder }) => `${folder}\n${text}`);
    const newest = once.slice(once.length >> 1);
    replaceFile(path, newest.map(savedLine).join(""));
    return newest;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function savedEntry(line: string): SavedEntry[] {
  try {
    const { text, folder, pasted } = JSON.parse(line);
    if (typeof text !== "string" || typeof folder !== "string") return [];
    const isRange = (range: unknown) =>
      Array.isArray(range) && range.length === 2 && range.every(Number.isInteger);
    const isKnown = pasted === undefined || Array.isArray(pasted) && pasted.every(isRange);
    return [{ text, folder, pasted: isKnown ? pasted : [[0, text.length]] }];
  } catch {
    return [];
  }
}

/** Replaces the file atomically; the next session tries again if that fails. */
function replaceFile(path: string, text: string): void {
  const temporary = `${path}.${crypto.randomUUID()}`;
  try {
    Deno.writeTextFileSync(temporary, text, { mode: 0o600 });
    Deno.renameSync(temporary, path);
  } catch {
    attempt(() => Deno.removeSync(temporary));
  }
}

function append(path: string, entry: SavedEntry): void {
  Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const bytes = new TextEncoder().encode(savedLine(entry));
  if (bytes.length > MAX_ENTRY_BYTES) return;
  using file = Deno.openSync(path, { append: true, create: true, mode: 0o600 });
  // One write, so that the lines of several sessions do not mix; a full disk may take a part of it.
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
}

/** A line of the file; it starts with a line feed because the line before may be torn. */
const savedLine = (entry: SavedEntry): string => `\n${JSON.stringify(entry)}\n`;

function lastOfEach<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const last = new Map<string, T>();
  for (const item of items) {
    last.delete(keyOf(item));
    last.set(keyOf(item), item);
  }
  return [...last.values()];
}
