/**
 * Sessions on disk: one file each, in a folder for their working directory. The program that writes a session
 * locks its file until it ends. Another program that continues it starts a new session, a branch that repeats it.
 * @module
 */

import { attempt } from "../attempt.ts";
import { reasonOf } from "../text/reason.ts";
import { join } from "../text/std_path.ts";
import { entryLine, headLine, parseHead, parseRecord } from "./format.ts";
import type { ParsedRecord, RecordHead } from "./format.ts";
import { repaired } from "./repair.ts";

export interface StoredSession extends ParsedRecord, Omit<SessionFile, "updated"> {}

/** The maximum number of stored sessions per folder, and of those of `-p`. `slack`: so many are removed at once. */
const MAX_OWN = { most: 200, slack: 0 };
const MAX_PRINTS = { most: 1000, slack: 50 };
/** The maximum size in bytes of a file to read: a session is text. */
const MAX_RECORD_BYTES = 256 * 1024 * 1024;
export const MAX_TITLE_CHARS = 200;
const MAX_FOLDER_CHARS = 150;

export interface OpenRecord {
  path: string;
  folder: string;
  open: Deno.FsFile;
}

/** The first characters of the names of sessions of `-p`: lists of the user's sessions do not read them. */
const PRINT = "p-";
export const isOfPrint = (name: string): boolean => name.startsWith(PRINT);

export function newName(isPrint: boolean): string {
  const time = new Date().toISOString().replaceAll(/[:.]/g, "-");
  return `${isPrint ? PRINT : ""}${time}-${crypto.randomUUID().slice(0, 8)}.jsonl`;
}

/** Creates the file of a session. @throws {Error} of the system, without a file. */
export function createRecord(
  root: string,
  name: string,
  about: Omit<RecordHead, "version">,
): OpenRecord {
  const { folder } = about;
  const home = folderOf(root, folder);
  Deno.mkdirSync(home, { recursive: true, mode: 0o700 });
  removeOldest(root, folder, isOfPrint(name));
  const path = join(home, name);
  const open = Deno.openSync(path, { append: true, createNew: true, mode: 0o600 });
  try {
    tryLock(open);
    writeText(open, headLine(about));
  } catch (error) {
    open.close();
    attempt(() => Deno.removeSync(path));
    throw error;
  }
  return { path, folder, open };
}

/** Writes a text to a file that may take less of it at once. @throws {Error} of the system. */
export function writeText(file: Deno.FsFile, text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
}

/**
 * Copies a session up to before its message `end` into a new one, which names it as its parent. A copy that was
 * interrupted has no message, and no list has it. @throws {Error} of the system.
 */
export function forkRecord(
  root: string,
  { name: parent, head, messages, executions, used, mode }: StoredSession,
  isPrint: boolean,
  end?: number,
): StoredSession {
  const { folder, started, branch } = head;
  const name = newName(isPrint);
  const { path, open } = createRecord(root, name, { folder, started, branch, parent });
  using copy = open;
  const added = messages.slice(0, end)
    .map((message) => ({ message, execution: executions.get(message.toolCallId ?? "") }));
  const conversation = added.map(({ message }) => message.id!);
  const choices = { ...used && { used }, ...mode && { mode } };
  writeText(copy, `${entryLine({ conversation, added, ...choices })}\n`);
  return wholeSession({ name, path })!;
}

/** Opens the file of a session to continue it; undefined if that fails or another program has it open. */
export function openToAppend({ path, head, size }: StoredSession): OpenRecord | undefined {
  const open = attempt(() => Deno.openSync(path, { append: true }));
  if (open === undefined) return undefined;
  // Since it was read, another program may have added to it and ended.
  const isFree = size <= MAX_RECORD_BYTES / 2 &&
    attempt(() => tryLock(open) && open.statSync().size === size);
  if (isFree) return { path, folder: head.folder, open };
  open.close();
  return undefined;
}

