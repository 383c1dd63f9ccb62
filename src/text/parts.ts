/** Messages made of parts: the one place that writes parts into the text for a server. @module */

import type { ImagePart } from "../types/image.ts";
import type { Message, Part, ToolCall } from "../types/message.ts";

/** The text of `parts`, as servers get it: the same bytes for the same parts, without the images. */
export function textOfParts(parts: readonly Part[]): string {
  return parts.flatMap((part) => part.type === "image" ? [] : [textOfPart(part)]).join("\n\n");
}

function textOfPart(part: Exclude<Part, { type: "image" }>): string {
  if (part.type === "text" || part.kind === "note" || part.kind === "skill") return part.text;
  if (part.kind === "stdin") return echo("stdin", part.text);
  if (part.kind === "shell") return echo("shell", part.text, "command", part.name);
  return echo("file", part.text, "path", part.name);
}

/** The tags around what files and programs say: a call that a model repeats within them is none. */
export const ECHO_TAGS = ["file", "shell", "stdin", "toolresult", "skill", "page"] as const;

/** `text` in a tag, which may have an attribute. */
export function echo(
  tag: (typeof ECHO_TAGS)[number],
  text: string,
  attribute?: string,
  value?: string,
): string {
  const more = attribute === undefined ? "" : ` ${attribute}=${JSON.stringify(value)}`;
  return `<${tag}${more}>\n${text}\n</${tag}>`;
}

/** The parts of what a person sends: a text is one part. */
export function inputParts(input: string | readonly Part[]): readonly Part[] {
  return typeof input === "string" ? [{ type: "text", text: input }] : input;
}

/** A part that the program adds for the model; `name` says what it is about where it may have to go on. */
export function notePart(text: string, name = ""): Part {
  return { type: "resource", kind: "note", name, text };
}

/** The name of notes about plan mode, the newest of which is in force. */
export const PLAN_NOTE = "plan";

export function userMessage(input: string | readonly Part[]): Message {
  const parts = inputParts(input).map((part) =>
    part.type === "image" ? part : { ...part, text: part.text.toWellFormed() }
  );
  const isPlain = parts.every(({ type }) => type === "text");
  return { role: "user", content: textOfParts(parts), ...(!isPlain && { parts }) };
}

/** A part with the text of a skill. */
type SkillPart = Extract<Part, { type: "resource" }>;

/** The skills that stand in a message. */
export function skillsOf({ parts = [] }: Message): SkillPart[] {
  return parts.filter((part): part is SkillPart =>
    part.type === "resource" && part.kind === "skill"
  );
}

export function imagesOf({ parts = [] }: Pick<Message, "parts">): ImagePart[] {
  return parts.filter((part) => part.type === "image");
}

/** The message for a model that does not see: a line in place of each image. */
export function withoutImages(message: Message): Message {
  const images = imagesOf(message);
  if (images.length === 0) return message;
  const { parts: _, ...rest } = message;
  const lines = images.map(({ name }) => `[an image${name ? `, ${name}` : ""}: not shown]`);
  return { ...rest, content: [message.content, ...lines].join("\n").trim() };
}

/** The typed parts of a message; all its text where no part was typed. */
export function typedText({ parts = [], content }: Message): string {
  const typed = parts.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n\n");
  return typed.trim() === "" ? content : typed;
}

/** An id for a message that enters a conversation. */
export function newMessageId(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 16);
}

/** An id for a call that has none of its own. */
export function newCallId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

/** The calls, each with an id that is not in `taken`, to which the ids are added. */
export function withOwnIds(calls: readonly ToolCall[], taken: Set<string>): ToolCall[] {
  return calls.map((call) => {
    const id = taken.has(call.id) ? newCallId() : call.id;
    taken.add(id);
    return { ...call, id };
  });
}

/**
 * Gives each message from `start` on its id: one of its own, where it has none or one of `seen`, to which
 * the ids are added.
 */
export function identify(messages: Message[], start = 0, seen: Set<string> = new Set()): void {
  for (let i = start; i < messages.length; i++) {
    const message = messages[i]!;
    const id = message.id === undefined || seen.has(message.id) ? newMessageId() : message.id;
    // Callers may hold on to theirs, or have frozen it.
    if (id !== message.id) messages[i] = { ...message, id };
    seen.add(id);
  }
}
