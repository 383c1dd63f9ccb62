/**
 * What a textual format of tool calls is. Each has a file and a row in `formats.ts`.
 *
 * @module
 */

import type { ToolCall } from "../types/message.ts";

/** What is known of the request that a text answers. */
export interface CallContext {
  /** The names of the tools offered; undefined when nobody said. */
  readonly tools: ReadonlySet<string> | undefined;
  /** Their JSON schemas, by name. */
  readonly schemas: Readonly<Record<string, unknown>>;
  /** A new id. */
  newId(): string;
}

/**
 * The tool that `name` says, where it may be called: an offered one, with a namespace or without, or
 * any when the offered ones are not known.
 */
export function offeredName(name: string, { tools }: CallContext): string | undefined {
  if (!tools || tools.has(name)) return name || undefined;
  const short = name.replace(/^(?:functions|default_api|tools)\./, "");
  return tools.has(short) ? short : undefined;
}

/** A format. */
export interface Format {
  /** Its name, for those who read the table. */
  readonly name: string;
  /** What a call begins with: literal text, none the beginning of another. */
  readonly markers?: readonly string[];
  /** Info strings: the opening line of such a fenced block is what a call begins with. */
  readonly fences?: readonly string[];
  /** A message whose first sign this is may be nothing but calls. */
  readonly startsWith?: string;
  /** Recognised at the beginning of a line only. */
  readonly lineStart?: true;
  /** Recognised only when the offered names are known. */
  readonly needsNames?: true;
  /** Reads what follows `marker` (of a fence: its whole first line). */
  read(marker: string, context: CallContext): CallReader;
}

/** What a reader made of a text. */
export type Verdict =
  /** No call: the marker is text, and so is what follows unless another marker comes. */
  | "text"
  /** Calls, in the first `end` characters after the marker, which are removed. */
  | { calls: ToolCall[]; end: number };

/**
 * Reads one candidate as it streams. Must look at each character a bounded number of times, and
 * come to the same verdict wherever the text is cut into pieces.
 */
export interface CallReader {
  /**
   * Takes the next piece; with `final`, it is the last. Undefined while the verdict is open, which it
   * never is at the end, and no longer than needed.
   */
  push(piece: string, final: boolean): Verdict | undefined;
}
