/**
 * The format of a stored session: lines of JSON, a head and then entries in order. Lines are only appended. A message
 * continues the conversation. After a compaction, `/undo` or `/clear`, an entry lists its messages. Pure.
 *
 * @module
 */

import type { ModelTarget } from "../models/target.ts";
import { isObject, jsonOrUndefined } from "../text/json.ts";
import { textOfParts, typedText } from "../text/parts.ts";
import type { Message } from "../types/message.ts";
import type { ExecutionFacts } from "./execution.ts";
import { cutAnswer } from "./repair.ts";

const RECORD_VERSION = 2;

/** The first line. A reader ignores unknown fields. */
export interface RecordHead {
  version: number;
  folder: string;
  /** When the conversation started, also that of a copy. */
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

export interface AddedMessage {
  message: Message;
  execution?: ExecutionFacts | undefined;
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

type RecordLine = RecordEntry | { partial: string | null } | { title: string };

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

/** Leaves out text that the parts of a message repeat. */
function shownMessage({ message, execution }: AddedMessage) {
  const { content, ...rest } = message;
  const isRepeated = rest.parts && textOfParts(rest.parts) === content;
  return { message: isRepeated ? rest : message, execution };
}

export function parseHead(line: string): RecordHead {
  const head = parsedLine(line);
  if (typeof head?.folder !== "string" || typeof head.started !== "string") {
    throw new SyntaxError("Cannot read the file as it is not a copilot session");
  }
  if (head.version !== RECORD_VERSION) {
    const is = JSON.stringify(head.version);
    throw new SyntaxError(
      `Cannot read the session as its version must be ${RECORD_VERSION}: it is ${is}`,
    );
  }
  return head as unknown as RecordHead;
}

/** Reads a record as it was written: only this program writes it, and a torn line is no JSON. */
export function parseRecord(text: string): ParsedRecord {
  const [first = "", ...lines] = text.split("\n");
  const head = parseHead(first);
  const all = new Map<string, Message>();
  const executions = new Map<string, ExecutionFacts>();
  const found: Pick<ParsedRecord, "used" | "mode"> = {};
  let [messages, lost, begun]: [Message[], number, string | undefined] = [[], 0, undefined];
  let unfinished = "";
  for (const line of lines) {
    if (line === "") continue;
    const entry = parsedLine(line) as RecordLine | undefined;
    if (entry === undefined) lost++;
    else if ("title" in entry) head.title = entry.title;
    else unfinished = "partial" in entry && entry.partial ? unfinished + entry.partial : "";
    if (entry === undefined || !("message" in entry || "conversation" in entry)) continue;
    const added = "message" in entry ? [entry] : entry.added ?? [];
    for (const { message: written, execution } of added) {
      const message = { ...written, content: written.content ?? textOfParts(written.parts ?? []) };
      all.set(message.id!, message);
      messages.push(message);
      if (execution) executions.set(message.toolCallId!, execution);
    }
    if ("conversation" in entry) {
      // A message on a lost line is dropped.
      messages = entry.conversation.flatMap((id) => all.get(id) ?? []);
    }
    // After an `/undo` of all, another conversation begins.
    begun = messages[0] && (begun ?? typedText(messages[0]));
    if (entry.used) found.used = entry.used;
    if (entry.mode !== undefined) found.mode = entry.mode;
  }
  const cut = messages.length > 0 && cutAnswer(unfinished);
  return {
    head,
    messages: cut ? [...messages, cut] : messages,
    lost,
    first: begun ?? "",
    executions,
    ids: new Set(all.keys()),
    endsInLine: lines.at(-1) === "",
    ...found.used && { used: found.used },
    ...found.mode && { mode: found.mode },
  };
}

function parsedLine(line: string): Record<string, unknown> | undefined {
  const value = jsonOrUndefined(line);
  return isObject(value) ? value : undefined;
}
