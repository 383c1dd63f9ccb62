/**
 * Finds tool calls in a text as it streams. Nothing in Markdown code or in finished reasoning is a
 * call.
 *
 * @module
 */

import { markerReader } from "../text/markers.ts";
import { thinkReader } from "../text/think.ts";
import type { ToolCall } from "../types/message.ts";
import type { CallContext, CallReader, Format } from "./format.ts";
import { formats } from "./formats/all.ts";

/** Options of {@linkcode extractToolCallsFromText} and {@linkcode toolCallFilter}. */
export interface ToolCallOptions {
  /**
   * The names of the tools offered in the request. Given them, nothing else is a call; without them,
   * any name is one, in the two basic formats.
   */
  tools?: readonly string[] | undefined;
  /** The JSON schemas of their arguments, by name: they type the values of formats without types. */
  schemas?: Readonly<Record<string, unknown>> | undefined;
  /** False to leave code blocks alone, as of a model that knows how to call natively: true. */
  fences?: boolean | undefined;
  /** False where think tags are text, as reasoning came apart: true. */
  thinkTags?: boolean | undefined;
  /** Makes the id of a call: `call_` and 24 random characters. */
  newId?: (() => string) | undefined;
}

/** A piece of what was scanned; the `text` of all parts is the text scanned. */
export type Part =
  /** Text, and reasoning with its tags. */
  | { kind: "text"; text: string }
  /** Calls, and what they were written as; `isBasic` in one of the two basic formats. */
  | { kind: "calls"; text: string; calls: ToolCall[]; isBasic: boolean }
  /** An end tag that makes all before it reasoning, and so no call. */
  | { kind: "retraction"; text: string };

/** A scanner of one text. */
export interface CallScanner {
  /** Takes the next piece; with `final`, it is the last. */
  push(piece: string, final: boolean): Part[];
  /** From here on, think tags are text. */
  ignoreTags(): void;
}

/** A scanner for the formats that `options` allow. */
export function callScanner(options: ToolCallOptions): CallScanner {
  const context: CallContext = {
    tools: options.tools && new Set(options.tools),
    schemas: options.schemas ?? {},
    newId: options.newId ?? randomId,
  };
  const scans = scanner(allowed(context.tools !== undefined, options.fences !== false), context);
  if (options.thinkTags === false) scans.ignoreTags();
  return scans;
}

const sets = new Map<string, readonly Format[]>();

/** Made once for all answers of a session: so are the lists of markers below. */
function allowed(names: boolean, fences: boolean): readonly Format[] {
  const key = `${names} ${fences}`;
  const known = sets.get(key) ??
    formats.filter((format) => (names || !format.needsNames) && (fences || !format.fences));
  sets.set(key, known);
  return known;
}

const markers = new WeakMap<readonly Format[], [literals: string[], fences: string[]]>();

function markersOf(formats: readonly Format[]): [literals: string[], fences: string[]] {
  let known = markers.get(formats);
  if (!known) {
    const own = formats.flatMap((format) => format.markers ?? []);
    known = [
      [...new Set([...ELEMENTS.keys(), ...ELEMENTS.values(), ...own])],
      [...new Set(formats.flatMap((format) => format.fences ?? []))],
    ];
    markers.set(formats, known);
  }
  return known;
}

function randomId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

/** A marker was read: what follows may be a call in the first of `formats`. */
interface Candidate {
  marker: string;
  formats: readonly Format[];
  reader: CallReader;
  isBasic: boolean;
  /** What its reader has read since the marker, and what is still to be read. */
  held: string;
  unread: string;
}

/** Within them, HTML shows what it does not mean, and a result of a tool holds what others wrote. */
const ELEMENTS = new Map([
  ...[
    "pre",
    "code",
    "samp",
    "blockquote",
    "textarea",
    "example",
    "tool_response",
    "tool_result",
    "file",
    "document",
  ]
    .flatMap((name) => [[`<${name}>`, `</${name}>`], [`<${name} `, `</${name}>`]] as const),
  ["<!--", "-->"],
]);

