/** Messages made of parts: the only place that converts parts to the text for a server. @module */

import type { ImagePart } from "../types/image.ts";
import type { Message, Part } from "../types/message.ts";

/** Returns the text of `parts` for servers: the same bytes for the same parts, without the images. */
export function textOfParts(parts: readonly Part[]): string {
  return parts.flatMap((part) => part.type === "image" ? [] : [textOfPart(part)]).join("\n\n");
}

function textOfPart(part: Exclude<Part, { type: "image" }>): string {
  if (part.type === "text" || part.kind === "note" || part.kind === "skill") return part.text;
  if (part.kind === "stdin") return echo("stdin", part.text);
  if (part.kind === "shell") return echo("shell", part.text, "command", part.name);
  return echo("file", part.text, "path", part.name);
}

/** The tags around text of files and programs. A call that a model repeats inside them is not a call. */
export const ECHO_TAGS = ["file", "shell", "stdin", "toolresult", "skill", "page"] as const;

export function echo(
  tag: (typeof ECHO_TAGS)[number],
  text: string,
  attribute?: string,
  value?: string,
): string {
  const more = attribute === undefined ? "" : ` ${attribute}=${JSON.stringify(value)}`;
  return `<${tag}${more}>\n${text}\n</${tag}>`;
}

/** Marks that could make foreign text look like its end, a tool's result, or another speaker. */
const FRAMES =
  /<(?=[|｜]|\/?(?:page|shell|toolresult|tool_call|tool_response|function_call|start_of_turn|end_of_turn|system|think)\b)|\[(?=\/?(?:INST|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT)\])/gi;

export const harmless = (text: string): string =>
  text.replace(FRAMES, (sign) => sign === "<" ? "&lt;" : "&#91;");

/** Returns the parts of a user's input. A text is one part. */
export function inputParts(input: string | readonly Part[]): readonly Part[] {
  return typeof input === "string" ? [{ type: "text", text: input }] : input;
}

/** Returns a part that the program adds for the model. `name` is its subject, to find it again. */
export function notePart(text: string, name = ""): Part {
  return { type: "resource", kind: "note", name, text };
}

/** The name of notes about plan mode. The newest one is in force. */
export const PLAN_NOTE = "plan";

/** Returns a message of the user, or a reminder if only the program wrote it. */
export function userMessage(input: string | readonly Part[]): Message {
  const parts = inputParts(input).map((part) =>
    part.type === "image" ? part : { ...part, text: part.text.toWellFormed() }
  );
  const isPlain = parts.every(({ type }) => type === "text");
  const isNote = parts.length > 0 &&
    parts.every((part) => part.type === "resource" && part.kind === "note" && part.name === "");
  const message: Message = { role: "user", content: textOfParts(parts), ...!isPlain && { parts } };
  return isNote ? { ...message, standsFor: "reminder" } : message;
}

/** Returns the text of a message that an extension sent to the model, such as that a check failed. */
export const extensionNote = ({ role, standsFor, parts, content }: Message) =>
  role === "user" && standsFor === "reminder" && parts ? content.slice(1, -1) : undefined;

type SkillPart = Extract<Part, { type: "resource" }>;

export function skillsOf({ parts = [] }: Message): SkillPart[] {
  return parts.filter((part): part is SkillPart =>
    part.type === "resource" && part.kind === "skill"
  );
}

export function imagesOf({ parts = [] }: Pick<Message, "parts">): ImagePart[] {
  return parts.filter((part) => part.type === "image");
}

/** Returns the message for a model without vision: a line replaces each image. */
export function withoutImages(message: Message): Message {
  const images = imagesOf(message);
  if (images.length === 0) return message;
  const { parts: _, ...rest } = message;
  const lines = images.map(({ name }) => `[an image${name ? `, ${name}` : ""}: not shown]`);
  return { ...rest, content: [message.content, ...lines].join("\n").trim() };
}

/** True for a message that the user sent, not one that the program wrote in their place. */
export const isTyped = ({ role, standsFor }: Message): boolean =>
  role === "user" && standsFor === undefined;

/** Returns the typed parts of a message, or all its text if it has no typed part. */
export function typedText({ parts = [], content }: Message): string {
  const typed = typedIn(parts);
  return typed.trim() === "" ? content : typed;
}

export const typedIn = (parts: readonly Part[]): string =>
  parts.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n\n");

export function newMessageId(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 16);
}

export function newCallId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

/** Gives each message a new id if it has none, or that of one before it. */
export function identify(messages: Message[]): void {
  const seen = new Set<string>();
  for (const [i, message] of messages.entries()) {
    const id = message.id === undefined || seen.has(message.id) ? newMessageId() : message.id;
    // Callers may still use their messages, or have frozen them.
    if (id !== message.id) messages[i] = { ...message, id };
    seen.add(id);
  }
}
