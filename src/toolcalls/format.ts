/** The shape of a textual format of tool calls: each is a file and a row in `formats/all.ts`. @module */

import { bareName } from "../text/bare_name.ts";
import { isAlias } from "../text/tool_aliases.ts";
import type { ToolCall } from "../types/message.ts";

export interface CallContext {
  /** The names of the tools offered; undefined where the caller does not know them. */
  readonly tools: ReadonlySet<string> | undefined;
  /** Their JSON schemas, by name. */
  readonly schemas: Readonly<Record<string, unknown>>;
  newId(): string;
  /** True where marks around a call leave no doubt, so that a name may be spelled in another way. */
  readonly isMarked?: boolean;
}

/** Namespaces that some formats, and models of their own accord, put before a tool's name. */
export const NAMESPACE = /^(?:functions|default_api|tools)\./;

/**
 * The offered tool named `name`, perhaps with a namespace; any, where the offered are not known.
 * `mayBeWord`: also a plain word that may mean one, which the arguments are then to show.
 */
export function offeredName(
  name: string,
  { tools, isMarked }: CallContext,
  mayBeWord = false,
): string | undefined {
  if (!tools || tools.has(name)) return name || undefined;
  const short = name.replace(NAMESPACE, "");
  if (tools.has(short)) return short;
  if (!isMarked) return undefined;
  const bare = bareName(short);
  const same = bare.length > 3 ? [...tools].find((one) => bareName(one) === bare) : undefined;
  // Another agent's name stays: which of ours it means, the arguments decide.
  return same ?? (isAlias(short, tools, mayBeWord) ? short : undefined);
}

/** A way in which models write calls into their text. */
export interface CallFormat {
  /** The texts that begin a call, none the beginning of another. */
  readonly markers?: readonly string[];
  /** Info strings: the opening line of such a fenced block begins a call. */
  readonly fences?: readonly string[];
  /** A message that begins with this sign may be nothing but calls. */
  readonly startsWith?: string;
  /** Recognised at the beginning of a line only. */
  readonly lineStart?: true;
  /** Without marks of a call, so that the text around it may only show it, as around a code block. */
  readonly isUnmarked?: true;
  /** Recognised also where the offered names are not known (spec 4.6). */
  readonly isBasic?: true;
  /** Reads the text behind `marker` (of a fence: behind its whole first line). */
  read(marker: string, context: CallContext): CallReader;
}

export type CandidateVerdict =
  /** No call: the marker is text, and so is what follows unless another marker comes. */
  | "text"
  /** Calls, in the first `end` characters after the marker, which are removed. */
  | { calls: ToolCall[]; end: number };

/** Reads one candidate in linear time; the verdict is the same wherever the text is cut into pieces. */
export interface CallReader {
  /** Takes the next piece; undefined while the verdict is open, never after the `final` one. */
  push(piece: string, final: boolean): CandidateVerdict | undefined;
}