/** A scanner of text; `inThought`, of reasoning, where only what begins a line may be a call. */
function scanner(
  formats: readonly Format[],
  context: CallContext,
  inThought = false,
): CallScanner {
  const outside = thinkReader(...markersOf(formats));
  if (inThought) outside.ignoreTags();
  let candidate: Candidate | undefined;
  let thought: ThoughtScanner | undefined;
  /** The end tag of the HTML element that is open, and whether it is known to come. */
  let element: string | undefined;
  let isElement = false;
  const neverClosed = new Set<string>();
  let parts: Part[] = [];
  const mayStart = formats.some(({ startsWith }) => startsWith !== undefined);
  let atStart = mayStart;

  function addText(text: string): void {
    if (text === "") return;
    const last = parts.at(-1);
    if (last?.kind === "text") last.text += text;
    else parts.push({ kind: "text", text });
  }

  function add(more: Part[]): void {
    for (const part of more) parts.push(part);
  }

  /** By marker in lower case; a flood of markers is of few kinds. */
  const known = new Map<string, Format[]>();

  function formatsOf(marker: string): Format[] {
    const tag = marker.toLowerCase();
    const info = tag.match(/^(?:`{3,}|~{3,})\s*(.*?)\s*$/s)?.[1];
    if (info !== undefined) return formats.filter(({ fences }) => fences?.includes(info));
    let own = known.get(tag);
    if (own === undefined) {
      own = formats.filter(({ markers }) => markers?.some((one) => one.toLowerCase() === tag));
      known.set(tag, own);
    }
    return own;
  }

  /** A marker of our own was read. */
  function take(marker: string, isFirst: boolean, isQuoted: boolean): void {
    const found = isQuoted || isElement || inThought && !isFirst
      ? []
      : formatsOf(marker).filter((format) => !format.lineStart || isFirst);
    if (found.length > 0) {
      const [format, ...others] = element ? [quotation(element), ...found] : found;
      const reader = format!.read(marker, context);
      const isBasic = !format!.needsNames;
      candidate = { marker, formats: others, reader, isBasic, held: "", unread: outside.take() };
      return;
    }
    const tag = marker.toLowerCase();
    if (tag === element) {
      element = undefined;
      isElement = false;
    } else if (!element && !neverClosed.has(ELEMENTS.get(tag) ?? "")) element = ELEMENTS.get(tag);
    addText(marker);
    outside.keep(marker);
  }

  /** At the beginning of what is said: true when it may be nothing but calls. */
  function readStart(final: boolean): boolean | undefined {
    const text = outside.take();
    const blank = text.length - text.trimStart().length;
    const sign = text[blank];
    if (sign === undefined && !final) {
      outside.unread(text);
      return undefined;
    }
    atStart = false;
    const [format, ...others] = formats.filter((f) =>
      f.startsWith !== undefined && f.startsWith === sign
    );
    if (!format) {
      outside.unread(text);
      return false;
    }
    const marker = text.slice(0, blank);
    const reader = format.read("", context);
    const unread = text.slice(blank);
    candidate = { marker, formats: others, reader, isBasic: false, held: "", unread };
    return true;
  }

  /** Reads up to the next marker or tag; false: more text is needed. */
  function readText(final: boolean): boolean {
    if (atStart) {
      const isCandidate = readStart(final);
      if (isCandidate !== false) return isCandidate ?? false;
    }
    const token = outside.next(final);
    if (!token) {
      if (final && thought) add(thought.end(true));
      return false;
    }
    if (token.kind === "text") {
      addText(token.text);
      if (token.marker !== undefined) {
        take(token.marker, token.isFirst ?? false, token.isQuoted ?? false);
      }
    } else if (token.kind === "thought") {
      add(thought!.push(token.text));
    } else {
      if (thought) add(thought.end(false));
      thought = token.kind === "begin" ? thoughtScanner(formats, context) : undefined;
      atStart = mayStart && !thought;
      if (token.kind === "retraction") parts.push({ kind: "retraction", text: token.text });
      else addText(token.text);
    }
    return true;
  }

  function readCandidate(
    { marker, formats, reader, isBasic, held, unread }: Candidate,
    final: boolean,
  ): boolean {
    if (unread === "" && !final) return false;
    const verdict = reader.push(unread, final);
    held += unread;
    const [next, ...others] = formats;
    if (verdict === undefined) {
      candidate = { marker, formats, reader, isBasic, held, unread: "" };
      return false;
    }
    candidate = undefined;
    if (verdict === "text" && element) {
      neverClosed.add(element);
      element = undefined;
    }
    if (verdict === "text" && next) {
      candidate = {
        marker,
        formats: others,
        reader: next.read(marker, context),
        isBasic: !next.needsNames,
        held: "",
        unread: held,
      };
      return true;
    }
    const end = verdict === "text" ? 0 : verdict.end;
    if (verdict !== "text" && verdict.calls.length > 0) {
      const text = marker + held.slice(0, end);
      parts.push({ kind: "calls", text, calls: verdict.calls, isBasic });
      outside.drop();
    } else {
      isElement ||= verdict !== "text";
      addText(marker);
      outside.keep(marker);
    }
    outside.unread(held.slice(end));
    return true;
  }

  return {
    ignoreTags: outside.ignoreTags,
    push(piece, final) {
      parts = [];
      if (candidate) candidate.unread += piece;
      else outside.push(piece);
      while (candidate ? readCandidate(candidate, final) : readText(final));
      return parts;
    },
  };
}

/** Reads text after a marker within an HTML element: of no use as a call if `close` comes. */
function quotation(close: string): Format {
  return {
    name: "HTML element",
    read() {
      const reader = markerReader([close], { inCode: true });
      return {
        push(piece, final) {
          reader.push(piece);
          if (reader.next(final).marker !== undefined) return { calls: [], end: 0 };
          return final ? "text" : undefined;
        },
      };
    },
  };
}

interface ThoughtScanner {
  push(text: string): Part[];
  end(isUnfinished: boolean): Part[];
}

/**
 * Scans reasoning. Of reasoning that never ends, the calls in tags are calls that end it: nothing but
 * white space may be between them and after them, and each begins a line.
 */
function thoughtScanner(formats: readonly Format[], context: CallContext): ThoughtScanner {
  const inner = scanner(
    formats.filter((format) => !format.fences && format.startsWith === undefined),
    context,
    true,
  );
  let held: Part[] = [];
  function take(parts: Part[]): Part[] {
    const taken: Part[] = [];
    for (const part of parts) {
      if (part.kind === "calls" || held.length > 0 && part.text.trim() === "") held.push(part);
      else {
        for (const text of release()) taken.push(text);
        taken.push(part);
      }
    }
    return taken;
  }
  function release(): Part[] {
    const text = held.map((part) => part.text).join("");
    held = [];
    return text === "" ? [] : [{ kind: "text", text }];
  }
  return {
    push: (text) => take(inner.push(text, false)),
    end(isUnfinished) {
      const parts = take(inner.push("", true));
      return parts.concat(isUnfinished ? held : release());
    },
  };
}
