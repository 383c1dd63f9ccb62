/** Messages as JSON in a record. They are read with care, because the file may have been edited. @module */

import { deeperThan, isObject } from "../text/json.ts";
import { textOfParts } from "../text/parts.ts";
import type { Message, Part } from "../types/message.ts";

/** Returns the message to write, without text that its parts repeat. A stored image is its hash. */
export function messageToRecord(message: Message): Record<string, unknown> {
  const { content, parts, ...rest } = message;
  if (!parts) return { ...message };
  const written = parts.map((part) => {
    if (part.type !== "image" || part.hash === undefined) return part;
    const { data: _, ...reference } = part;
    return reference;
  });
  return { ...rest, ...textOfParts(parts) !== content && { content }, parts: written };
}

export function messageFromRecord(value: unknown): Message | undefined {
  if (!isObject(value) || deeperThan(value, MAX_MESSAGE_DEPTH)) return undefined;
  const { parts, content = isParts(parts) ? textOfParts(parts) : undefined } = value;
  const fields = Object.entries({ ...value, content }).filter(([name, field]) =>
    Object.hasOwn(FIELDS, name) && field !== undefined
  );
  const isWhole = value.role !== undefined && content !== undefined &&
    fields.every(([name, field]) => FIELDS[name as keyof Message](field));
  return isWhole ? Object.fromEntries(fields) as unknown as Message : undefined;
}

/** Code that walks deeper values would overflow the stack. */
const MAX_MESSAGE_DEPTH = 500;
const ROLES = ["system", "user", "assistant", "tool"];
const RESOURCES = ["file", "folder", "shell", "stdin", "note", "skill"];
const isString = (value: unknown): value is string => typeof value === "string";
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";

const FIELDS: Record<keyof Message, (value: unknown) => boolean> = {
  id: isString,
  role: (value) => ROLES.includes(value as string),
  content: isString,
  parts: isParts,
  toolCalls: (value) => Array.isArray(value) && value.every(isToolCall),
  toolCallId: isString,
  toolName: isString,
  toolAccess: isString,
  isError: isBoolean,
  standsFor: isString,
  reasoning: isString,
  hostedBlocks: (value) => Array.isArray(value) && value.every(isHostedBlock),
};

function isToolCall(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { id, name, arguments: args, invalid, recovered } = value;
  return isString(id) && isString(name) && isObject(args) &&
    (recovered === undefined || isBoolean(recovered)) &&
    (invalid === undefined ||
      isObject(invalid) && isString(invalid.text) && isString(invalid.reason));
}

function isHostedBlock(value: unknown): boolean {
  if (!isObject(value) || !isString(value.type)) return false;
  if (value.type === "text") return isString(value.text);
  const { thinking = "", signature } = value;
  return value.type !== "thinking" || isString(thinking) && isString(signature);
}

function isParts(value: unknown): value is Part[] {
  return Array.isArray(value) && value.every(isPart);
}

function isPart(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { type, kind, name, text, mediaType, data, hash, files = [] } = value;
  if (type === "image") {
    const isReference = data === undefined && isString(hash) && /^[0-9a-f]{64}$/.test(hash);
    return isString(mediaType) && /^image\/[\w.+-]+$/.test(mediaType) &&
      (isReference || isString(data) && isBase64(data)) && (name === undefined || isString(name));
  }
  if (!isString(text)) return false;
  return type === "text" ||
    type === "resource" && isString(name) && RESOURCES.includes(kind as string) &&
      Array.isArray(files) && files.every(isString);
}

const isBase64 = (data: string) => data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
