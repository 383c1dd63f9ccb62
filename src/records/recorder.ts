/** The record of the current conversation. What is new is appended to its file. @module */

import { attempt } from "../attempt.ts";
import { identify } from "../text/parts.ts";
import { reasonOf } from "../text/reason.ts";
import type { TurnEvent } from "../types/event.ts";
import type { Message } from "../types/message.ts";
import type { ExecutionFacts } from "./execution.ts";
import { entryLine } from "./format.ts";
import type { ModelUsed, RecordEntry, RecordHead } from "./format.ts";
import {
  createRecord,
  forkRecord,
  isOfPrint,
  newName,
  type OpenRecord,
  openToAppend,
  shortName,
  type StoredSession,
  wholeSession,
  writeText,
} from "./store.ts";

const MAX_UNRECORDED_MS = 2000;
/** The maximum number of characters that wait, so that little of a fast answer is pending. */
const MAX_UNRECORDED_CHARS = 16 * 1024;

/** `isBehind`: true if the newest messages could not be written. */
export type RecordFile = { path: string; folder: string; isBehind?: boolean };

/** The facts that a session records. */
export interface Recorded {
  folder: string;
  branch?(): string | undefined;
  /** Messages that lack an id get one. */
  messages: Message[];
  executions: ReadonlyMap<string, ExecutionFacts>;
  used?: ModelUsed | undefined;
  mode?: string | undefined;
}

export class Recorder implements Disposable {
  #file: OpenRecord | undefined;
  #isClosed = false;
  /** True if the file may end within a line. */
  #isTorn = false;
  #hasFailed = false;
  /** The ids of the conversation when it was last written or continued, and of all messages in the file. */
  #known: readonly string[] = [];
  #recorded = new Set<string>();
  #origin: Partial<RecordHead> = {};
  #used: string | undefined;
  #model: string | undefined;
  #mode: string | undefined;
  #name: string | undefined;
  /** The end of the answer that is not written yet, and its time. */
  #partial: { text: string; since: number } | undefined;

  /**
   * `current` returns what to record now. `tell` is called with the reason if it cannot be recorded, and without it when
   * recording works again.
   */
  constructor(
    private readonly root: string,
    private readonly current: () => Recorded,
    private readonly tell: (why?: string) => void,
    private readonly isPrint = false,
  ) {}

