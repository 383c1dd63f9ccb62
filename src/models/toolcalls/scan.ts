/** Finds tool calls in streamed text, except in Markdown code or finished reasoning. @module */

import { foldMarker, MarkerReader } from "../../text/markers.ts";
import { ECHO_TAGS, newCallId } from "../../text/parts.ts";
import { ThinkReader } from "../../text/think.ts";
import type { ToolCall } from "../../types/message.ts";
import type { CallContext, CallFormat, CallReader } from "./format.ts";
import { formats } from "./formats/all.ts";

/** Options of {@linkcode extractToolCallsFromText} and {@linkcode ToolCallFilter}. */
export interface ToolCallOptions {
  /** The names of the offered tools. Without them, any name counts, in the two basic formats. */
  tools?: readonly string[] | undefined;
  /** The JSON schemas of their arguments by name, for formats without types. */
  schemas?: Readonly<Record<string, unknown>> | undefined;
  /** False if code blocks are never calls. Default: true. */
  fences?: boolean | undefined;
  /** False if think tags are text, because the server sends reasoning in its own field. Default: true. */
  thinkTags?: boolean | undefined;
  /** Creates the id of a call: `call_` and 24 random characters. */
  newId?: (() => string) | undefined;
}

/** A piece of the scanned text. The `text` of all parts adds up to it. */
export type ScannedPart =
  | { kind: "text"; text: string }
  /** Calls with their written text. `isBasic`: in one of the two basic formats. */
  | { kind: "calls"; text: string; calls: ToolCall[]; isBasic: boolean; isFenced: boolean }
  /** An end tag that turns everything before it into reasoning, which contains no calls. */
  | { kind: "retraction"; text: string };

export function callScanner(options: ToolCallOptions): FormatScanner {
  const context: CallContext = {
    tools: options.tools && new Set(options.tools),
    schemas: options.schemas ?? {},
    newId: options.newId ?? newCallId,
  };
  const scanner = new FormatScanner(
    formatSet({ names: context.tools !== undefined, fences: options.fences !== false }),
    context,
  );
  if (options.thinkTags === false) scanner.ignoreTags();
  return scanner;
}

/** The formats to look for and their markers, without those that the options exclude. */
type FormatSet = { formats: readonly CallFormat[]; literals: string[]; fences: string[] };
type FormatChoice = { names: boolean; fences: boolean; starts?: boolean };
/** Created once for all answers. */
const formatSets = new Map<string, FormatSet>();

function formatSet({ names, fences, starts = true }: FormatChoice): FormatSet {
  const key = `${names} ${fences} ${starts}`;
  const known = formatSets.get(key);
  if (known) return known;
  const own = formats.filter((format) =>
    (names || format.isBasic) && (fences || !format.fences) && (starts || !format.startsWith)
  );
  const markers = own.flatMap((format) => format.markers ?? []);
  const set = {
    formats: own,
    literals: [...new Set([...ELEMENTS.keys(), ...ELEMENTS.values(), ...markers])],
    fences: [...new Set(own.flatMap((format) => format.fences ?? []))],
  };
  formatSets.set(key, set);
  return set;
}

interface Candidate {
  marker: string;
  written: string;
  reader: CallReader;
  isBasic: boolean;
  isFenced: boolean;
  formats: readonly CallFormat[];
  /** The text after the marker that `reader` has read, and the text still to read. */
  pending: string;
  unread: string;
}

