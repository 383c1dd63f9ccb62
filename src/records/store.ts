/**
 * Sessions on disk: each in a file of its own, which only its own process ever writes. Going on with
 * one begins another, which repeats it, so nothing is shared or locked, and each can be removed.
 *
 * @module
 */

import { attempt } from "../attempt.ts";
import { identify } from "../text/parts.ts";
import { join } from "../text/std_path.ts";
import type { Message } from "../types/message.ts";
import type { ExecutionFacts } from "./execution.ts";
import { entryLine, headLine, parseHead, parseRecord } from "./format.ts";
import type { ModelUsed, ParsedRecord, RecordEntry, RecordHead } from "./format.ts";
import { repaired } from "./repair.ts";

export interface StoredSession extends ParsedRecord {
  name: string;
}

/** The number of sessions that are stored; the oldest are removed. */
const MAX_SESSIONS = 200;
/** A larger file, in bytes, is not read: a session is text. */
const MAX_RECORD_BYTES = 256 * 1024 * 1024;
/** The earlier session that a new record continues. */
type Origin = Pick<RecordHead, "continues" | "title">;

/** Records the session that is worked on in `folder` below `root`, as it goes on. */
export class Recorder {
  /** Made with the first message. */
  #file: { path: string; folder: string; open: Deno.FsFile } | undefined;
  /** The ids of the conversation as it is recorded, and of all messages in the file. */
  #conversation: readonly string[] = [];
  #recorded = new Set<string>();
  #origin: Origin = {};
  #used: string | undefined;
  #mode: string | undefined;
  #name: string | undefined;

  constructor(private readonly root: string, private readonly folder: () => string) {}

  /** The file that is written, and the folder it is of; undefined before the first message. */
  get file(): { path: string; folder: string } | undefined {
    return this.#file;
  }

  /** The name of the file that is written, or will be with the first message. */
  get name(): string {
    return this.#name ??= newName();
  }

