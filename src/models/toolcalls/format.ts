/** The shape of a textual format of tool calls. Each has a file, and a row in `formats/all.ts`. @module */

import { bareName } from "../../text/bare_name.ts";
import { isAlias } from "../../text/tool_aliases.ts";
import type { ToolCall } from "../../types/message.ts";

export interface CallContext {
  /** The names of the offered tools; undefined if the caller does not know them. */
  readonly tools: ReadonlySet<string> | undefined;
  readonly schemas: Readonly<Record<string, unknown>>;
  newId(): string;
  /** True if the marks around a call are certain, so that other spellings of a name count. */
  readonly isMarked?: boolean;
  /** True if the marks belong only to calls, so that even a tool that is not offered is called. */
  readonly mayBeUnknown?: boolean;
}

/** Namespaces that some formats and models put before a tool's name. */
export const NAMESPACE = /^(?:functions|default_api|tools)\./;

/** Returns the offered tool `name`, also with a namespace; any name if all are unknown. `mayBeWord`: also a plain word. */
export function offeredName(
  name: string,
  { tools, isMarked, mayBeUnknown }: CallContext,
  mayBeWord = false,
): string | undefined {
  if (!tools || tools.has(name)) return name || undefined;
  const short = name.replace(NAMESPACE, "");
  if (tools.has(short)) return short;
  const unglued = short.replace(/(?:json|code)$/, "");
  if (isMarked && tools.has(unglued)) return unglued;
  if (!isMarked) return undefined;
  const bare = bareName(short);
  const same = bare.length > 3 ? [...tools].find((one) => bareName(one) === bare) : undefined;
  // Another agent's name stays, because the arguments decide which tool it means.
  const isKnown = isAlias(short, tools, mayBeWord) ||
    mayBeUnknown && tools.size > 0 && UNKNOWN_NAME.test(short);
  return same ?? (isKnown ? short : undefined);
}

/** The name of a tool that is not offered. The model learns which tools exist. */
const UNKNOWN_NAME = /^[A-Za-z_][\w.:-]{1,80}$/;

/** True for a name that no tool has, neither ours nor another agent's. */
export function isUnknown(name: string, context: CallContext): boolean {
  return offeredName(name, { ...context, mayBeUnknown: false }) === undefined;
}

/** Returns the required arguments of a tool with placeholders; if unknown, the path of a file. */
export function exampleArguments(name: string, { schemas }: CallContext): [string, string][] {
  const { required } = (schemas[name] ?? {}) as { required?: unknown };
  const keys = Array.isArray(required) && required.length > 0 ? required.map(String) : ["path"];
  return keys.map((key) => [key, "..."]);
}

export function exampleJson(name: string, context: CallContext): string {
  return JSON.stringify({ name, arguments: Object.fromEntries(exampleArguments(name, context)) });
}

/** A format in which models write calls into their text. */
export interface CallFormat {
  /** The markers that start a call. No marker is the start of another one. */
  readonly markers?: readonly string[];
  /** Info strings. The opening line of such a fenced block starts a call. */
  readonly fences?: readonly string[];
  /** The first character of a message that may contain only calls. */
  readonly startsWith?: string;
  /** True to recognise it only at the start of a line. */
  readonly lineStart?: true;
  /** True without marks of a call, so that the surrounding text may make it an example, as with a code block. */
  readonly isUnmarked?: true;
  /** True to recognise it also if the offered names are unknown (spec 4.6). */
  readonly isBasic?: true;
  /** Returns a correct call of the tool `name`, for a model that wrote a broken one. */
  example?(name: string, args: [key: string, value: string][]): string;
  /** Reads the text after `marker` (of a fence: after its whole first line). */
  read(marker: string, context: CallContext): CallReader;
}

/** Returns a reader that skips a match of `lead` and then uses `make`. `begun` matches the starts of `lead`. */
export function readerBehind(
  lead: RegExp,
  begun: RegExp,
  make: (match: RegExpExecArray) => CallReader,
): CallReader {
  let text = "";
  let length = 0;
  let inner: CallReader | undefined;
  return {
    push(piece, final) {
      if (!inner) {
        text += piece;
        const match = lead.exec(text);
        if (!match) return !final && begun.test(text) ? undefined : "text";
        length = match[0].length;
        piece = text.slice(length);
        inner = make(match);
      }
      const verdict = inner.push(piece, final);
      return typeof verdict === "object" ? { ...verdict, end: length + verdict.end } : verdict;
    },
  };
}

export type CandidateVerdict =
  /** Not a call: the marker is text, and so is the rest up to the next marker. */
  | "text"
  /** Calls in the first `end` characters after the marker, which are removed. */
  | { calls: ToolCall[]; end: number };

/** Reads one candidate in linear time. The verdict does not depend on how the text is split. */
export interface CallReader {
  /** Reads the next piece; undefined while undecided, but never after the `final` piece. */
  push(piece: string, final: boolean): CandidateVerdict | undefined;
}
