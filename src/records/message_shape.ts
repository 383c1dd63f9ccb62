/** Messages as JSON in a record: read with care, as anybody may have edited the file. @module */

import { isObject } from "../text/json.ts";
import { textOfParts } from "../text/parts.ts";
import type { Message, Part } from "../types/message.ts";

/** The message as it is written: text that its parts make up is not written twice. */
export function messageToRecord(message: Message): Partial<Message> {
  const { content, ...rest } = message;
  return message.parts && textOfParts(message.parts) === content ? rest : message;
}

/** The message that `value` is, if it is one. */
export function messageFromRecord(value: unknown): Message | undefined {
  if (!isObject(value) || !ROLES.includes(value.role as string)) return undefined;
  const { id, parts, toolCalls, content = isParts(parts) ? textOfParts(parts) : undefined } = value;
  const isWhole = typeof content === "string" &&
    (id === undefined || typeof id === "string") &&
    (parts === undefined || isParts(parts)) &&
    (toolCalls === undefined || Array.isArray(toolCalls) && toolCalls.every(isToolCall));
  return isWhole ? { ...value, content } as Message : undefined;
}

const ROLES = ["system", "user", "assistant", "tool"];
const RESOURCES = ["file", "folder", "shell", "stdin", "note"];

function isToolCall(value: unknown): boolean {
  return isObject(value) && typeof value.id === "string" && typeof value.name === "string" &&
    isObject(value.arguments);
}

function isParts(value: unknown): value is Part[] {
  return Array.isArray(value) && value.every(isPart);
}

function isPart(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { type, kind, name, text, mediaType, data } = value;
  if (type === "image") return typeof mediaType === "string" && typeof data === "string";
  if (typeof text !== "string") return false;
  return type === "text" ||
    type === "resource" && typeof name === "string" && RESOURCES.includes(kind as string);
}
