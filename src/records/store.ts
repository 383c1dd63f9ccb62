/**
 * Sessions on disk: each in a file of its own, in a folder for the folder that was worked in. The program
 * that writes one holds a lock on it, which ends with that program; another one that goes on with the
 * same session begins a file of its own, which repeats it. Where both go on, they are two sessions. @module
 */

import { attempt } from "../attempt.ts";
import { reasonOf } from "../text/reason.ts";
import { join } from "../text/std_path.ts";
import { headLine, parseHead, parseRecord } from "./format.ts";
import type { ParsedRecord, RecordHead } from "./format.ts";
import { removeImages } from "./images.ts";
import { repaired } from "./repair.ts";

export interface StoredSession extends ParsedRecord {
  name: string;
  path: string;
  /** The size of its file, in bytes, when it was read. */
  size: number;
}

/** The number of sessions that are stored for a folder. */
const MAX_SESSIONS = 200;
/** A larger file, in bytes, is not read: a session is text. */
const MAX_RECORD_BYTES = 256 * 1024 * 1024;
/** A larger file, in bytes, is not appended to: the one that goes on from it has only what is left of it. */
const MAX_APPENDED_BYTES = 32 * 1024 * 1024;
/** The most characters of a folder's path in the name of its folder of sessions. */
const MAX_FOLDER_CHARS = 150;

/** A record that is written, with a lock on it. */
export interface OpenRecord {
  path: string;
  folder: string;
  open: Deno.FsFile;
}

export const newName = (): string =>
  `${new Date().toISOString().replaceAll(/[:.]/g, "-")}-${crypto.randomUUID().slice(0, 8)}.jsonl`;

/** Makes the file of a session. @throws {Error} of the system; there is no file then. */
export function createRecord(
  root: string,
  name: string,
  about: Omit<RecordHead, "version" | "started">,
): OpenRecord {
  const { folder } = about;
  const home = folderOf(root, folder);
  Deno.mkdirSync(home, { recursive: true, mode: 0o700 });
  removeOldest(root, folder);
  const path = join(home, name);
  const open = Deno.openSync(path, { append: true, createNew: true, mode: 0o600 });
  try {
    tryLock(open);
    const head = new TextEncoder().encode(
      headLine({ started: new Date().toISOString(), ...about }),
    );
    for (let at = 0; at < head.length;) at += open.writeSync(head.subarray(at));
  } catch (error) {
    open.close();
    attempt(() => Deno.removeSync(path));
    throw error;
  }
  return { path, folder, open };
}

/** The file of a session, to go on in it; undefined where it cannot be, or another program has it open. */
export function openToAppend(
  { path, head, messages, ids, size }: StoredSession,
): OpenRecord | undefined {
  const open = attempt(() => Deno.openSync(path, { append: true }));
  if (open === undefined) return undefined;
  // A copy that leaves out less than half of it saves nothing.
  const most = messages.length > ids.size / 2 ? MAX_RECORD_BYTES / 2 : MAX_APPENDED_BYTES;
  // Since it was read, another program may have added to it, and ended.
  const isFree = size <= most && attempt(() => tryLock(open) && open.statSync().size === size);
  if (isFree) return { path, folder: head.folder, open };
  open.close();
  return undefined;
}

/** True with the lock; false where another program has it. Some network drives have no locks. */
function tryLock(file: Deno.FsFile): boolean {
  return attempt(() => file.tryLockSync(true)) ?? true;
}

/** True where a program has the record open. */
export function isOpen(path: string): boolean {
  using file = Deno.openSync(path);
  return attempt(() => file.tryLockSync(false)) === false;
}

/** The folder below `root` with the sessions of `folder`: two that share one differ in their heads. */
function folderOf(root: string, folder: string): string {
  const name = encodeURIComponent(folder.toWellFormed()).replaceAll("%2F", "+");
  return join(root, name.slice(-MAX_FOLDER_CHARS));
}

interface SessionFile {
  name: string;
  path: string;
  size: number;
  /** When it was last written, in ms. */
  updated: number;
}

/** The files of sessions right in `folders`, those last written first. */
function filesIn(folders: readonly string[]): SessionFile[] {
  const files = folders.flatMap((folder) =>
    dirEntries(folder).filter(({ name }) => name.endsWith(".jsonl")).flatMap(({ name }) => {
      const path = join(folder, name);
      const info = attempt(() => Deno.statSync(path));
      // Reading a pipe would wait for a writer.
      if (!info?.isFile) return [];
      return [{ name, path, size: info.size, updated: info.mtime?.getTime() ?? 0 }];
    })
  );
  return files.sort((a, b) => b.updated - a.updated || (a.name < b.name ? 1 : -1));
}

