/**
 * A session as lines of JSON: a head, then entries, in the order in which they came. Lines are only
 * ever appended. A message names its parent, the message that it follows: the messages are a tree,
 * and the conversation is a way through it. Where it becomes another than the last message and all
 * before it (after a compaction, `/undo`, `/clear`), an entry lists it. Pure.
 *
 * @module
 */

import type { ModelTarget } from "../model_target.ts";
import { isObject, jsonOrUndefined } from "../text/json.ts";
import { typedText } from "../text/parts.ts";
import type { Message } from "../types/message.ts";
import { type ExecutionFacts, readFacts } from "./execution.ts";
import { messageFromRecord, messageToRecord } from "./message_shape.ts";
import { cutAnswer } from "./repair.ts";

/** The version that is written, and the only one that is read. */
const RECORD_VERSION = 2;

/** The first line. A reader passes over fields that it does not know. */
export interface RecordHead {
  version: number;
  /** The absolute folder that was worked in. */
  folder: string;
  /** When it began: ISO 8601. */
  started: string;
  /** The file of the session that this one goes on from. */
  continues?: string;
  /** The size of that file, in bytes, when it was read: all of it is repeated here. */
  continuedSize?: number;
  title?: string;
}

/** The model that was asked, and its server, without secrets. */
export interface ModelUsed {
  model: string;
  /** The host and port of its server, for a person. */
  server: string;
  /** How the server is asked again; left out where its address holds a secret, or is of one run alone. */
  at?: { kind: ModelTarget["kind"]; url: string };
  /** The tokens of the conversation, as the server counted them. */
  tokens?: number | undefined;
  /** The speed at which the server last read a prompt, in tokens per second. */
  readSpeed?: number | undefined;
}

/** A message that was added, behind the one with the id `parent`; null for the first. */
export interface AddedMessage {
  message: Message;
  parent: string | null;
  /** Of a tool message: how its call ended. */
  execution?: ExecutionFacts | undefined;
}

/** A piece of an answer that is on its way; `isRetracted`: its text before this was reasoning. */
export interface AnswerPiece {
  text?: string;
  reasoning?: string;
  isRetracted?: true;
}

/** A line after the first. */
export type RecordEntry =
  & (AddedMessage | {
    /** The ids of the messages that are the conversation from here on. */
    conversation: readonly string[];
    /** The new messages among them. */
    added?: readonly AddedMessage[];
  })
  & {
    used?: ModelUsed;
    /** The mode of asking that the person chose, where it is another than before; empty for the usual one. */
    mode?: string;
  };

export interface ParsedRecord {
  head: RecordHead;
  messages: Message[];
  /** The number of lines that could not be read: mostly the last one, where writing was cut off. */
  lost: number;
  /** The text that was typed first; the message may be in a summary by now. */
  first: string;
  used?: ModelUsed;
  /** The mode of asking that the person chose last; left out where they chose none. */
  mode?: string;
  /** How calls ended, by their ids. */
  executions: ReadonlyMap<string, ExecutionFacts>;
  /** The ids of all messages on record, also of those that are in the conversation no more. */
  ids: ReadonlySet<string>;
  /** False where the last line has no end. */
  endsInLine: boolean;
}

export function headLine(head: Omit<RecordHead, "version">): string {
  return `${JSON.stringify({ version: RECORD_VERSION, ...head })}\n`;
}

/** The line of an entry, without its end: that would be a copy of a long one. */
export function entryLine({ used, mode, ...entry }: RecordEntry): string {
  const shown = "message" in entry
    ? shownMessage(entry)
    : { ...entry, ...(entry.added && { added: entry.added.map(shownMessage) }) };
  return JSON.stringify({ ...shown, ...(used && { used }), mode });
}

/** A line for a piece of the answer on its way, or for its beginning anew; the next entry takes its place. */
export function pieceLine(piece: AnswerPiece | null): string {
  return JSON.stringify({ partial: piece });
}

function shownMessage({ message, parent, execution }: AddedMessage) {
  return { message: messageToRecord(message), parent, ...(execution && { execution }) };
}

/** Reads the first line of a record. Throws a SyntaxError when it is none, or of another version. */
export function parseHead(line: string): RecordHead {
  const head = parsedLine(line);
  if (typeof head?.folder !== "string" || typeof head.started !== "string") {
    throw new SyntaxError("Cannot read the file as it is not a session of copilot");
  }
  const { version } = head;
  if (version !== RECORD_VERSION) {
    const is = JSON.stringify(version);
    const isLater = typeof version === "number" && version > RECORD_VERSION;
    const writer = isLater ? "a later copilot wrote it: " : "";
    throw new SyntaxError(
      `Cannot read the session as ${writer}its version must be ${RECORD_VERSION}: it is ${is}`,
    );
  }
  if (typeof head.continues !== "string") delete head.continues;
  if (typeof head.continuedSize !== "number") delete head.continuedSize;
  if (typeof head.title !== "string") delete head.title;
  return head as unknown as RecordHead;
}

