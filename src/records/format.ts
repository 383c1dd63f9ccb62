/**
 * The format of a stored session: lines of JSON, a head and then entries in order. Lines are only appended. Each
 * message names its parent, the message before it, so the messages form a tree, and the conversation is a path
 * through it. After a compaction, `/undo` or `/clear`, an entry lists the new path. Pure.
 *
 * @module
 */

import type { ModelTarget } from "../models/target.ts";
import { isObject, jsonOrUndefined } from "../text/json.ts";
import { textOfParts, typedText } from "../text/parts.ts";
import type { Message } from "../types/message.ts";
import { type ExecutionFacts, readFacts } from "./execution.ts";
import { cutAnswer } from "./repair.ts";

const RECORD_VERSION = 2;

/** The first line. A reader ignores unknown fields. */
export interface RecordHead {
  version: number;
  folder: string;
  started: string;
  /** The file of the session that this one is a copy of, or of a part of it. */
  parent?: string | undefined;
  title?: string | undefined;
  branch?: string | undefined;
}

export interface ModelUsed {
  model: string;
  /** The host and port of the server, for the user. */
  server: string;
  /** How to reach the server again; missing if its address contains a secret or applies to one run only. */
  at?: { kind: ModelTarget["kind"]; url: string };
  tokens?: number | undefined;
  /** The speed at which the server last read a prompt, in tokens per second. */
  readSpeed?: number | undefined;
  /** The speed at which it last wrote a long answer, in tokens per second. */
  writeSpeed?: number | undefined;
}

/** A new message after the one with the id `parent`; null for the first. */
export interface AddedMessage {
  message: Message;
  parent: string | null;
  execution?: ExecutionFacts | undefined;
}

/** A piece of an incomplete answer. `isRetracted`: its earlier text was reasoning. */
export interface AnswerPiece {
  text?: string;
  reasoning?: string;
  isRetracted?: true;
}

export type RecordEntry =
  & (AddedMessage | {
    /** The ids of the messages that form the conversation from here on. */
    conversation: readonly string[];
    added?: readonly AddedMessage[];
  })
  & {
    used?: ModelUsed;
    /** The permission mode of the user if it changed; empty for the default. */
    mode?: string;
  };

type RecordLine = RecordEntry | { partial: AnswerPiece | null } | { title: string };

export interface ParsedRecord {
  head: RecordHead;
  messages: Message[];
  /** The number of unreadable lines: usually the last one, if writing was interrupted. */
  lost: number;
  /** The first typed text. A summary may have replaced its message. */
  first: string;
  used?: ModelUsed;
  /** The last permission mode that the user chose, if any. */
  mode?: string;
  executions: ReadonlyMap<string, ExecutionFacts>;
  /** The ids of all stored messages, including those that are no longer in the conversation. */
  ids: ReadonlySet<string>;
  /** False if the last line has no end. */
  endsInLine: boolean;
}

export function headLine(head: Omit<RecordHead, "version">): string {
  return `${JSON.stringify({ version: RECORD_VERSION, ...head })}\n`;
}

export function entryLine({ used, mode, ...entry }: RecordEntry): string {
  const shown = "message" in entry
    ? shownMessage(entry)
    : { ...entry, added: entry.added?.map(shownMessage) };
  return JSON.stringify({ ...shown, used, mode });
}

/** Returns a line for a piece of an incomplete answer, or for its restart. The next entry replaces it. */
export function pieceLine(piece: AnswerPiece | null): string {
  return JSON.stringify({ partial: piece });
}

function shownMessage({ message, parent, execution }: AddedMessage) {
  return { message: messageToRecord(message), parent, execution };
}

export function parseHead(line: string): RecordHead {
  const head = parsedLine(line);
  if (typeof head?.folder !== "string" || typeof head.started !== "string") {
    throw new SyntaxError("Cannot read the file as it is not a copilot session");
  }
  const { version } = head;
  if (version !== RECORD_VERSION) {
    const is = JSON.stringify(version);
    const isLater = typeof version === "number" && version > RECORD_VERSION;
    const writer = isLater ? "a later version of copilot wrote it: " : "";
    throw new SyntaxError(
      `Cannot read the session as ${writer}its version must be ${RECORD_VERSION}: it is ${is}`,
    );
  }
  return head as unknown as RecordHead;
}