/** What `get` reads at a path; undefined for what is gone or no session. @throws {Error} where it cannot be read. */
function readAt<T>(path: string, get: () => T): T | undefined {
  try {
    return get();
  } catch (error) {
    const { NotFound, NotADirectory } = Deno.errors;
    const isNone = [NotFound, NotADirectory, SyntaxError].some((kind) => error instanceof kind);
    if (!isNone) throw new Error(`Cannot read ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

/** A file where the folder should be holds no sessions, either. */
const dirEntries = (folder: string) => readAt(folder, () => [...Deno.readDirSync(folder)]) ?? [];

/** The files of sessions of `folder`; of all folders without one. */
function filesBelow(root: string, folder?: string): SessionFile[] {
  const homes = folder === undefined
    ? dirEntries(root).filter(({ isDirectory }) => isDirectory).map(({ name }) => join(root, name))
    : [folderOf(root, folder)];
  return filesIn(homes);
}

/** A longer head, in bytes, is none: it has the path of a folder, a title, and little else. */
const MAX_HEAD_BYTES = 16 * 1024;
/** The bytes at the beginning and at the end of a longer file that are read for a list. */
const LISTED_HEAD_BYTES = 256 * 1024;
const LISTED_TAIL_BYTES = 64 * 1024;

function bytesAt(path: string, position: number, length: number): Uint8Array<ArrayBuffer> {
  using file = Deno.openSync(path);
  const bytes = new Uint8Array(length);
  file.seekSync(position, Deno.SeekMode.Start);
  return bytes.subarray(0, file.readSync(bytes) ?? 0);
}

/** The head of the session in a file, without reading all of it. */
function headOf(path: string): RecordHead {
  const text = new TextDecoder().decode(bytesAt(path, 0, MAX_HEAD_BYTES));
  return parseHead(text.split("\n", 1)[0]!);
}

/** Names of files, with their sizes in bytes. */
const fileSizes = (files: readonly SessionFile[]) =>
  new Map(files.map(({ name, size }) => [name, size]));

/**
 * The file that a session goes on from; undefined where there is none, or where another program went on in
 * that one meanwhile: they are two sessions then.
 */
function parentOf(head: RecordHead | undefined, sizes: ReadonlyMap<string, number>) {
  const { continues, continuedSize = Infinity } = head ?? {};
  return sizes.get(continues ?? "")! > continuedSize ? undefined : continues;
}

function removeRecord(path: string): void {
  Deno.removeSync(path);
  removeImages(path);
}

/** Has room for one more session of `folder`: those that others go on from are removed first, then the oldest. */
function removeOldest(root: string, folder: string): void {
  const files = filesBelow(root, folder);
  if (files.length < MAX_SESSIONS) return;
  const known = files.flatMap((file) => {
    const head = attempt(() => headOf(file.path));
    return head?.folder === folder ? [{ ...file, head }] : [];
  }).reverse();
  const sizes = fileSizes(files);
  const parents = new Set(known.map(({ head }) => parentOf(head, sizes)));
  const order = [
    ...known.filter(({ name }) => parents.has(name)),
    ...known.filter(({ name }) => !parents.has(name)),
  ];
  let surplus = known.length - MAX_SESSIONS + 1;
  for (const { path } of order) {
    if (surplus <= 0) return;
    if (attempt(() => isOpen(path)) !== false) continue;
    attempt(() => removeRecord(path));
    surplus--;
  }
}

/** The sessions of `folder`, or of all, those last written first, as `read` reads them, by way of `at`. */
function* sessionsBelow<T extends ParsedRecord>(
  root: string,
  folder: string | undefined,
  read: (file: SessionFile) => T,
  at: <V>(path: string, get: () => V) => V | undefined = (_, get) => attempt(get),
): Generator<T & { name: string; path: string; updated: number }> {
  const parts = new Set<string>();
  const files = filesBelow(root, folder);
  const sizes = fileSizes(files);
  for (const { name, path, updated, size } of files) {
    const head = at(path, () => headOf(path));
    if (head === undefined || folder !== undefined && head.folder !== folder) continue;
    // A file of a later version, or one that is just being made or removed, is passed over.
    const stored = parts.has(name)
      ? undefined
      : at(path, () => read({ name, path, updated, size }));
    if (stored === undefined && !parts.has(name) || stored?.messages.length === 0) continue;
    parts.add(parentOf(head, sizes) ?? "");
    if (stored) yield { ...stored, name, path, updated };
  }
}

/**
 * The sessions of `folder`, or of all, newest first, each repaired, without those that another goes on from.
 * @throws {Error} where one cannot be read.
 */
export function* storedSessions(root: string, folder?: string): Generator<StoredSession> {
  yield* sessionsBelow(root, folder, ({ path }) => readWhole(path), readAt);
}

function readWhole(path: string): ParsedRecord & Pick<StoredSession, "size"> {
  const { size } = Deno.statSync(path);
  if (size > MAX_RECORD_BYTES) {
    const [is, most] = [size, MAX_RECORD_BYTES].map((bytes) => Math.ceil(bytes / 2 ** 20));
    throw new RangeError(`it has ${is} MiB, and a session ${most} MiB at most`);
  }
  const parsed = parseRecord(Deno.readTextFileSync(path));
  return { ...parsed, messages: repaired(parsed.messages), size };
}

/** A stored session in a list: what names it, and of a long one the first and the last messages alone. */
export interface ListedSession
  extends Pick<StoredSession, "name" | "path" | "head" | "first" | "used" | "messages"> {
  /** When its file was last written: ISO 8601. */
  updated: string;
}

/** The sessions of `folder`, or of all folders, newest first; of long ones only the two ends are read. */
export function* listedSessions(root: string, folder?: string): Generator<ListedSession> {
  for (const { updated, ...listed } of sessionsBelow(root, folder, readEnds)) {
    yield { ...listed, updated: new Date(updated).toISOString() };
  }
}

function readEnds({ path, size }: SessionFile): ParsedRecord {
  const tail = size - LISTED_TAIL_BYTES;
  if (tail > LISTED_HEAD_BYTES) {
    const [head, end] = [
      bytesAt(path, 0, LISTED_HEAD_BYTES),
      bytesAt(path, tail, LISTED_TAIL_BYTES),
    ]
      .map((bytes) => new TextDecoder().decode(bytes)) as [string, string];
    const lines = head.slice(0, head.lastIndexOf("\n") + 1);
    const parsed = parseRecord(lines + end.slice(end.indexOf("\n") + 1));
    if (parsed.first !== "") return parsed;
  }
  return readWhole(path);
}

/** A session of the list, whole; undefined where it was removed meanwhile. @throws {Error} where it cannot be read. */
export function wholeSession({ name, path }: Pick<ListedSession, "name" | "path">) {
  return readAt(path, (): StoredSession => ({ ...readWhole(path), name, path }));
}

/** The session with the name, or the newest that goes on from it; undefined for none. */
export function storedSession(root: string, name: string): StoredSession | undefined {
  const files = filesAround(root, name);
  const next = new Map<string, SessionFile>();
  const sizes = fileSizes(files);
  for (const file of files) {
    const parent = parentOf(attempt(() => headOf(file.path)), sizes);
    if (parent !== undefined && !next.has(parent)) next.set(parent, file);
  }
  let newest = files.find((file) => file.name === name);
  for (let on = newest; on !== undefined; on = next.get(on.name)) newest = on;
  return newest && wholeSession(newest);
}

/** The files among which the session `name` and its continuations are: none where there is no such session. */
function filesAround(root: string, name: string): SessionFile[] {
  const { path } = filesBelow(root).find((file) => file.name === name) ?? {};
  const head = path === undefined ? undefined : attempt(() => headOf(path));
  return head === undefined ? [] : filesBelow(root, head.folder);
}

/** Removes the session with the name, those that it goes on from, and those that go on from it; false for none. */
export function removeSession(root: string, name: string): boolean {
  const files = filesAround(root, name);
  const sizes = fileSizes(files);
  const parents = new Map(
    files.map(({ name, path }) => [name, parentOf(attempt(() => headOf(path)), sizes)] as const),
  );
  const removed = new Set(parents.has(name) ? [name] : []);
  for (const one of removed) {
    const parent = parents.get(one);
    if (parent !== undefined && parents.has(parent)) removed.add(parent);
    for (const [child, of] of parents) if (of === one) removed.add(child);
  }
  for (const { name, path } of files) if (removed.has(name)) removeRecord(path);
  return removed.size > 0;
}