  /** The current file, and the folder of its session; undefined before the first message. */
  get file(): RecordFile | undefined {
    const { path, folder } = this.#file ?? {};
    return path && folder ? { path, folder, isBehind: this.#hasFailed } : undefined;
  }

  /** The name of the current file, or of the file that the first message will create. */
  get name(): string {
    return this.#name ??= newName(this.isPrint);
  }

  get stored(): StoredSession | undefined {
    const { file, name } = this;
    return file?.isBehind === false ? wholeSession({ name, path: file.path }) : undefined;
  }

  /**
   * Continues the conversation of `session` and appends to its file. If another program has the file open, or if it
   * is one of `-p` and the user continues it, new messages go to a branch of it. Undefined starts another conversation.
   */
  continueFrom(session: StoredSession | undefined, title?: string): void {
    if (!this.#isClosed) this.#file?.open.close();
    this.#isClosed = this.#hasFailed = false;
    const isAppended = session && (this.isPrint || !isOfPrint(session.name));
    this.#file = isAppended ? openToAppend(session) : undefined;
    this.#name = this.#file && session?.name;
    this.#isTorn = session?.endsInLine === false;
    this.#known = session?.messages.map(({ id }) => id!) ?? [];
    this.#recorded = new Set(this.#file && session!.ids);
    this.#mode = session?.mode;
    this.#used = this.#file && JSON.stringify(session!.used);
    this.#model = modelKey(this.current().used);
    this.#origin = session ? { parent: session.name, title, started: session.head.started } : {};
  }

  /** Ends the session: new messages start the next one. Returns its id if it has a file, and whether that is complete. */
  startNext(): { id: string; isSaved: boolean } | undefined {
    this.sync();
    const left = this.file && { id: shortName(this.name), isSaved: !this.#hasFailed };
    this.continueFrom(undefined);
    return left;
  }

  /** Copies the session, up to before a message, and continues in the copy if `continues`. @throws {Error} */
  fork(before?: Message, continues = true): StoredSession {
    this.sync();
    const { stored } = this;
    if (stored === undefined) throw new Error("The session is not saved, so it cannot be copied");
    const end = before && stored.messages.findIndex(({ id }) => id === before.id);
    const copy = forkRecord(this.root, stored, false, end);
    if (continues) this.continueFrom(copy);
    return copy;
  }

  /**
   * Writes what is new. Call it after each change of the messages or of the user's mode. What cannot be written is
   * written the next time.
   */
  sync(): void {
    this.#partial = undefined;
    try {
      this.#writeNew();
      if (this.#hasFailed) this.tell();
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.tell(`${reasonOf(error)} (in ${this.root})`);
      this.#hasFailed = true;
    }
  }

  /** Handles an event of a turn: writes what is new before each request and call, and pieces of an answer. */
  onEvent(event: TurnEvent): void {
    switch (event.type) {
      case "thinking":
      case "tool_start":
        return this.sync();
      case "text_delta":
        return this.#add(event.text);
      case "text_retracted":
      case "retry":
        this.#partial = undefined;
        return this.writePartial(null);
    }
  }

  /** Writes a piece of the incomplete answer; null restarts it. */
  writePartial(piece: string | null): void {
    // A failure is reported when the whole message is written.
    if (!this.#hasFailed) attempt(() => this.#append([JSON.stringify({ partial: piece })]));
  }

  /** Releases the file for other programs. A turn that ends later still writes to it. */
  [Symbol.dispose](): void {
    if (this.#hasFailed) attempt(() => this.#writeNew());
    if (!this.#isClosed) this.#file?.open.close();
    this.#isClosed = true;
  }

  #add(more: string): void {
    const { text, since } = this.#partial ?? { text: "", since: performance.now() };
    this.#partial = { text: text + more, since };
    const isLong = this.#partial.text.length >= MAX_UNRECORDED_CHARS;
    if (!isLong && performance.now() - since < MAX_UNRECORDED_MS) return;
    this.#partial = undefined;
    this.writePartial(text + more);
  }

  /** Writes new messages with the results of their calls, the model, and the permission mode. @throws {Error} */
  #writeNew(): void {
    const recorded = this.current();
    const { messages, executions, used, mode } = recorded;
    identify(messages);
    const conversation = messages.map(({ id }) => id!);
    const isLonger = this.#known.every((id, i) => id === conversation[i]);
    const news = conversation.length - this.#known.length;
    // A mode or a model is written only if it has a conversation.
    const isSameChoice = mode === this.#mode && modelKey(used) === this.#model;
    if (isLonger && news === 0 && (messages.length === 0 || isSameChoice)) return;
    const added = messages.filter(({ id }) => !this.#recorded.has(id!))
      .map((message) => ({ message, execution: executions.get(message.toolCallId ?? "") }));
    const isAppended = isLonger && news > 0 && added.length === news &&
      added[0]!.message === messages.at(-news);
    const entries: RecordEntry[] = isAppended
      ? added
      : [{ conversation, ...added.length > 0 && { added } }];
    const usedNow = JSON.stringify(used);
    if (used && usedNow !== this.#used) entries[0]!.used = used;
    if (mode !== (this.#file && this.#mode)) entries[0]!.mode = mode ?? "";
    this.#create(recorded);
    this.#append(entries.map(entryLine));
    for (const { message } of added) this.#recorded.add(message.id!);
    this.#known = conversation;
    this.#used = usedNow;
    this.#model = modelKey(used);
    this.#mode = mode;
  }

  #create({ folder, branch }: Recorded): void {
    if (this.#file) return;
    const about = { folder, started: new Date().toISOString(), branch: branch?.() };
    this.#file = createRecord(this.root, this.name, { ...about, ...this.#origin });
    this.#isTorn = false;
  }

  #append(lines: readonly string[]): void {
    if (!this.#file) return;
    const { path, open: opened } = this.#file;
    using again = this.#isClosed ? Deno.openSync(path, { append: true }) : undefined;
    const open = again ?? opened;
    const wasTorn = this.#isTorn;
    const { size } = open.statSync();
    this.#isTorn = true;
    try {
      writeText(open, `${wasTorn ? "\n" : ""}${lines.join("\n")}\n`);
    } catch (error) {
      // Everything is written again, because the partial line cannot be read. A released file may end with lines
      // of another program by now.
      if (again === undefined) {
        attempt(() => {
          open.truncateSync(size);
          this.#isTorn = wasTorn;
        });
      }
      throw error;
    }
    this.#isTorn = false;
  }
}

const modelKey = (used: ModelUsed | undefined) => used && `${used.server} ${used.model}`;
