/** The record of the current conversation. New messages are appended to its file. @module */

import { attempt } from "../attempt.ts";
import { identify } from "../text/parts.ts";
import type { Message } from "../types/message.ts";
import type { ExecutionFacts } from "./execution.ts";
import { entryLine } from "./format.ts";
import type { ModelUsed, RecordEntry, RecordHead } from "./format.ts";
import {
  createRecord,
  isOfPrint,
  newName,
  type OpenRecord,
  openToAppend,
  type StoredSession,
} from "./store.ts";

type Origin = Pick<RecordHead, "parent" | "title">;

export class Recorder implements Disposable {
  #file: OpenRecord | undefined;
  #isClosed = false;
  /** True if the file belongs to an earlier session. */
  #isContinued = false;
  /** True if the file may end within a line. */
  #isTorn = false;
  #seen: Message[] = [];
  /** The ids of the recorded conversation, and of all messages in the file. */
  #conversation: string[] = [];
  #recorded = new Set<string>();
  /** True while new messages are not written yet. */
  #isBehind = false;
  #origin: Origin = {};
  /** When a conversation with this first message started: `/redo` may return to it. */
  #starts = new Map<string, string>();
  #used: string | undefined;
  #model: string | undefined;
  #mode: string | undefined;
  #name: string | undefined;

  constructor(
    private readonly root: string,
    private readonly folder: () => string,
    private readonly branchOf: (folder: string) => string | undefined = () => undefined,
    private readonly isPrint = false,
  ) {}

  /** The current file, and the folder of its session; undefined before the first message. */
  get file(): { path: string; folder: string } | undefined {
    return this.#file;
  }

  /** The name of the current file, or of the file that the first message will create. */
  get name(): string {
    return this.#name ??= newName(this.isPrint);
  }

  /**
   * Continues the conversation of `session` and appends to its file. If another program has the file open, or if it
   * is one of `-p` and the user continues it, new messages go to a branch of it. Undefined starts another conversation.
   * `used`: the model that it is continued with.
   */
  continueFrom(session: StoredSession | undefined, title?: string, used = session?.used): void {
    this[Symbol.dispose]();
    this.#isClosed = false;
    const isAppended = session && (this.isPrint || !isOfPrint(session.name));
    this.#file = isAppended ? openToAppend(session) : undefined;
    this.#isContinued = this.#file !== undefined;
    this.#name = this.#file && session?.name;
    this.#isTorn = session?.endsInLine === false;
    this.#isBehind = false;
    this.#setMessages(session ? [...session.messages] : []);
    this.#recorded = new Set(this.#file && session!.ids);
    this.#conversation = this.#file
      ? session!.messages.map(({ id }) => id!).filter((id) => session!.ids.has(id))
      : [];
    this.#mode = session?.mode;
    this.#used = this.#file && JSON.stringify(session!.used);
    this.#model = modelKey(used);
    this.#origin = session ? { parent: session.name, title } : {};
    const first = session?.messages[0]?.id;
    if (first) this.#starts.set(first, session.head.started);
  }

  /**
   * Writes the new part of `messages`, their model, the results of their calls, and the permission mode. Gives
   * ids to messages that lack one. Anything that cannot be written is written the next time. @throws {Error} of
   * the system.
   */
  sync(
    messages: Message[],
    used?: ModelUsed,
    executions: ReadonlyMap<string, ExecutionFacts> = new Map(),
    mode?: string,
  ): void {
    const isNew = this.#setMessages(messages);
    const isSame = !isNew && !this.#isBehind;
    // A mode or a model is written only if it has a conversation.
    const isSameChoice = mode === this.#mode && modelKey(used) === this.#model;
    if (isSame && (messages.length === 0 || isSameChoice)) return;
    this.#isBehind = true;
    const isLonger = this.#conversation.every((id, i) => id === messages[i]?.id);
    const added = messages.slice(isLonger ? this.#conversation.length : 0)
      .map((message) => ({ message, execution: executions.get(message.toolCallId ?? "") }));
    const fresh = added.filter(({ message }) => !this.#recorded.has(message.id!));
    const conversation = messages.map(({ id }) => id!);
    const entries = isLonger && added.length > 0 && fresh.length === added.length
      ? added
      : [{ conversation, ...(fresh.length > 0 && { added: fresh }) }];
    // A failed write must not lose the continued session.
    const isLeft = messages.length === 0 && (this.#isContinued || !this.#file);
    if (!isLeft) this.#write(entries, used, mode);
    for (const { message } of fresh) this.#recorded.add(message.id!);
    this.#conversation = conversation;
    this.#isBehind = false;
    // The conversation after one that was undone as a whole is another session.
    if (messages.length === 0) this.continueFrom(undefined);
  }

  /** Writes a piece of the incomplete answer; null restarts it. @throws {Error} of the system. */
  writePartial(piece: string | null): void {
    if (this.#file && !this.#isBehind) this.#append([JSON.stringify({ partial: piece })]);
  }

  /** Releases the file for other programs. A turn that ends later still writes to it. */
  [Symbol.dispose](): void {
    if (!this.#isClosed) this.#file?.open.close();
    this.#isClosed = true;
  }

  /** Sets the messages to record, and gives them ids. Returns false if they are the same as the last time. */
  #setMessages(messages: Message[]): boolean {
    const seen = this.#seen;
    if (seen.length === messages.length && messages.every((one, i) => one === seen[i])) {
      return false;
    }
    identify(messages);
    this.#seen = [...messages];
    return true;
  }

  #write(entries: RecordEntry[], used: ModelUsed | undefined, mode: string | undefined): void {
    const now = JSON.stringify(used);
    if (used && now !== this.#used) entries[0]!.used = used;
    if (mode !== (this.#file && this.#mode)) entries[0]!.mode = mode ?? "";
    if (!this.#file) {
      const folder = this.folder();
      const first = this.#seen[0]!.id!;
      const started = this.#starts.get(first) ?? new Date().toISOString();
      this.#starts.set(first, started);
      const about = { folder, started, branch: this.branchOf(folder), ...this.#origin };
      this.#file = createRecord(this.root, this.name, about);
      this.#isTorn = false;
    }
    this.#append(entries.map(entryLine));
    this.#used = now;
    this.#model = modelKey(used);
    this.#mode = mode;
  }

  #append(lines: readonly string[]): void {
    const { path, open: opened } = this.#file!;
    using again = this.#isClosed ? Deno.openSync(path, { append: true }) : undefined;
    const open = again ?? opened;
    const wasTorn = this.#isTorn;
    const bytes = new TextEncoder().encode(`${wasTorn ? "\n" : ""}${lines.join("\n")}\n`);
    let written = 0;
    this.#isTorn = true;
    try {
      while (written < bytes.length) written += open.writeSync(bytes.subarray(written));
    } catch (error) {
      // Everything is written again, because the partial line cannot be read. A released file may end with lines
      // of another program by now.
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

const modelKey = (used: ModelUsed | undefined) => used && `${used.server} ${used.model}`;