/** Returns true with the lock, false if another program has it. Some network drives have no locks. */
function tryLock(file: Deno.FsFile): boolean {
  return attempt(() => file.tryLockSync(true)) ?? true;
}

export function isOpen(path: string): boolean {
  using file = Deno.openSync(path);
  return attempt(() => file.tryLockSync(false)) === false;
}

/** Returns the folder below `root` for the sessions of `folder`. Two folders may share one. */
function folderOf(root: string, folder: string): string {
  const name = encodeURIComponent(folder.toWellFormed()).replaceAll("%2F", "+");
  return join(root, name.slice(-MAX_FOLDER_CHARS));
}

interface SessionFile {
  name: string;
  path: string;
  size: number;
  updated: number;
}

type Wanted = (name: string) => boolean;

/** Returns the names and paths of the files in `folder`, or in all folders, without reading them. */
export function pathsBelow(root: string, folder?: string, isWanted: Wanted = () => true) {
  const homes = folder === undefined
    ? dirEntries(root).filter(({ isDirectory }) => isDirectory).map(({ name }) => join(root, name))
    : [folderOf(root, folder)];
  return homes.flatMap((home) =>
    dirEntries(home).filter(({ name }) => name.endsWith(".jsonl") && isWanted(name))
      .map(({ name }) => ({ name, path: join(home, name) }))
  );
}

function filesBelow(root: string, folder?: string, isWanted?: Wanted): SessionFile[] {
  const files = pathsBelow(root, folder, isWanted).flatMap(({ name, path }) => {
    const info = attempt(() => Deno.statSync(path));
    // Reading a pipe would wait for a writer.
    if (!info?.isFile) return [];
    return [{ name, path, size: info.size, updated: info.mtime?.getTime() ?? 0 }];
  });
  const created = ({ name }: SessionFile) => name.replace(PRINT, "");
  return files.sort((a, b) => b.updated - a.updated || (created(a) < created(b) ? 1 : -1));
}

