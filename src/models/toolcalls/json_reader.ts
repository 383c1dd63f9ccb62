/** Reads streamed calls in JSON, for all formats with JSON. @module */

import { isObject } from "../../text/json.ts";
import { looseJson } from "../../text/loose_json.ts";
import { MarkerReader } from "../../text/markers.ts";
import type { ToolCall } from "../../types/message.ts";
import { type CallContext, type CallReader, type CandidateVerdict, offeredName } from "./format.ts";
import { callsFrom, CUT_OFF_REASON, invalidCall, malformedCall } from "./json_calls.ts";
import { JsonScanner, parseLenientJson } from "./json_scanner.ts";

/** The marks around the JSON, and its rules. */
interface JsonFrame {
  /** The mark after the calls. The end of the text works too. */
  readonly close: string;
  /** The mark that starts another frame, which always ends broken JSON. */
  readonly open?: string;
  /** True if the frame contains only calls, and only offered names report errors. Otherwise, calls end at the last value. */
  readonly strict: boolean;
  /** True if a list must follow the mark directly, because the mark is an ordinary word. */
  readonly isList?: boolean;
  /** True if a call may be an object whose key is its name and whose value is its arguments. */
  readonly keyed?: boolean;
}

/** The maximum white space and punctuation between two values of a frame. */
const MAX_GAP = 256;
/** The number of characters at the start of a value to search for a name. */
const NAME_CHARS = 512;

/**
 * Reads JSON values, separated by white space, commas or semicolons, and then `close`. They may be in a code
 * fence, or be Python's. An incomplete or broken value that starts with an offered name becomes an invalid call
 * with a reason for the model.
 */
export class JsonCallReader implements CallReader {
  readonly #calls: ToolCall[] = [];
  /** The number of characters before the current piece, and up to the end of the last value. */
  #before = 0;
  #end = 0;
  #gap = "";
  #value = "";
  #scanner: JsonScanner | undefined;
  /** The name at the start of the value; "" if not found yet, undefined if it is too late. */
  #name: string | undefined;
  /** The reader up to the end of the frame after a broken value. */
  #broken: MarkerReader | undefined;

  constructor(private readonly frame: JsonFrame, private readonly context: CallContext) {}

