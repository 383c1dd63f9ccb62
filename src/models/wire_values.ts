/** Values that wire formats share: tool calls, results, the key. @module */

import { attempt } from "../attempt.ts";
import { imagesOf, newCallId } from "../text/parts.ts";
import type { ImagePart } from "../types/image.ts";
import type { Message, ToolCall } from "../types/message.ts";

/** Returns the header for a server, or a proxy before it, that requires a key. */
export function keyHeader({ apiKey }: { apiKey: string }): Record<string, string> {
  return apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
}

export const NO_OUTPUT = "(no output)";

/** Returns a name that every server accepts in its history, for any name from a model. */
export function nameOnWire(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unknown";
}

/** Returns the calls with unique ids that are not in `used`. */
export function withUniqueIds(calls: readonly ToolCall[], used: Iterable<string> = []): ToolCall[] {
  const taken = new Set(used).add("");
  return calls.map((call) => {
    const id = taken.has(call.id) ? newCallId() : call.id;
    taken.add(id);
    return { ...call, id };
  });
}

/** Returns the arguments to send back: always an object. */
export function argumentsOnWire(call: ToolCall): Record<string, unknown> {
  return call.invalid ? { invalid_json: call.invalid.text } : call.arguments;
}

/** Returns `value` as JSON. A lone surrogate becomes U+FFFD: servers reject it even as an escape. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  if (!/\\ud[89a-f]/.test(text)) return text;
  // Matching all escapes preserves an escaped backslash before "ud800" unchanged.
  return text.replace(/\\(?:ud[89a-f][0-9a-f]{2}|[^])/g, (m) => m.length === 6 ? "\ufffd" : m);
}

/** Returns arguments as text, because some servers send the object itself; invalid JSON if it is nested too deeply. */
export function argumentsText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  // Several thousand levels overflow the stack.
  return attempt(() => JSON.stringify(value)) ?? "(nested too deep)";
}

/** Moves images of results to a user message behind them: most servers accept only text in a result. */
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