/** Returns `get(path)`; undefined if it is missing or not a session. @throws {Error} if it cannot be read. */
function readAt<T>(path: string, get: () => T): T | undefined {
  try {
    return get();
  } catch (error) {
    const { NotFound, NotADirectory } = Deno.errors;
    const isNone = [NotFound, NotADirectory, SyntaxError].some((kind) => error instanceof kind);
    if (!isNone) throw new Error(`Cannot read ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

/** A file in place of the folder contains no sessions, either. */
const dirEntries = (folder: string) => readAt(folder, () => [...Deno.readDirSync(folder)]) ?? [];

/** The maximum size in bytes of a head, which has a path, a title and little else. */
const MAX_HEAD_BYTES = 16 * 1024;
const LISTED_HEAD_BYTES = 256 * 1024;
const LISTED_TAIL_BYTES = 64 * 1024;

function fileText(path: string, position: number, length: number): string {
  using file = Deno.openSync(path);
  const bytes = new Uint8Array(length);
  file.seekSync(position, Deno.SeekMode.Start);
  return new TextDecoder().decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
}

function headOf(path: string): RecordHead {
  return parseHead(fileText(path, 0, MAX_HEAD_BYTES).split("\n", 1)[0]!);
}

/** Makes room for one more session of `folder`: removes the oldest. */
function removeOldest(root: string, folder: string, isPrint: boolean): void {
  const names = dirEntries(folderOf(root, folder)).map(({ name }) => name);
  const { most, slack } = isPrint ? MAX_PRINTS : MAX_OWN;
  const isSame = (name: string) => isOfPrint(name) === isPrint;
  if (names.filter(isSame).length < most + slack) return;
  const known = filesBelow(root, folder, isSame)
    .filter(({ path }) => attempt(() => headOf(path))?.folder === folder);
  let surplus = known.length - most + 1;
  for (const { path } of known.reverse()) {
    if (surplus <= 0) return;
    if (attempt(() => isOpen(path)) !== false) continue;
    attempt(() => Deno.removeSync(path));
    surplus--;
  }
}

function readWhole(path: string): ParsedRecord & Pick<StoredSession, "size"> {
  const { size } = Deno.statSync(path);
  if (size > MAX_RECORD_BYTES) {
    const [is, most] = [size, MAX_RECORD_BYTES].map((bytes) => Math.ceil(bytes / 2 ** 20));
    throw new RangeError(`it has ${is} MiB, and a session must have at most ${most} MiB`);
  }
  const parsed = parseRecord(Deno.readTextFileSync(path));
  return { ...parsed, messages: repaired(parsed.messages), size };
}

/** A session in a list: its name and, if it is long, only its first and last messages. */
export interface ListedSession
  extends
    Pick<StoredSession, "name" | "path" | "head" | "first" | "used" | "messages" | "executions"> {
  isCut?: true;
  updated: string;
}

/**
 * Returns the sessions of `folder` or of all, newest first, without those that cannot be read. Only the two ends of long
 * ones are read.
 */
export function* listedSessions(
  root: string,
  folder?: string,
  isWanted?: Wanted,
): Generator<ListedSession> {
  for (const file of filesBelow(root, folder, isWanted)) {
    const { name, path, updated } = file;
    const head = attempt(() => headOf(path));
    if (head === undefined || folder !== undefined && head.folder !== folder) continue;
    // A file of a later version, or one that is just being created or removed, is skipped.
    const read = attempt(() => readEnds(file));
    if (!read?.messages.length) continue;
    yield { ...read, name, path, updated: new Date(updated).toISOString() };
  }
}

function readEnds({ path, size }: SessionFile): ParsedRecord & Pick<ListedSession, "isCut"> {
  const tail = size - LISTED_TAIL_BYTES;
  if (tail > LISTED_HEAD_BYTES) {
    const head = fileText(path, 0, LISTED_HEAD_BYTES);
    const end = fileText(path, tail, LISTED_TAIL_BYTES);
    const lines = head.slice(0, head.lastIndexOf("\n") + 1);
    const parsed = parseRecord(lines + end.slice(end.indexOf("\n") + 1));
    if (parsed.first !== "") return { ...parsed, isCut: true };
  }
  return readWhole(path);
}

/** Returns a complete session of the list; undefined if it was removed. @throws {Error} if it cannot be read. */
export function wholeSession({ name, path }: Pick<ListedSession, "name" | "path">) {
  return readAt(path, (): StoredSession => ({ ...readWhole(path), name, path }));
}

const recordPath = (root: string, name: string): string | undefined =>
  pathsBelow(root, undefined, (one) => one === name)[0]?.path;

/** Returns the session with the name; undefined if it does not exist. */
export function storedSession(root: string, name: string): StoredSession | undefined {
  const path = recordPath(root, name);
  return path === undefined ? undefined : wholeSession({ name, path });
}

/** Returns false if there is no session with the name. */
export function removeSession(root: string, name: string): boolean {
  const path = recordPath(root, name);
  if (path === undefined) return false;
  Deno.removeSync(path);
  return true;
}

/** The part of a session's name by which the user refers to it: `1568fabb`. */
export const shortName = (name: string): string => /([\da-f]{8})\.jsonl$/.exec(name)?.[1] ?? name;

/** Appends a title. The time of the session stays: lists have the newest first. */
export function retitle(path: string, title: string): void {
  const { atime, mtime } = Deno.statSync(path);
  const before = Deno.readTextFileSync(path).endsWith("\n") ? "" : "\n";
  const line = JSON.stringify({ title: title.slice(0, MAX_TITLE_CHARS) });
  Deno.writeTextFileSync(path, `${before}${line}\n`, { append: true });
  Deno.utimeSync(path, atime!, mtime!);
}
