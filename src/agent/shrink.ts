/** Shortens a conversation without a model. Pure: messages are replaced, never changed. @module */

import { imagesOf, newMessageId, skillsOf } from "../text/parts.ts";
import { truncateMiddle } from "../text/truncate.ts";
import type { Message } from "../types/message.ts";

export type MessageSize = (message: Message) => number;

export function sizeOf(messages: readonly Message[], size: MessageSize): number {
  return messages.reduce((sum, message) => sum + size(message), 0);
}

/** The messages, and how many of them were shortened. */
type Shrunk = [messages: readonly Message[], count: number];
const MIN_RESULT_CHARS = 200;

/** Shortens the unread results, each to its share of the room beside calls and message; to 3/4 of `most` tokens in all. */
export function cutUnreadResults(
  messages: readonly Message[],
  most: number,
  size: MessageSize,
): Shrunk {
  const first = firstUnread(messages);
  const results = messages.slice(first);
  const others = [messages[newestOfUser(messages)], messages[first - 1]];
  const room = most * 0.75 - sizeOf(others.filter((message) => message !== undefined), size);
  if (sizeOf(results, size) <= room) return [messages, 0];
  const share = room / results.length;
  return mapSome(messages, (message, i) => {
    const tokens = size(message);
    if (i < first || tokens <= share) return message;
    const chars = Math.max(MIN_RESULT_CHARS, Math.floor(message.content.length * share / tokens));
    return withContent(message, truncateMiddle(message.content, chars, cutNotice));
  });
}

const cutNotice = (chars: number): string =>
  `\n[... ${chars} characters left out, as the model's context has no room for them: ask for a part ...]\n`;

/** Replaces old results by one line, oldest first, until `messages` take `wanted` tokens. */
export function stubOldResults(
  messages: readonly Message[],
  wanted: number,
  size: MessageSize,
): Shrunk {
  const first = firstUnread(messages);
  let total = sizeOf(messages, size);
  return mapSome(messages, (message, i) => {
    const { role, content, toolName = "the tool" } = message;
    if (role !== "tool" || i >= first || total <= wanted) return message;
    if (skillsOf(message).length > 0) return message;
    const what = `${content.split("\n").length} lines, ${content.length} characters`;
    const text = `[Left out to make room: ${what}. Call ${toolName} again if they are needed.]`;
    const stub = withContent(message, text);
    // A short result, such as an earlier note of this kind, saves too little.
    if (imagesOf(message).length === 0 && stub.content.length > content.length / 2) return message;
    total -= size(message) - size(stub);
    return stub;
  });
}

/**
 * Returns the index from which the messages take at most `budget` tokens, always including the user's newest
 * message. It is the index of a user message, or of an answer in the newest turn; the last such index if none
 * fits.
 */
export function startOfNewest(
  messages: readonly Message[],
  budget: number,
  size: MessageSize,
): number {
  const newest = newestOfUser(messages);
  let start = messages.length;
  let total = 0;
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]!;
    total += size(message);
    if (i <= newest ? !isFromUser(message) : message.role !== "assistant") continue;
    const whole = total + (i > newest && newest !== -1 ? size(messages[newest]!) : 0);
    if (start < messages.length && whole > budget) break;
    start = i;
  }
  return start;
}

/** Returns the index of the user's newest message, or -1. */
export function newestOfUser(messages: readonly Message[]): number {
  return messages.findLastIndex(isFromUser);
}

export function isFromUser({ role, standsFor }: Message): boolean {
  return role === "user" && standsFor !== "reminder";
}

/** Returns the index of the first result that the model has not read, or the number of messages. */
function firstUnread(messages: readonly Message[]): number {
  return messages.findLastIndex(({ role }) => role !== "tool") + 1;
}

/** Returns a new message that replaces another one. */
function withContent({ parts: _, ...message }: Message, content: string): Message {
  return { ...message, id: newMessageId(), content };
}

function mapSome(
  messages: readonly Message[],
  change: (message: Message, i: number) => Message,
): Shrunk {
  const changed = messages.map(change);
  return [changed, changed.filter((one, i) => one !== messages[i]).length];
}
