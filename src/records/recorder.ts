/** The record of the conversation that goes on: what is new of it is appended to its file. @module */

import { attempt } from "../attempt.ts";
import { identify } from "../text/parts.ts";
import { wholeUpTo } from "../text/truncate.ts";
import type { Message } from "../types/message.ts";
import type { ExecutionFacts } from "./execution.ts";
import { type AnswerPiece, entryLine, pieceLine } from "./format.ts";
import type { ModelUsed, RecordEntry, RecordHead } from "./format.ts";
import { storeImages } from "./images.ts";
import {
  createRecord,
  newName,
  type OpenRecord,
  openToAppend,
  type StoredSession,
} from "./store.ts";

/** The earlier session that a new record continues. */
type Origin = Pick<RecordHead, "continues" | "continuedSize" | "title">;

/** The most characters that are written at once. */
const MAX_SLICE = 64 * 1024;

/** Records the session that is worked on in `folder` below `root`, as it goes on. */
export class Recorder implements Disposable {
  /** Made with the first message. */
  #file: OpenRecord | undefined;
  #isClosed = false;
  /** True where the file is that of an earlier session. */
  #isGoneOn = false;
  /** True where the file may end amid a line. */
  #isTorn = false;
  /** The messages as they were last seen, with their ids. */
  #seen: Message[] = [];
  #seenIds = new Set<string>();
  /** The ids of the conversation as it is recorded, and of all messages in the file. */
  #conversation: string[] = [];
  /** True where the conversation as it is recorded surely begins the messages as they were last seen. */
  #isInLine = true;
  #recorded = new Set<string>();
  /** True from when something is new until it is written. */
  #isBehind = false;
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

  /**
   * The conversation is that of `session` now, whose file is appended to; where another program has that
   * open, or an older one wrote it, what is added makes a file of its own. Undefined begins another one.
   */
  continueFrom(session: StoredSession | undefined, title?: string): void {
    this[Symbol.dispose]();
    this.#isClosed = false;
    this.#file = session && openToAppend(session);
    this.#isGoneOn = this.#file !== undefined;
    this.#name = this.#file && session?.name;
    this.#isTorn = session?.endsInLine === false;
    this.#isBehind = false;
    this.#see(session ? [...session.messages] : []);
    this.#recorded = new Set(this.#file && session!.ids);
    this.#conversation = this.#file
      ? session!.messages.map(({ id }) => id!).filter((id) => session!.ids.has(id))
      : [];
    this.#isInLine = false;
    this.#mode = session?.mode;
    this.#used = this.#file && JSON.stringify(session!.used);
    this.#origin = session
      ? {
        continues: session.name,
        continuedSize: session.size,
        ...title !== undefined && { title },
      }
      : {};
  }