  /** `messages` are those of another session, left in `mode`: what is added to them makes one of its own. */
  continueFrom(messages: Message[], origin: Origin, mode?: string): void {
    identify(messages);
    this.#file?.open.close();
    if (this.#file) this.#name = undefined;
    this.#file = this.#used = undefined;
    this.#mode = mode;
    this.#conversation = messages.map(({ id }) => id!);
    this.#recorded.clear();
    this.#origin = origin;
  }

  /**
   * Writes what is new in `messages`, the model they are with, how their calls ended, and the mode of
   * asking; gives ids to those without.
   */
  sync(
    messages: Message[],
    used?: ModelUsed,
    executions: ReadonlyMap<string, ExecutionFacts> = new Map(),
    mode?: string,
  ): void {
    identify(messages);
    const ids = messages.map(({ id }) => id!);
    const before = this.#conversation;
    const isLonger = before.every((id, i) => id === ids[i]);
    const isSame = isLonger && ids.length === before.length;
    // A mode alone is written where there is a conversation for it to be of.
    if (isSame && (ids.length === 0 || mode === this.#mode)) return;
    const start = this.#file && isLonger ? before.length : 0;
    const added = messages.slice(start)
      .map((message, i) => ({
        message,
        parent: ids[start + i - 1] ?? null,
        execution: executions.get(message.toolCallId ?? ""),
      }));
    const fresh = added.filter(({ message }) => !this.#recorded.has(message.id!));
    const isAppended = !this.#file || isLonger && !isSame && fresh.length === added.length;
    const entries = isAppended
      ? added
      : [{ conversation: ids, ...(fresh.length > 0 && { added: fresh }) }];
    this.#conversation = ids;
    if (entries.length > 0) this.#write(entries, used, mode);
    // The conversation after `/clear` is another session.
    if (messages.length === 0) this.continueFrom([], {});
  }

  #write(entries: RecordEntry[], used: ModelUsed | undefined, mode: string | undefined): void {
    const now = JSON.stringify(used);
    if (used && now !== this.#used) entries[0]!.used = used;
    this.#used = now;
    if (mode !== (this.#file && this.#mode)) entries[0]!.mode = mode ?? "";
    this.#mode = mode;
    this.#file ??= createRecord(this.root, this.name, { folder: this.folder(), ...this.#origin });
    const { open } = this.#file;
    const bytes = new TextEncoder().encode(entries.map(entryLine).join(""));
    for (let at = 0; at < bytes.length;) at += open.writeSync(bytes.subarray(at));
    const written = entries.flatMap((entry) => "message" in entry ? [entry] : entry.added ?? []);
    for (const { message } of written) this.#recorded.add(message.id!);
  }
}

const newName = (): string =>
  `${new Date().toISOString().replaceAll(/[:.]/g, "-")}-${crypto.randomUUID().slice(0, 8)}.jsonl`;

function createRecord(root: string, name: string, about: Omit<RecordHead, "version" | "started">) {
  Deno.mkdirSync(root, { recursive: true, mode: 0o700 });
  const started = new Date().toISOString();
  for (const old of namesIn(root).slice(MAX_SESSIONS - 1)) Deno.removeSync(join(root, old));
  const path = join(root, name);
  const open = Deno.openSync(path, { append: true, createNew: true, mode: 0o600 });
  open.writeSync(new TextEncoder().encode(headLine({ started, ...about })));
  return { path, folder: about.folder, open };
}

function namesIn(root: string): string[] {
  try {
    return [...Deno.readDirSync(root)].map(({ name }) => name)
      .filter((name) => name.endsWith(".jsonl")).sort().reverse();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** A longer head, in bytes, is none: it has the path of a folder, a title, and little else. */
const MAX_HEAD_BYTES = 16 * 1024;

/** The head of the session in a file, without reading all of it. */
function headOf(path: string): RecordHead {
  using file = Deno.openSync(path);
  const bytes = new Uint8Array(MAX_HEAD_BYTES);
  const text = new TextDecoder().decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
  return parseHead(text.split("\n", 1)[0]!);
}

/** The sessions of `folder`, or of all, newest first, each repaired, without those that another goes on from. */
export function* storedSessions(root: string, folder?: string): Generator<StoredSession> {
  const parts = new Set<string>();
  for (const name of namesIn(root)) {
    try {
      const path = join(root, name);
      const { isFile, size } = Deno.statSync(path);
      // Reading a pipe would wait for a writer.
      if (!isFile || size > MAX_RECORD_BYTES) continue;
      const head = headOf(path);
      if (folder !== undefined && head.folder !== folder) continue;
      const stored = parts.has(name) ? undefined : parseRecord(Deno.readTextFileSync(path));
      if (stored?.messages.length === 0) continue;
      parts.add(head.continues ?? "");
      if (stored) yield { ...stored, name, messages: repaired(stored.messages) };
    } catch {
      // A file of another kind or of a later version, or one that is just being made or removed.
    }
  }
}

/** A stored session in a list. */
export interface ListedSession extends StoredSession {
  /** When its file was last written: ISO 8601. */
  updated: string;
}

/** The sessions of `folder`, or of all folders, newest first, each with the time of its last change. */
export function* listedSessions(root: string, folder?: string): Generator<ListedSession> {
  for (const stored of storedSessions(root, folder)) {
    const mtime = attempt(() => Deno.statSync(join(root, stored.name)).mtime);
    if (mtime) yield { ...stored, updated: mtime.toISOString() };
  }
}

/** The session with the name, or the newest that goes on from it; undefined for none. */
export function storedSession(root: string, name: string): StoredSession | undefined {
  const names = namesIn(root);
  const next = new Map<string, string>();
  for (const one of names) {
    const { continues } = attempt(() => headOf(join(root, one))) ?? {};
    if (continues !== undefined && !next.has(continues)) next.set(continues, one);
  }
  let newest = names.includes(name) ? name : undefined;
  for (let on = newest; on !== undefined; on = next.get(on)) newest = on;
  const stored = newest && attempt(() => parseRecord(Deno.readTextFileSync(join(root, newest))));
  return stored && newest
    ? { ...stored, name: newest, messages: repaired(stored.messages) }
    : undefined;
}

/** Removes the session with the name, those that it goes on from, and those that go on from it; false for none. */
export function removeSession(root: string, name: string): boolean {
  const names = namesIn(root);
  if (!names.includes(name)) return false;
  const parents = new Map(
    names.map((one) => [one, attempt(() => headOf(join(root, one)))?.continues] as const),
  );
  const removed = new Set([name]);
  for (const one of removed) {
    const parent = parents.get(one);
    if (parent !== undefined && parents.has(parent)) removed.add(parent);
    for (const [child, of] of parents) if (of === one) removed.add(child);
  }
  for (const one of removed) Deno.removeSync(join(root, one));
  return true;
}
