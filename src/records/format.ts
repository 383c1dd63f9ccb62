/**
 * A session as lines of JSON: a head, then what was said, message by message. Pure.
 *
 * @module
 */

import { isObject } from "../text/json.ts";
import type { Message } from "../types/message.ts";

/** The first line. A reader leaves alone what it does not know, and refuses a later version. */
export interface Head {
  version: 1;
  /** The absolute folder that was worked in. */
  folder: string;
  /** When it began: ISO 8601. */
  started: string;
  /** The file of the session that this one goes on from, and what that began with. */
  continues?: string;
  title?: string;
}

/** What was asked: the model, and its server's host and port, which hold no secrets. */
export interface Used {
  model: string;
  server: string;
}

/** A line after the first: a message that was added, or all, where they are no longer what they were. */
export type Added = ({ message: Message } | { messages: Message[] }) & { used?: Used };

/** A session, read. */
export interface Stored {
  head: Head;
  messages: Message[];
  /** How many lines could not be read: the last one, where writing was cut off. */
  lost: number;
  /** What the first message said; it may be in a summary by now. */
  first: string;
  /** Of the newest messages. */
  used?: Used;
}

/** The line for a record. */
export function recordOf(record: Head | Added): string {
  return `${JSON.stringify(record)}\n`;
}

/**
 * Reads a session.
 *
 * @throws {SyntaxError} when the text is none, or of a later version.
 */
export function parseSession(text: string): Stored {
  const [first = "", ...lines] = text.split("\n");
  const head = parsed(first);
  if (typeof head?.folder !== "string" || typeof head.started !== "string") {
    throw new SyntaxError("It is no session");
  }
  if (typeof head.continues !== "string") delete head.continues;
  if (typeof head.title !== "string") delete head.title;
  if (head.version !== 1) {
    throw new SyntaxError(`It is of version ${JSON.stringify(head.version)}: 1 is known`);
  }
  let messages: Message[] = [];
  let lost = 0;
  let begun: string | undefined;
  let used: Used | undefined;
  for (const line of lines) {
    if (line === "") continue;
    const record = parsed(line);
    if (isMessage(record?.message)) messages.push(record.message);
    else if (Array.isArray(record?.messages) && record.messages.every(isMessage)) {
      messages = record.messages;
    } else lost++;
    begun ??= messages[0]?.content;
    if (isUsed(record?.used)) used = record.used;
  }
  return { head: head as unknown as Head, messages, lost, first: begun ?? "", ...used && { used } };
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isUsed(value: unknown): value is Used {
  return isObject(value) && typeof value.model === "string" && value.model !== "" &&
    typeof value.server === "string";
}

const ROLES = ["system", "user", "assistant", "tool"];

function isMessage(value: unknown): value is Message {
  return isObject(value) && ROLES.includes(value.role as string) &&
    typeof value.content === "string" &&
    (value.toolCalls === undefined ||
      Array.isArray(value.toolCalls) &&
        value.toolCalls.every((call) =>
          isObject(call) && typeof call.id === "string" && typeof call.name === "string" &&
          isObject(call.arguments)
        ));
}
