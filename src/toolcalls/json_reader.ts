/**
 * Reads calls written as JSON as they stream; what the formats with JSON have in common.
 *
 * @module
 */

import { isObject } from "../text/json.ts";
import { type MarkerReader, markerReader } from "../text/markers.ts";
import type { ToolCall } from "../types/message.ts";
import { type CallContext, type CallReader, offeredName, type Verdict } from "./format.ts";
import { callsFrom, invalidCall } from "./json_calls.ts";
import { type JsonScanner, jsonScanner, parseJson } from "./json_scanner.ts";
import { parsePythonLiteral } from "./formats/python_calls.ts";

/** What stands around the JSON. */
export interface JsonFrame {
  /** What comes after the calls; the end of the text will do as well. */
  readonly close: string;
  /** What begins another frame; broken JSON ends there at the latest. */
  readonly open?: string;
  /** True when nothing but calls may stand in the frame, and only offered names are sure enough to
   * report what is broken; otherwise calls end where the last value does. */
  readonly strict: boolean;
  /** True when a call may be an object of its name and, as that key's value, its arguments. */
  readonly keyed?: boolean;
}

/** White space and signs between values; what is farther away does not belong to them. */
const MAX_GAP = 256;
/** A name is looked for in the first characters of a value. */
const MAX_HEAD = 512;

const CUT = "it was cut off before its end";
const BROKEN =
  "its JSON is not valid: check brackets, and escape quotes and backslashes in strings";

/**
 * Reads one or more JSON values, white space, commas or semicolons between them, and `close`. The
 * values may stand in a code fence of their own, and be Python's, as `True` for `true`.
 *
 * A call that breaks off at the end of the text, or whose JSON is broken, becomes an invalid call
 * if the value begins with an offered name: its reason is for the model.
 */