  /**
   * Writes what is new in `messages`, the model they are with, how their calls ended, and the mode of
   * asking; gives ids to those without. What could not be written is written the next time. @throws {Error} of the system.
   */
  sync(
    messages: Message[],
    used?: ModelUsed,
    executions: ReadonlyMap<string, ExecutionFacts> = new Map(),
    mode?: string,
  ): void {
    const isNew = this.#see(messages);
    this.#forgetRemoved();
    // A mode alone is written where there is a conversation for it to be of.
    const isSame = !isNew && !this.#isBehind;
    if (isSame && (messages.length === 0 || mode === this.#mode)) return;
    this.#isBehind = true;
    const isLonger = this.#isInLine ||
      this.#conversation.every((id, i) => id === messages[i]?.id);
    const start = isLonger ? this.#conversation.length : 0;
    const added = messages.slice(start)
      .map((message, i) => ({
        message,
        parent: messages[start + i - 1]?.id ?? null,
        execution: executions.get(message.toolCallId ?? ""),
      }));
    const fresh = added.filter(({ message }) => !this.#recorded.has(message.id!));
    const ids = () => messages.map(({ id }) => id!);
    const entries = isLonger && added.length > 0 && fresh.length === added.length
      ? added
      : [{ conversation: ids(), ...(fresh.length > 0 && { added: fresh }) }];
    // What was gone on with is not lost with what was added to it.
    const isLeft = messages.length === 0 && (this.#isGoneOn || !this.#file);
    if (!isLeft) this.#write(entries, used, mode);
    for (const { message } of fresh) this.#recorded.add(message.id!);
    if (isLonger) { for (const { message } of added) this.#conversation.push(message.id!); }
    else this.#conversation = ids();
    this.#isInLine = true;
    this.#isBehind = false;
    // The conversation after `/clear` is another session.
    if (messages.length === 0) this.continueFrom(undefined);
  }

  /** Writes a piece of the answer that is on its way; null where it begins anew. @throws {Error} of the system. */
  piece(piece: AnswerPiece | null): void {
    if (this.#file && !this.#isBehind) this.#append([pieceLine(piece)]);
  }

  /** Lets others have the file; a turn that ends later still writes to it. */
  [Symbol.dispose](): void {
    if (!this.#isClosed) this.#file?.open.close();
    this.#isClosed = true;
  }

  /** Takes note of the messages, and gives them ids; false where they are those of the last time. */
  #see(messages: Message[]): boolean {
    const seen = this.#seen;
    // In a plain loop: all of a long conversation is looked at before each request and each call.
    let same = 0;
    while (same < seen.length && seen[same] === messages[same]) same++;
    const isGrown = same === seen.length;
    if (isGrown && same === messages.length) return false;
    if (!isGrown) {
      this.#seenIds = new Set();
      this.#isInLine = false;
      same = 0;
    }
    identify(messages, same, this.#seenIds);
    seen.length = same;
    for (; same < messages.length; same++) seen.push(messages[same]!);
    return true;
  }

  /** A file that was removed meanwhile is written anew. */
  #forgetRemoved(): void {
    if (this.#isClosed || !this.#file) return;
    if (attempt(() => this.#file!.open.statSync().nlink) !== 0) return;
    this.#file.open.close();
    this.#file = this.#used = undefined;
    this.#conversation = [];
    this.#recorded.clear();
    this.#isBehind = true;
  }

  #write(entries: RecordEntry[], used: ModelUsed | undefined, mode: string | undefined): void {
    const now = JSON.stringify(used);
    if (used && now !== this.#used) entries[0]!.used = used;
    if (mode !== (this.#file && this.#mode)) entries[0]!.mode = mode ?? "";
    if (!this.#file) {
      this.#file = createRecord(this.root, this.name, { folder: this.folder(), ...this.#origin });
      this.#isTorn = false;
    }
    const added = entries.flatMap((entry) => "message" in entry ? [entry] : entry.added ?? []);
    storeImages(this.#file.path, added.map(({ message }) => message));
    this.#append(entries.map(entryLine));
    this.#used = now;
    this.#mode = mode;
  }

  /** Appends lines, a long one in slices: no other copy of it is made. */
  #append(lines: readonly string[]): void {
    const { path, open: held } = this.#file!;
    using again = this.#isClosed ? Deno.openSync(path, { append: true }) : undefined;
    const open = again ?? held;
    const encoder = new TextEncoder();
    const wasTorn = this.#isTorn;
    let before = wasTorn ? "\n" : "";
    let written = 0;
    this.#isTorn = true;
    try {
      for (const line of lines) {
        for (let start = 0; start < line.length;) {
          const end = wholeUpTo(line, Math.min(line.length, start + MAX_SLICE));
          const after = end === line.length ? "\n" : "";
          let bytes = encoder.encode(before + line.slice(start, end) + after);
          for (let count = 0; bytes.length > 0; bytes = bytes.subarray(count)) {
            written += count = open.writeSync(bytes);
          }
          before = "";
          start = end;
        }
      }
    } catch (error) {
      // All of it is written again: what is there of it would be a line that cannot be read. A file that was
      // left may have another program's lines at its end by now.
      if (again === undefined) {
        attempt(() => {
          open.truncateSync(open.statSync().size - written);
          this.#isTorn = wasTorn;
        });
      }
      throw error;
    }
    this.#isTorn = false;
  }
}