const CALL_MARKER =
  /^(?:<\W|<[\w-]*:|<(?:toolcall|tool_calls?|function|invoke)\b|\[(?:tool_call|calling tool))/;

/** HTML elements whose content is not a call: it is an example, or quoted. */
const ELEMENTS = new Map([
  ...["pre", "code", "samp", "blockquote", "textarea", "example"]
    .concat(ECHO_TAGS, "tool_response", "tool_result", "document")
    .flatMap((name) => [[`<${name}>`, `</${name}>`], [`<${name} `, `</${name}>`]] as const),
  ["<!--", "-->"],
]);

/** Scans text or, with `inThought`, reasoning, in which only a marker at the start of a line counts. */
export class FormatScanner {
  readonly #formats: readonly CallFormat[];
  readonly #reader: ThinkReader;
  #candidate: Candidate | undefined;
  #thought: ThoughtScanner | undefined;
  /** The end tag of the open HTML element, and true once a candidate has found that tag ahead. */
  #elementEnd: string | undefined;
  #isElementClosed = false;
  readonly #neverClosed = new Set<string>();
  #parts: ScannedPart[] = [];
  /** True if a format starts with the first character of a message, until that character arrives. */
  readonly #mayStart: boolean;
  #atStart: boolean;
  /** The formats of each lower-case marker. Even thousands of markers are of few kinds. */
  readonly #formatsOfMarker = new Map<string, CallFormat[]>();

  constructor(
    set: FormatSet,
    private readonly context: CallContext,
    private readonly inThought = false,
  ) {
    this.#formats = set.formats;
    this.#reader = new ThinkReader(set.literals, set.fences);
    if (inThought) this.#reader.ignoreTags();
    this.#mayStart = this.#formats.some(({ startsWith }) => startsWith !== undefined);
    this.#atStart = this.#mayStart;
  }

  /** From here on, think tags are text. */
  ignoreTags(): void {
    this.#reader.ignoreTags();
  }

  push(piece: string, final: boolean): ScannedPart[] {
    this.#parts = [];
    if (this.#candidate) this.#candidate.unread += piece;
    else this.#reader.push(piece);
    while (this.#candidate ? this.#readCandidate(this.#candidate, final) : this.#readText(final));
    return this.#parts;
  }

  #addText(text: string): void {
    if (text === "") return;
    const last = this.#parts.at(-1);
    if (last?.kind === "text") last.text += text;
    else this.#parts.push({ kind: "text", text });
  }

  #add(parts: ScannedPart[]): void {
    for (const part of parts) this.#parts.push(part);
  }

  #keep(marker: string): void {
    this.#addText(marker);
    this.#reader.keep(marker);
  }

  /** Reads up to the next marker or tag. Returns false if it needs more text. */
  #readText(final: boolean): boolean {
    if (this.#atStart) {
      const isCandidate = this.#readStart(final);
      if (isCandidate !== false) return isCandidate ?? false;
    }
    const token = this.#reader.next(final);
    if (!token) {
      if (final && this.#thought) this.#add(this.#thought.end(true));
      return false;
    }
    if (token.kind === "text") {
      this.#addText(token.text);
      const { marker, isFirst = false, isQuoted = false } = token;
      if (marker !== undefined) this.#readMarker(marker, isFirst, isQuoted);
    } else if (token.kind === "thought") this.#add(this.#thought!.push(token.text));
    else {
      if (this.#thought) this.#add(this.#thought.end(false));
      this.#thought = token.kind === "begin" ? new ThoughtScanner(this.context) : undefined;
      this.#atStart = this.#mayStart && !this.#thought;
      if (token.kind !== "retraction") this.#addText(token.text);
      else this.#parts.push({ kind: "retraction", text: token.text });
    }
    return true;
  }

  /** Looks for a message that contains only calls: true if one may start here, undefined while undecided. */
  #readStart(final: boolean): boolean | undefined {
    const text = this.#reader.markers.rest;
    const blank = text.length - text.trimStart().length;
    const sign = text[blank];
    if (sign === undefined && !final) return undefined;
    this.#atStart = false;
    const formats = sign ? this.#formats.filter(({ startsWith }) => startsWith === sign) : [];
    if (formats.length === 0) return false;
    this.#reader.markers.take();
    this.#begin("", text.slice(0, blank), formats, text.slice(blank));
    return true;
  }

  #readMarker(marker: string, isFirst: boolean, isQuoted: boolean): void {
    const tag = foldMarker(marker);
    const formats = isQuoted || this.#isElementClosed || this.inThought && !isFirst
      ? []
      : this.#formatsOf(tag).filter((format) => !format.lineStart || isFirst);
    if (formats.length > 0) {
      if (this.#elementEnd) formats.unshift(quotation(this.#elementEnd));
      return this.#begin(marker, marker, formats, this.#reader.markers.take());
    }
    const end = ELEMENTS.get(tag);
    if (tag === this.#elementEnd) {
      this.#elementEnd = undefined;
      this.#isElementClosed = false;
    } else if (!this.#elementEnd && !this.#neverClosed.has(end ?? "")) this.#elementEnd = end;
    this.#keep(marker);
  }

  #formatsOf(tag: string): CallFormat[] {
    const info = tag.match(/^(?:`{3,}|~{3,})\s*(.*?)\s*$/s)?.[1];
    if (info !== undefined) return this.#formats.filter(({ fences }) => fences?.includes(info));
    const known = this.#formatsOfMarker.get(tag);
    if (known) return known;
    const anyOf = tag.replace(/^<[^:]*:/, "<*:");
    const own = this.#formats.filter(({ markers = [] }) =>
      markers.some((marker) => [tag, anyOf].includes(foldMarker(marker)))
    );
    this.#formatsOfMarker.set(tag, own);
    return own;
  }

  #begin(marker: string, written: string, formats: readonly CallFormat[], unread: string): void {
    const [format, ...others] = formats;
    const isMarked = format!.markers !== undefined && !format!.isUnmarked;
    const mayBeUnknown = isMarked && CALL_MARKER.test(foldMarker(marker));
    const reader = format!.read(marker, { ...this.context, isMarked, mayBeUnknown });
    const isBasic = format!.isBasic === true;
    const isFenced = format!.fences !== undefined || format!.isUnmarked === true;
    const kind = { isBasic, isFenced };
    this.#candidate = { marker, written, formats: others, reader, ...kind, pending: "", unread };
  }

  /** Reads on in a candidate. Returns false if it needs more text. */
  #readCandidate(candidate: Candidate, final: boolean): boolean {
    if (candidate.unread === "" && !final) return false;
    const verdict = candidate.reader.push(candidate.unread, final);
    candidate.pending += candidate.unread;
    candidate.unread = "";
    if (verdict === undefined) return false;
    const { marker, written, formats, pending, isBasic, isFenced } = candidate;
    this.#candidate = undefined;
    if (verdict === "text" && this.#elementEnd) {
      this.#neverClosed.add(this.#elementEnd);
      this.#elementEnd = undefined;
    }
    if (verdict === "text" && formats.length > 0) {
      this.#begin(marker, written, formats, pending);
      return true;
    }
    const end = verdict === "text" ? 0 : verdict.end;
    if (verdict !== "text" && verdict.calls.length > 0) {
      const text = written + pending.slice(0, end);
      this.#parts.push({ kind: "calls", text, calls: verdict.calls, isBasic, isFenced });
      this.#reader.markers.drop();
    } else {
      this.#isElementClosed ||= verdict !== "text";
      this.#keep(written);
    }
    this.#reader.markers.unread(pending.slice(end));
    return true;
  }
}

/** Reads on after a marker in an HTML element, which is not a call if the end tag `close` follows. */
function quotation(close: string): CallFormat {
  return {
    read() {
      const reader = new MarkerReader([close], { inCode: true });
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

/** Scans reasoning. If it never ends, calls on their own lines at its end count. */
class ThoughtScanner {
  readonly #inner: FormatScanner;
  /** The calls so far and the white space between them, if nothing else follows. */
  #pending: ScannedPart[] = [];

  constructor(context: CallContext) {
    const allowed = { names: context.tools !== undefined, fences: false, starts: false };
    this.#inner = new FormatScanner(formatSet(allowed), context, true);
  }

  push(text: string, final = false): ScannedPart[] {
    return this.#inner.push(text, final).flatMap((part) => {
      if (part.kind !== "calls" && (this.#pending.length === 0 || part.text.trim() !== "")) {
        return [...this.#release(), part];
      }
      this.#pending.push(part);
      return [];
    });
  }

  end(isUnfinished: boolean): ScannedPart[] {
    const parts = this.push("", true);
    return parts.concat(isUnfinished ? this.#pending : this.#release());
  }

  #release(): ScannedPart[] {
    const text = this.#pending.map((part) => part.text).join("");
    this.#pending = [];
    return text === "" ? [] : [{ kind: "text", text }];
  }
}