export function jsonReader(frame: JsonFrame, context: CallContext): CallReader {
  const { close } = frame;
  const calls: ToolCall[] = [];
  /** How much was read before the present piece, and where the last value ended. */
  let before = 0;
  let end = 0;
  let gap = "";
  let value = "";
  let scanner: JsonScanner | undefined;
  /** The name with which the value begins; "" while there is none, undefined once it is too late. */
  let name: string | undefined;
  let broken: MarkerReader | undefined;

  const done = (): Verdict => calls.length > 0 && !frame.strict ? { calls, end } : "text";

  function report(reason: string, to: number): Verdict | undefined {
    if (!name || frame.strict && !context.tools) return done();
    calls.push(invalidCall(name, value, reason, context));
    end = to;
    return undefined;
  }

  /** Looks for the name; false: it is not offered. */
  function readName(): boolean {
    const said = leadingName(value.slice(0, MAX_HEAD));
    if (said === undefined) name = value.length < MAX_HEAD ? "" : undefined;
    else name = offeredName(said, context);
    return said === undefined || name !== undefined;
  }

  /** Reads on behind the value's last character in `piece`; `from` is where the piece goes on. */
  function readValue(piece: string, from: number): number | Verdict {
    const scanned = scanner!.scan(piece, from);
    const to = scanned.end ?? scanned.error ?? piece.length;
    value += piece.slice(from, to);
    if (name === "" && !readName()) return done();
    if (scanned.error !== undefined) {
      const isPython = !frame.strict && piece[to] === "'" && /^\[?\s*\{\s*$/.test(value);
      if (!name && !isPython || frame.strict && !context.tools) return done();
      const stops = frame.open === undefined ? [] : [frame.open];
      broken = markerReader([frame.close, ...stops], { inCode: true });
      return to;
    }
    if (scanned.end === undefined) return to;
    scanner = undefined;
    const parsed = parseJson(value);
    const found = parsed === undefined
      ? undefined
      : callsFrom(frame.keyed ? unkeyed(parsed) : parsed, context);
    if (parsed === undefined) return report(BROKEN, before + to) ?? to;
    if (!found || frame.strict && !context.tools && found.some((call) => call.invalid)) {
      return done();
    }
    for (const call of found) calls.push(call);
    end = before + to;
    return to;
  }

  function readBroken(piece: string, from: number, final: boolean): Verdict | undefined {
    broken!.push(piece.slice(from));
    const { text, marker } = broken!.next(final);
    value += text;
    if (marker === undefined && !final) return undefined;
    const closed = marker?.toLowerCase() === frame.close.toLowerCase();
    const rest = marker === undefined ? 0 : broken!.take().length + (closed ? 0 : marker.length);
    const to = before + piece.length - rest;
    const literal = frame.strict ? undefined : parsePythonLiteral(value.trim());
    const found = literal === undefined ? undefined : callsFrom(literal, context);
    if (found) {
      for (const call of found) calls.push(call);
      return { calls, end: to };
    }
    if (name === "" && !readName()) return done();
    return report(marker === undefined ? CUT : BROKEN, to) ?? { calls, end: to };
  }

  /** Reads on to the next value or the end of the frame. */
  function readGap(piece: string, from: number, final: boolean): number | Verdict | undefined {
    const known = gap.length;
    // Nearly every candidate that is none ends here.
    if (known === 0 && calls.length === 0 && from < piece.length && !/[\s{[`]/.test(piece[from]!)) {
      return "text";
    }
    gap += piece.slice(from, from + MAX_GAP - known);
    const rest = gap.replace(frame.strict ? /^[\s,;}]*/ : /^[\s,;}]*(?:`{3}\s*)?/, "");
    if (calls.length > 0) {
      const stray = frame.strict ? undefined : STRAY.exec(rest)?.[0];
      const closer = isLike(rest, close) ? close : stray;
      if (closer !== undefined) {
        return { calls, end: end + gap.length - rest.length + closer.length };
      }
      // Some close with a bracket, like a value.
      const mayClose = isLike(close, rest) || !frame.strict && mayBeStray(rest, frame.open);
      if (mayClose && rest !== "" && !final && gap.length < MAX_GAP) return undefined;
      if (mayClose && final) return { calls, end: end + gap.length };
    }
    const lead = (calls.length > 0 ? BETWEEN : frame.strict ? BEFORE_STRICT : BEFORE).exec(gap);
    if (lead) {
      scanner = jsonScanner();
      gap = value = "";
      name = "";
      return from + lead[0].length - known;
    }
    const mayGoOn = calls.length > 0
      ? isLike(close, rest) || !frame.strict && "```".startsWith(rest)
      : (frame.strict ? /^\s*$/ : /^\s*(?:`{0,2}|`{3}\w*\s*)$/).test(gap);
    if (!mayGoOn || gap.length === MAX_GAP) return done();
    if (!final) return undefined;
    return calls.length > 0 ? { calls, end: end + gap.length } : "text";
  }

  return {
    push(piece, final) {
      let at = 0;
      for (;;) {
        let step: number | Verdict | undefined;
        if (broken) step = readBroken(piece, at, final);
        else if (!scanner) step = readGap(piece, at, final);
        else {
          step = readValue(piece, at);
          if (step === piece.length && scanner && !broken) {
            step = final ? report(CUT, before + piece.length) ?? { calls, end } : undefined;
          }
        }
        if (typeof step !== "number") {
          before += piece.length;
          return step;
        }
        at = step;
      }
    },
  };
}

/** Whether `text` begins like `start`, in upper or lower case. */
function isLike(text: string, start: string): boolean {
  return text.slice(0, start.length).toLowerCase() === start.toLowerCase();
}

/** `[{"name": ..., "arguments": ...}]` from `[{"N": ...}]`. */
function unkeyed(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((item) => {
    const [entry, ...others] = isObject(item) ? Object.entries(item) : [];
    return entry && others.length === 0 ? { name: entry[0], arguments: entry[1] } : item;
  });
}

/** End tags of other formats that models mistake for the right one, or write before it. */
const STRAY = /^(?:<\/(?:function>\s*<\/)?tool_?call>|<\/s>|\[\/tool_calls\])/i;
const STRAYS = [
  ...["</toolcall>", "</tool_call>", "</function></toolcall>", "</function></tool_call>"],
  ...["</s>", "[/tool_calls]"],
];

/** Whether `text` begins one of them, or is nothing but an `open` in place of the end. */
function mayBeStray(text: string, open = ""): boolean {
  const dense = text.replaceAll(/\s/g, "").toLowerCase();
  return [...STRAYS, open.toLowerCase()].some((tag) => tag.startsWith(dense));
}

const BEFORE = /^\s*(?:`{3}\w*\s*)?(?=[{[])/;
const BEFORE_STRICT = /^\s*(?=[{[])/;
const BETWEEN = /^[\s,;]*(?=[{[])/;

/** The name of the first call in the beginning of a value, where it comes before any arguments. */
function leadingName(head: string): string | undefined {
  return head.match(/^\[?\s*\{{1,2}[^{}[\]]*?(["'])name\1\s*:\s*(["'])([^"'\\]+)\2/)?.[3];
}
