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
  /** True where the marks are those of calls alone, so that even a tool that is not offered is called. */
  readonly mayBeUnknown?: boolean;
}

/** Namespaces that some formats, and models of their own accord, put before a tool's name. */
export const NAMESPACE = /^(?:functions|default_api|tools)\./;

/**
 * The offered tool named `name`, perhaps with a namespace; any, where the offered are not known.
 * `mayBeWord`: also a plain word that may mean one, which the arguments are then to show.
 */
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
  // Another agent's name stays: which of ours it means, the arguments decide.
  const isKnown = isAlias(short, tools, mayBeWord) ||
    mayBeUnknown && tools.size > 0 && UNKNOWN_NAME.test(short);
  return same ?? (isKnown ? short : undefined);
}

/** The name of a tool that nobody offered; the model is told which there are. */
const UNKNOWN_NAME = /^[A-Za-z_][\w.:-]{1,80}$/;

/** True for a name that is neither a tool's nor another agent's for one. */
export function isUnknown(name: string, context: CallContext): boolean {
  return offeredName(name, { ...context, mayBeUnknown: false }) === undefined;
}

/** The required arguments of a tool with values to fill in, to show a right call: the path of a file, if unknown. */
export function exampleArguments(name: string, { schemas }: CallContext): [string, string][] {
  const { required } = (schemas[name] ?? {}) as { required?: unknown };
  const keys = Array.isArray(required) && required.length > 0 ? required.map(String) : ["path"];
  return keys.map((key) => [key, "..."]);
}

/** A call as JSON, to show a right one. */
export function exampleJson(name: string, context: CallContext): string {
  return JSON.stringify({ name, arguments: Object.fromEntries(exampleArguments(name, context)) });
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
  /** A right call of the tool `name`, to show a model that wrote a broken one. */
  example?(name: string, args: [key: string, value: string][]): string;
  /** Reads the text behind `marker` (of a fence: behind its whole first line). */
  read(marker: string, context: CallContext): CallReader;
}

/** Reads what `make` reads behind a beginning that `lead` matches, and `begun` the beginnings of. */
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
  /** No call: the marker is text, and so is what follows unless another marker comes. */
  | "text"
  /** Calls, in the first `end` characters after the marker, which are removed. */
  | { calls: ToolCall[]; end: number };

/** Reads one candidate in linear time; the verdict is the same wherever the text is cut into pieces. */
export interface CallReader {
  /** Takes the next piece; undefined while the verdict is open, never after the `final` one. */
  push(piece: string, final: boolean): CandidateVerdict | undefined;
}