  push(piece: string, final: boolean): CandidateVerdict | undefined {
    for (let at = 0;;) {
      let step: number | CandidateVerdict | undefined;
      if (this.#broken) step = this.#readBroken(piece, at, final);
      else if (this.#scanner) step = this.#readValue(piece, at, final);
      else step = this.#readGap(piece, at, final);
      if (typeof step !== "number") {
        this.#before += piece.length;
        return step;
      }
      at = step;
    }
  }

  #ended(): CandidateVerdict {
    return this.#calls.length > 0 && !this.frame.strict
      ? { calls: this.#calls, end: this.#end }
      : "text";
  }

  /** Adds an invalid call that ends at `to` if the value is certainly a call; otherwise returns the verdict. */
  #addInvalid(isCut: boolean, to: number): CandidateVerdict | undefined {
    if (!this.#name || this.frame.strict && !this.context.tools) return this.#ended();
    this.#calls.push(
      isCut
        ? invalidCall(this.#name, this.#value, CUT_OFF_REASON, this.context)
        : malformedCall(this.#name, this.#value, this.context),
    );
    this.#end = to;
    return undefined;
  }

  #add(calls: readonly ToolCall[], to: number): void {
    for (const call of calls) this.#calls.push(call);
    this.#end = to;
  }

  #readName(): boolean {
    const written = LEADING_NAME.exec(this.#value.slice(0, NAME_CHARS))?.[3];
    if (written === undefined) this.#name = this.#value.length < NAME_CHARS ? "" : undefined;
    else this.#name = offeredName(written, this.context, true);
    return written === undefined || this.#name !== undefined;
  }

  /** Continues the value from `from`. Returns the position after it, or the result of `push`. */
  #readValue(piece: string, from: number, final: boolean): number | CandidateVerdict | undefined {
    const { end, error } = this.#scanner!.scan(piece, from);
    const to = end ?? error ?? piece.length;
    this.#value += piece.slice(from, to);
    if (this.#name === "" && !this.#readName()) return this.#ended();
    if (end !== undefined) return this.#finishValue(this.#before + to) ?? to;
    const { strict, open, close } = this.frame;
    if (error !== undefined) {
      const isLoose = !strict && /['A-Za-z_“/#]/.test(piece[to]!) &&
        /^\[?\s*\{\s*[A-Za-z_]*$/.test(this.#value);
      if (!this.#name && !isLoose || strict && !this.context.tools) return this.#ended();
      const marks = open === undefined ? [close] : [close, open];
      this.#broken = new MarkerReader(marks, { inCode: true });
      return to;
    }
    if (!final) return undefined;
    return this.#addInvalid(true, this.#before + to) ?? { calls: this.#calls, end: this.#end };
  }

  /** Adds the calls of a complete value that ends at `to`, or returns the verdict if it is not a call. */
  #finishValue(to: number): CandidateVerdict | undefined {
    this.#scanner = undefined;
    const parsed = parseLenientJson(this.#value);
    if (parsed === undefined) return this.#addInvalid(false, to);
    const calls = callsFrom(this.frame.keyed ? unkeyed(parsed) : parsed, this.context);
    const isUnsure = this.frame.strict && !this.context.tools;
    if (!calls || isUnsure && calls.some((call) => call.invalid)) return this.#ended();
    this.#add(calls, to);
    return undefined;
  }

  #readBroken(piece: string, from: number, final: boolean): CandidateVerdict | undefined {
    const { close, strict } = this.frame;
    const broken = this.#broken!;
    broken.push(piece.slice(from));
    const { text, marker } = broken.next(final);
    this.#value += text;
    if (marker === undefined && !final) return undefined;
    const isClosed = marker?.toLowerCase() === close.toLowerCase();
    const rest = marker === undefined ? 0 : broken.take().length + (isClosed ? 0 : marker.length);
    const to = this.#before + piece.length - rest;
    // Before the mark that ends the call, the bracket of the call itself may be missing.
    const mayLack = isClosed && this.context.tools ? 1 : 0;
    const literal = strict ? undefined : looseJson(this.#value.trim(), mayLack);
    const calls = literal === undefined ? undefined : callsFrom(literal, this.context);
    if (calls) this.#add(calls, to);
    else {
      if (this.#name === "" && !this.#readName()) return this.#ended();
      const verdict = this.#addInvalid(marker === undefined, to);
      if (verdict) return verdict;
    }
    return { calls: this.#calls, end: this.#end };
  }

  #readGap(piece: string, from: number, final: boolean): number | CandidateVerdict | undefined {
    const { strict } = this.frame;
    const isFirst = this.#calls.length === 0;
    const read = this.#gap.length;
    // Most candidates that are not calls end here.
    if (read === 0 && isFirst && from < piece.length && !/[\s{[`]/.test(piece[from]!)) {
      return "text";
    }
    this.#gap += piece.slice(from, from + MAX_GAP - read);
    const rest = this.#gap.replace(strict ? /^[\s,;}]*/ : /^[\s,;}]*(?:`{3}\s*)?/, "");
    const verdict = isFirst ? undefined : this.#readClose(rest, final);
    if (verdict !== undefined) return verdict === "open" ? undefined : verdict;
    const first = this.frame.isList ? FIRST_LIST : strict ? FIRST_VALUE_STRICT : FIRST_VALUE;
    const start = isFirst ? first : NEXT_VALUE;
    const lead = start.exec(this.#gap);
    if (lead) {
      this.#scanner = new JsonScanner();
      this.#gap = this.#value = this.#name = "";
      return from + lead[0].length - read;
    }
    const mayGoOn = isFirst
      ? (strict ? /^\s*$/ : /^\s*(?:`{0,2}|`{3}\w*\s*)$/).test(this.#gap)
      : beginsLike(this.frame.close, rest) || !strict && "```".startsWith(rest);
    if (!mayGoOn || this.#gap.length === MAX_GAP) return this.#ended();
    if (!final) return undefined;
    return isFirst ? "text" : { calls: this.#calls, end: this.#end + this.#gap.length };
  }

  /** Returns the verdict if `rest` of the gap is the end of the frame; "open" if it may become one. */
  #readClose(rest: string, final: boolean): CandidateVerdict | "open" | undefined {
    const { close, open, strict } = this.frame;
    const stray = strict ? undefined : STRAY.exec(rest)?.[0];
    const closer = beginsLike(rest, close) ? close : stray;
    const [calls, end] = [this.#calls, this.#end + this.#gap.length];
    if (closer !== undefined) return { calls, end: end - rest.length + closer.length };
    const mayClose = beginsLike(close, rest) || !strict && mayBeStray(rest, open);
    if (!mayClose) return undefined;
    if (final) return { calls, end };
    return rest !== "" && this.#gap.length < MAX_GAP ? "open" : undefined;
  }
}

function beginsLike(text: string, start: string): boolean {
  return text.slice(0, start.length).toLowerCase() === start.toLowerCase();
}

/** Converts `[{"N": ...}]` to `[{"name": ..., "arguments": ...}]`. */
function unkeyed(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((item) => {
    const [entry, ...others] = isObject(item) ? Object.entries(item) : [];
    return entry && others.length === 0 ? { name: entry[0], arguments: entry[1] } : item;
  });
}

/** End tags of other formats that models confuse with the right one, or write before it. */
const STRAY = /^(?:<\/(?:function>\s*<\/)?tool_?call>|<\/s>|\[\/tool_calls\])/i;
const STRAYS = [
  ...["</toolcall>", "</tool_call>", "</function></toolcall>", "</function></tool_call>"],
  ...["</s>", "[/tool_calls]"],
];

/** True if `text` starts with one of them, or is only an `open` in place of the end. */
function mayBeStray(text: string, open = ""): boolean {
  const dense = text.replaceAll(/\s/g, "").toLowerCase();
  return [...STRAYS, open.toLowerCase()].some((tag) => tag.startsWith(dense));
}

const FIRST_VALUE = /^\s*(?:`{3}\w*\s*)?(?=[{[])/;
const FIRST_LIST = /^(?=\[)/;
const FIRST_VALUE_STRICT = /^\s*(?=[{[])/;
const NEXT_VALUE = /^[\s,;]*(?=[{[])/;

/** The name of the first call at the start of a value, before any arguments. */
const LEADING_NAME = /^\[?\s*\{{1,2}[^{}[\]]*?(["'])name\1\s*:\s*(["'])([^"'\\]+)\2/;
