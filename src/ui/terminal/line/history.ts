/** The texts of earlier sessions: a private file of JSON lines, to which sessions append without a lock. @module */

import { attempt } from "../../../attempt.ts";
import { dirname } from "../../../text/std_path.ts";
import { oneLine } from "../../../text/one_line.ts";
import { reasonOf } from "../../../text/reason.ts";
import type { TextPart } from "../../../types/message.ts";
import { entryText, type HistoryEntry } from "../units.ts";

interface SavedEntry extends Pick<TextPart, "text"> {
  pasted?: TextPart["pasted"] | undefined;
  folder: string;
}

/** A file of more bytes is cut to the newer half. */
const MAX_HISTORY_BYTES = 2 ** 20;
const MAX_ENTRY_BYTES = 64 * 2 ** 10;

interface OpenedHistory {
  folder: string;
  /** Oldest first, each text once; those of the folder come after all others. */
  entries: HistoryEntry[];
  newest: string | undefined;
}

/** The texts of this session and, if they can be stored, of earlier ones. The first text creates the file. */
export class History {
  #opened: OpenedHistory | undefined;
  #hasWarned = false;

  /**
   * @param path The file; without one, nothing is saved.
   * @param folder returns the folder that is worked in
   */
  constructor(
    private readonly path: string | undefined,
    private readonly folder: () => string,
    private readonly warn: (message: string) => void,
    private readonly maxBytes = MAX_HISTORY_BYTES,
  ) {}

  get entries(): readonly HistoryEntry[] {
    return this.#open().entries;
  }

  /** Adds the newest entry, and saves it. */
  add(text: string, pasted?: TextPart["pasted"]): void {
    if (text.trim() === "") return;
    const opened = this.#open();
    const { entries, folder, newest } = opened;
    const entry = knownEntry({ text, pasted });
    const before = entries.find((one) => entryText(one) === text);
    const isAsBefore = JSON.stringify(before) === JSON.stringify(entry);
    opened.entries = [...entries.filter((one) => one !== before), entry];
    if (this.path === undefined || text === newest && isAsBefore) return;
    opened.newest = text;
    try {
      append(this.path, { text, folder, pasted });
    } catch (error) {
      this.#warn(`· the history cannot be saved: ${oneLine(reasonOf(error))}`);
    }
  }

  #open(): OpenedHistory {
    const folder = this.path === undefined ? "" : this.folder();
    if (this.#opened?.folder === folder) return this.#opened;
    let all: SavedEntry[] = [];
    try {
      if (this.path !== undefined) all = load(this.path, this.maxBytes);
    } catch (error) {
      this.#warn(`· the history cannot be read: ${oneLine(reasonOf(error))}`);
    }
    const here = all.filter((entry) => entry.folder === folder);
    const entries = lastOfEach([...all, ...here], ({ text }) => text).map(knownEntry);
    return this.#opened = { folder, entries, newest: here.at(-1)?.text };
  }

  #warn(message: string): void {
    if (!this.#hasWarned) this.warn(message);
    this.#hasWarned = true;
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
