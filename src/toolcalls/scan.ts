/**
 * Finds tool calls in a text as it streams. Nothing in Markdown code or in finished reasoning is a
 * call.
 *
 * @module
 */

import { markerReader } from "../text/markers.ts";
import { beginsThinking, THINK_MARKERS, thinkingReader } from "../text/think.ts";
import type { ToolCall } from "../types.ts";
import type { CallContext, CallReader, Format } from "./format.ts";
import { formats } from "./formats.ts";

/** Options of {@linkcode extractToolCallsFromText} and {@linkcode toolCallFilter}. */
export interface ToolCallOptions {
  /**
   * The names of the tools offered in the request. Given them, nothing else is a call; without them,
   * any name is one, in the two basic formats.
   */
  tools?: readonly string[] | undefined;
  /** The JSON schemas of their arguments, by name: they type the values of formats without types. */
  schemas?: Readonly<Record<string, unknown>> | undefined;
  /** Makes the id of a call: `call_` and 24 random characters. */
  newId?: (() => string) | undefined;
}

/** A piece of what was scanned; the `text` of all parts is the text scanned. */
export type Part =
  | { kind: "text"; text: string }
  /** Calls, and what they were written as. */
  | { kind: "calls"; text: string; calls: ToolCall[] }
  /** Reasoning, without its tags, which are text. */
  | { kind: "thought"; text: string }
  /** `</think>` without a beginning: all before it is reasoning. */
  | { kind: "thought_end"; text: string }
  /** Reasoning that never ended may be none. The last thoughts once more, read as text; the one kind
   * whose text was there before. */
  | { kind: "unfinished_thought"; parts: Part[] };

/** A scanner of one text. */
export interface CallScanner {
  /** Takes the next piece; with `final`, it is the last. */
  push(piece: string, final: boolean): Part[];
}

/** A scanner for the formats that `options` allow. */
export function callScanner(options: ToolCallOptions): CallScanner {
  const context: CallContext = {
    tools: options.tools && new Set(options.tools),
    schemas: options.schemas ?? {},
    newId: options.newId ?? randomId,
  };
  return scanner(formats.filter((format) => context.tools || !format.needsNames), context, true);
}

function randomId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

/** A marker was read: what follows may be a call in the first of `formats`. */
interface Candidate {
  marker: string;
  formats: readonly Format[];
  reader: CallReader;
  /** What its reader has read since the marker, and what is still to be read. */
  held: string;
  unread: string;
}

function scanner(
  formats: readonly Format[],
  context: CallContext,
  withThinking: boolean,
): CallScanner {
  const outside = markerReader(
    [
      ...new Set([
        ...(withThinking ? THINK_MARKERS : []),
        ...formats.flatMap((f) => f.markers ?? []),
      ]),
    ],
    { fences: [...new Set(formats.flatMap((format) => format.fences ?? []))] },
  );
  const inside = thinkingReader();
  let mode: "text" | "thought" | Candidate = "text";
  let thought = "";
  let isBlank = true;
  let parts: Part[] = [];

  function addText(text: string): void {
    if (text === "") return;
    isBlank &&= text.trim() === "";
    const last = parts.at(-1);
    if (last?.kind === "text") last.text += text;
    else parts.push({ kind: "text", text });
  }

  function formatsOf(marker: string): Format[] {
    const info = marker.match(/^(?:`{3,}|~{3,})\s*(.*?)\s*$/s)?.[1]?.toLowerCase();
    return formats.filter((format) =>
      info === undefined ? format.markers?.includes(marker) : format.fences?.includes(info)
    );
  }

  /** Reads text up to the next marker and decides what that begins; false: more text is needed. */
  function readText(final: boolean): boolean {
    const { text, marker } = outside.next(final);
    addText(text);
    if (marker === undefined) return false;
    const [format, ...others] = formatsOf(marker);
    if (format) {
      const reader = format.read(marker, context);
      mode = { marker, formats: others, reader, held: "", unread: outside.take() };
    } else if (withThinking && beginsThinking(marker, isBlank)) {
      addText(marker);
      mode = "thought";
      thought = "";
      inside.begin(marker, outside.take());
    } else if (marker.toLowerCase() === "</think>") {
      parts.push({ kind: "thought_end", text: marker });
      isBlank = true;
      outside.drop();
    } else {
      addText(marker);
      outside.keep(marker);
    }
    return true;
  }

  function readThought(final: boolean): boolean {
    const { text, end } = inside.next(final);
    if (text !== "") parts.push({ kind: "thought", text });
    thought += text;
    if (end !== undefined) {
      addText(end);
      outside.unread(inside.take());
      outside.drop();
      isBlank = true;
      mode = "text";
      return true;
    }
    if (final) {
      const unfinished = scanner(formats, context, false).push(thought, true);
      parts.push({ kind: "unfinished_thought", parts: unfinished });
    }
    return false;
  }

  function readCandidate(candidate: Candidate, final: boolean): boolean {
    const { marker, unread } = candidate;
    if (unread === "" && !final) return false;
    const verdict = candidate.reader.push(unread, final);
    candidate.held += unread;
    candidate.unread = "";
    if (verdict === undefined) return false;
    const [next, ...others] = candidate.formats;
    if (verdict !== "text") {
      const text = marker + candidate.held.slice(0, verdict.end);
      parts.push({ kind: "calls", text, calls: verdict.calls });
      outside.unread(candidate.held.slice(verdict.end));
      outside.drop();
      isBlank = false;
      mode = "text";
    } else if (next) {
      const reader = next.read(marker, context);
      mode = { marker, formats: others, reader, held: "", unread: candidate.held };
    } else {
      addText(marker);
      outside.keep(marker);
      outside.unread(candidate.held);
      mode = "text";
    }
    return true;
  }

  return {
    push(piece, final) {
      parts = [];
      if (mode === "text") outside.push(piece);
      else if (mode === "thought") inside.push(piece);
      else mode.unread += piece;
      let goesOn = true;
      while (goesOn) {
        if (mode === "text") goesOn = readText(final);
        else if (mode === "thought") goesOn = readThought(final);
        else goesOn = readCandidate(mode, final);
      }
      return parts;
    },
  };
}