/** Reads a record. Throws a SyntaxError when the text is none, or of another version. */
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
    const entry = parsedLine(line);
    if (!entry || !conversation.take(entry)) lost++;
    const [oldest] = begun === undefined ? conversation.messages : [];
    if (oldest) begun = typedText(oldest);
    used = modelUsedIn(entry?.used) ?? used;
    if (typeof entry?.mode === "string") mode = entry.mode;
  }
  const { messages, executions, ids } = conversation;
  return {
    ...{ head, messages, lost, first: begun ?? "", executions, ids },
    endsInLine: lines.at(-1) === "",
    ...(used && { used }),
    ...(mode && { mode }),
  };
}

/** A message and the link before it. Never changed, so that conversations share their beginnings. */
interface ChainLink {
  message: Message;
  before: ChainLink | undefined;
}

/** Follows the entries of a record; each takes the time that its own length asks for. */
class RecordedConversation {
  #end: ChainLink | undefined;
  readonly executions = new Map<string, ExecutionFacts>();
  /** The newest link of each message, by its id. */
  readonly #links = new Map<string, ChainLink>();

  /** The pieces of the answer that was on its way. */
  #text: string[] = [];
  #reasoning: string[] = [];

  /** The conversation as of the newest entry: a walk through all of it. */
  get messages(): Message[] {
    const messages: Message[] = [];
    for (let at = this.#end; at; at = at.before) messages.push(at.message);
    const cut = cutAnswer(this.#text.join(""), this.#reasoning.join(""));
    return [...messages.reverse(), ...cut && messages.length > 0 ? [cut] : []];
  }

  get ids(): ReadonlySet<string> {
    return new Set(this.#links.keys());
  }

  /** Takes an entry; false when it is none. */
  take({ conversation, added = [], ...entry }: Record<string, unknown>): boolean {
    if ("partial" in entry) return this.#takePiece(entry.partial);
    this.#takePiece(null);
    if (!Array.isArray(conversation)) {
      const one = addedMessage(entry);
      if (!one) return false;
      this.#end = this.#linked(one);
      return true;
    }
    const more = Array.isArray(added) ? added.map(addedMessage) : [undefined];
    if (!more.every((one) => one !== undefined)) return false;
    for (const one of more) this.#linked(one);
    this.#end = undefined;
    for (const id of new Set(conversation)) {
      const link = this.#links.get(id);
      // A message on a line that is lost is left out.
      if (link) this.#end = this.#put(link.message, this.#end);
    }
    return true;
  }

  /** Takes a piece of an answer on its way; null begins it anew. */
  #takePiece(piece: unknown): boolean {
    if (piece === null) this.#text = [];
    if (piece === null) this.#reasoning = [];
    if (!isObject(piece)) return piece === null;
    const { text, reasoning, isRetracted } = piece;
    if (isRetracted === true) this.#reasoning.push(...this.#text.splice(0));
    if (typeof text === "string") this.#text.push(text);
    if (typeof reasoning === "string") this.#reasoning.push(reasoning);
    return true;
  }

  #linked({ message, parent, execution }: AddedMessage): ChainLink {
    if (execution && message.toolCallId) this.executions.set(message.toolCallId, execution);
    // A parent on a line that is lost stood where the conversation ends.
    return this.#put(message, parent === null ? undefined : this.#links.get(parent) ?? this.#end);
  }

  #put(message: Message, before: ChainLink | undefined): ChainLink {
    const link = { message, before };
    this.#links.set(message.id!, link);
    return link;
  }
}

function addedMessage(value: unknown): AddedMessage | undefined {
  if (!isObject(value)) return undefined;
  const message = messageFromRecord(value.message);
  const { parent = null } = value;
  const isLinked = parent === null || typeof parent === "string";
  if (message?.id === undefined || !isLinked) return undefined;
  return { message, parent, execution: readFacts(value.execution) };
}

function parsedLine(line: string): Record<string, unknown> | undefined {
  const value = jsonOrUndefined(line);
  return isObject(value) ? value : undefined;
}

function modelUsedIn(value: unknown): ModelUsed | undefined {
  if (!isObject(value)) return undefined;
  const { model, server, at } = value;
  const positive = (name: "tokens" | "readSpeed") =>
    Number(value[name]) > 0 && { [name]: Number(value[name]) };
  if (typeof model !== "string" || model === "" || typeof server !== "string") return undefined;
  const isAddress = isObject(at) && typeof at.url === "string" && URL.canParse(at.url) &&
    ["compat", "local", "hosted"].includes(at.kind as string);
  return {
    ...{ model, server },
    ...isAddress && { at: at as unknown as NonNullable<ModelUsed["at"]> },
    ...positive("tokens"),
    ...positive("readSpeed"),
  };
}