export function parseRecord(text: string): ParsedRecord {
  const [first = "", ...lines] = text.split("\n");
  const head = parseHead(first);
  const conversation = new RecordedConversation();
  let lost = 0;
  let begun: string | undefined;
  let used: ModelUsed | undefined;
  let mode: string | undefined;
  for (const line of lines) {
    if (line === "") continue;
    const entry = parsedLine(line) as RecordLine | undefined;
    if (entry === undefined) lost++;
    else if ("title" in entry) head.title = entry.title;
    else conversation.take(entry);
    const [oldest] = begun === undefined ? conversation.messages : [];
    if (oldest) begun = typedText(oldest);
    if (entry && "used" in entry) used = entry.used;
    if (entry && "mode" in entry) mode = entry.mode;
  }
  return {
    head,
    messages: conversation.messages,
    lost,
    first: begun ?? "",
    executions: conversation.executions,
    ids: conversation.ids,
    endsInLine: lines.at(-1) === "",
    ...(used && { used }),
    ...(mode && { mode }),
  };
}

/** A message and the link before it. It never changes, so conversations share their first messages. */
interface ChainLink {
  message: Message;
  before: ChainLink | undefined;
}

/** Applies the entries of a record. Each takes time in proportion to its own length. */
class RecordedConversation {
  #end: ChainLink | undefined;
  readonly executions = new Map<string, ExecutionFacts>();
  readonly #links = new Map<string, ChainLink>();

  #text: string[] = [];
  #reasoning: string[] = [];

  /** Returns the conversation after the newest entry, by a walk through all of it. */
  get messages(): Message[] {
    const messages: Message[] = [];
    for (let at = this.#end; at; at = at.before) messages.push(at.message);
    const cut = cutAnswer(this.#text.join(""), this.#reasoning.join(""));
    return [...messages.reverse(), ...cut && messages.length > 0 ? [cut] : []];
  }

  get ids(): ReadonlySet<string> {
    return new Set(this.#links.keys());
  }

  /** Takes what a line has. Only this program writes records, and a torn line is no JSON. */
  take(entry: RecordEntry | { partial: AnswerPiece | null }): void {
    if ("partial" in entry) return this.#takePiece(entry.partial);
    this.#takePiece(null);
    if ("message" in entry) {
      this.#end = this.#linked(entry);
      return;
    }
    for (const one of entry.added ?? []) this.#linked(one);
    this.#end = undefined;
    for (const id of new Set(entry.conversation)) {
      const link = this.#links.get(id);
      // A message on a lost line is dropped.
      if (link) this.#end = this.#put(link.message, this.#end);
    }
  }

  /** Adds a piece of an incomplete answer; null restarts it. */
  #takePiece(piece: AnswerPiece | null): void {
    if (piece === null) [this.#text, this.#reasoning] = [[], []];
    const { text = "", reasoning = "", isRetracted } = piece ?? {};
    if (isRetracted) this.#reasoning.push(...this.#text.splice(0));
    this.#text.push(text);
    this.#reasoning.push(reasoning);
  }

  #linked({ message: written, parent, execution }: AddedMessage): ChainLink {
    const message = { ...written, content: written.content ?? textOfParts(written.parts ?? []) };
    if (execution && message.toolCallId) this.executions.set(message.toolCallId, execution);
    // A parent on a lost line was the end of the conversation.
    return this.#put(message, parent === null ? undefined : this.#links.get(parent) ?? this.#end);
  }

  #put(message: Message, before: ChainLink | undefined): ChainLink {
    const link = { message, before };
    this.#links.set(message.id!, link);
    return link;
  }
}

/** Returns the message to write, without text that its parts repeat. A stored image is its hash. */
function messageToRecord({ content, parts, ...rest }: Message): object {
  if (!parts) return { ...rest, content };
  const written = parts.map((part) => {
    if (part.type !== "image" || part.hash === undefined) return part;
    const { data: _, ...reference } = part;
    return reference;
  });
  return { ...rest, ...textOfParts(parts) !== content && { content }, parts: written };
}

function parsedLine(line: string): Record<string, unknown> | undefined {
  const value = jsonOrUndefined(line);
  return isObject(value) ? value : undefined;
}
