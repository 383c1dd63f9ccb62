/** Values that wire formats share: tool calls, results, the key. @module */

import { attempt } from "../attempt.ts";
import { imagesOf, withOwnIds } from "../text/parts.ts";
import type { ImagePart } from "../types/image.ts";
import type { Message, ToolCall } from "../types/message.ts";

/** The header for a server, or a proxy in front of it, that wants a key. */
export function keyHeader({ apiKey }: { apiKey: string }): Record<string, string> {
  return apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
}

/** The result of a tool that printed nothing. */
export const NO_OUTPUT = "(no output)";

/** A name that every server takes in its history, whatever the model made up. */
export function nameOnWire(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unknown";
}

/** The calls, each with an id that none of the others has, nor one of `used`. */
export function withUniqueIds(calls: readonly ToolCall[], used: Iterable<string> = []): ToolCall[] {
  return withOwnIds(calls, new Set(used).add(""));
}

/** The arguments as sent back: an object, also where the model wrote something else. */
export function argumentsOnWire(call: ToolCall): Record<string, unknown> {
  return call.invalid ? { invalid_json: call.invalid.text } : call.arguments;
}

/**
 * `value` as JSON text of well-formed Unicode: a lone surrogate, which servers refuse even as an
 * escape, becomes U+FFFD.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  if (!/\\ud[89a-f]/.test(text)) return text;
  // Whole escapes are stepped over, so that an escaped backslash before "ud800" stays as it is.
  return text.replace(/\\(?:ud[89a-f][0-9a-f]{2}|[^])/g, (m) => m.length === 6 ? "\ufffd" : m);
}

/** Arguments as text: some servers send the object itself. No JSON where it is nested too deep. */
export function argumentsText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  // Beyond some thousand levels, the stack overflows.
  return attempt(() => JSON.stringify(value)) ?? "(nested too deep)";
}

/**
 * The messages with the images of tool results in a user's message behind them: beside a result, most
 * servers and templates take text only.
 */
export function withResultImages(messages: readonly Message[]): readonly Message[] {
  if (!messages.some((message) => message.role === "tool" && message.parts)) return messages;
  let images: ImagePart[] = [];
  return messages.flatMap((message, i) => {
    if (message.role !== "tool") return [message];
    images.push(...imagesOf(message));
    if (messages[i + 1]?.role === "tool" || images.length === 0) return [message];
    const names = images.flatMap(({ name }) => name ? [` ${name}`] : []).join(",");
    const parts = images;
    images = [];
    return [message, { role: "user", content: `[Images of the results above:${names}]`, parts }];
  });
}
