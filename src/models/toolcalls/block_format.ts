/** Formats with the name first, then arguments up to a closing mark or the end of a JSON object. @module */

import { foldMarker, MarkerReader } from "../../text/markers.ts";
import type { ToolCall } from "../../types/message.ts";
import {
  type CallContext,
  type CallFormat,
  type CallReader,
  type CandidateVerdict,
  exampleArguments,
  isUnknown,
  offeredName,
} from "./format.ts";
import { CUT_OFF_REASON, invalidCall, newCall } from "./json_calls.ts";
import { JsonScanner } from "./json_scanner.ts";
import { type GivenArguments, pairArguments } from "./values.ts";

/** A piece of a head: text, folded as by `foldMarker`; a pattern; optional pieces. */
export type Atom = string | RegExp | readonly Atom[];

export interface BlockSpec {
  /** The markers, each with the pieces between it and the head. */
  markers: Readonly<Record<string, readonly Atom[]>>;
  /** The text before the arguments. The group `name` is the tool's name, `attributes` the rest of its tag. */
  head: readonly Atom[];
  /** The marks that end the arguments. Without them, the arguments are one JSON object. */
  close?: readonly string[];
  /** The marks before and after each value. Within a value, `close` is text. */
  value?: readonly [open: string, close: string];
  /** Marks that may follow the call and belong to it. */
  after?: readonly string[];
  lineStart?: true;
  /** Returns the arguments; undefined if they are broken, null if the text is not a call. */
  args(body: string, name: string, context: CallContext, isClosed: boolean): GivenArguments | null;
  /** Splits a name that is joined with other text: into the name, and the start of the arguments. */
  splitName?(name: string, context: CallContext): [name: string, rest: string] | undefined;
  /** Returns a correct call of the tool `name` to show the model. */
  example(name: string, args: [key: string, value: string][]): string;
}

/** The maximum length of a head, and of the white space between two marks after a call. */
const MAX_BLOCK_HEAD = 256;

export function blockFormat(spec: BlockSpec): CallFormat {
  // Created at the first marker, because most answers have no markers.
  const heads = new Map<string, RegExp>();
  function headOf(marker: string): RegExp {
    const known = heads.get(marker);
    if (known) return known;
    const [, lead] = Object.entries(spec.markers).find(([one]) => foldMarker(one) === marker)!;
    const head = new RegExp(`^${[...lead, ...spec.head].map(atomSource).join("")}`);
    heads.set(marker, head);
    return head;
  }
  return {
    markers: Object.keys(spec.markers),
    ...(spec.lineStart && { lineStart: true }),
    example: spec.example,
    read: (marker, context) => new BlockReader(spec, headOf(foldMarker(marker)), context),
  };
}

class BlockReader implements CallReader {
  readonly #bodyReader: BodyReader;
  /** The text after the marker, until the name is known. */
  #start = "";
  #name: string | undefined;
  #call: ToolCall | null | undefined;
  /** The arguments in the tag of the name. */
  #given: Record<string, unknown> | undefined;
  readonly #after: RegExp | undefined;
  /** The end of the call, in characters from the marker, and the text after it. */
  #end = 0;
  #behind = "";

  constructor(
    private readonly spec: BlockSpec,
    private readonly head: RegExp,
    private readonly context: CallContext,
  ) {
    this.#bodyReader = spec.close ? new MarkedBodyReader(spec, spec.close) : new JsonBodyReader();
    const { after = [] } = spec;
    this.#after = after.length === 0
      ? undefined
      : new RegExp(`^\\s*(?:${after.map(atomSource).join("|")})`);
  }

  push(piece: string, final: boolean): CandidateVerdict | undefined {
    if (this.#name === undefined) {
      this.#start += piece;
      const match = this.head.exec(this.#start.slice(0, MAX_BLOCK_HEAD));
      if (!match) return final || this.#start.length >= MAX_BLOCK_HEAD ? "text" : undefined;
      const written = match.groups!.name!;
      const [own, rest] = this.spec.splitName?.(written, this.context) ?? [written, ""];
      this.#name = offeredName(own, this.context);
      if (this.#name === undefined) return "text";
      this.#end = match[0].length - rest.length;
      piece = rest + this.#start.slice(match[0].length);
      const { attributes = "" } = match.groups!;
      this.#given = pairArguments(attributes.replace(/\/$/, ""), this.#name, this.context);
      // A self-closing tag: `<invoke name="N" key="V"/>`.
      if (this.#given && attributes.endsWith("/")) {
        this.#call = newCall(this.#name, this.#given, this.context);
      }
    }
    if (this.#call) this.#behind += piece;
    else {
      const body = this.#bodyReader.push(piece, final);
      if (!body) return undefined;
      this.#end += body.length;
      this.#behind = body.behind;
      this.#call = this.#callFrom(body, this.#name);
    }
    return this.#call === null ? "text" : this.#readBehind(this.#call, final);
  }

  #callFrom({ text, isClosed }: Body, name: string): ToolCall | null {
    // An example in prose.
    if (/^\s*(?:\.{3}|…)\s*$/.test(text) || !isClosed && /^[ ,;:)]+[a-z]/i.test(text)) return null;
    // Without its closing mark, only JSON can show that it is complete.
    const isReadable = isClosed || /^\s*(?:```\w*\s*)?[{"]/.test(text);
    const read = this.spec.args(text, name, this.context, isClosed);
    if (read === null) return null;
    const args = isReadable ? read : undefined;
    if (args) return newCall(name, { ...this.#given, ...args }, this.context);
    if (isUnknown(name, this.context)) return null;
    const example = this.spec.example(name, exampleArguments(name, this.context));
    const broken = `its arguments could not be read.\nA correct call: ${example}`;
    const invalid = invalidCall(name, text, isClosed ? broken : CUT_OFF_REASON, this.context);
    // Each value has its end, so a complete answer has a complete call.
    const end = this.spec.value?.[1];
    if (!read || end === undefined || !foldMarker(text).trimEnd().endsWith(foldMarker(end))) {
      return invalid;
    }
    return {
      ...invalid,
      arguments: { ...this.#given, ...read },
      invalid: { ...invalid.invalid!, isUnclosed: true },
    };
  }

  #readBehind(call: ToolCall, final: boolean): CandidateVerdict | undefined {
    for (;;) {
      const mark = this.#after?.exec(this.#behind.slice(0, MAX_BLOCK_HEAD))?.[0];
      if (mark === undefined) {
        const mayCome = !final && this.#after && this.#behind.length < MAX_BLOCK_HEAD;
        return mayCome ? undefined : { calls: [call], end: this.#end };
      }
      this.#end += mark.length;
      this.#behind = this.#behind.slice(mark.length);
    }
  }
}

/** The arguments of a call as written. */
interface Body {
  text: string;
  /** The number of characters up to and including its closing mark. */
  length: number;
  /** True if its end was found, false if the text ended or was broken before. */
  isClosed: boolean;
  behind: string;
}

interface BodyReader {
  /** Reads the next piece; undefined if the body continues. */
  push(piece: string, final: boolean): Body | undefined;
}

class JsonBodyReader implements BodyReader {
  readonly #json = new JsonScanner();
  #text = "";
  #gap = 0;

  push(piece: string, final: boolean): Body | undefined {
    if (this.#text === "") {
      const gap = piece.length - piece.trimStart().length;
      this.#gap += gap;
      piece = piece.slice(gap);
    }
    const { end, error } = this.#json.scan(piece, 0);
    const to = end ?? error ?? piece.length;
    this.#text += piece.slice(0, to);
    if (end === undefined && error === undefined && !final) return undefined;
    const text = this.#text;
    const length = this.#gap + text.length;
    return { text, length, isClosed: end !== undefined, behind: piece.slice(to) };
  }
}

/** Reads a body up to a closing mark outside values and JSON strings. */
class MarkedBodyReader implements BodyReader {
  readonly #markers: MarkerReader;
  readonly #openValue: string | undefined;
  readonly #closeValue: string | undefined;
  #text = "";
  readonly #json = new JsonScanner();
  /** True if the body is JSON; undefined if that is not known yet. */
  #isJson: boolean | undefined;
  #inString = false;
  #inValue = false;
  /** The first closing mark within the open value. It applies if the value never ends. */
  #early: { at: number; length: number } | undefined;

  constructor(private readonly spec: BlockSpec, close: readonly string[]) {
    this.#markers = new MarkerReader([...close, ...spec.value ?? []], { inCode: true });
    [this.#openValue, this.#closeValue] = spec.value?.map(foldMarker) ?? [];
  }

  push(piece: string, final: boolean): Body | undefined {
    this.#markers.push(piece);
    for (;;) {
      const { text, marker } = this.#markers.next(final);
      this.#add(text);
      if (marker === undefined) {
        if (!final) return undefined;
        if (this.#early) return this.#closedAt(this.#early, "");
        return { text: this.#text, length: this.#text.length, isClosed: false, behind: "" };
      }
      const mark = foldMarker(marker);
      if (this.#isClosing(mark)) {
        const length = this.#text.length + marker.length;
        return { text: this.#text, length, isClosed: true, behind: this.#markers.take() };
      }
      if (this.#early && mark === this.#openValue) return this.#closedAt(this.#early, marker);
      this.#add(marker);
    }
  }

  #add(text: string): void {
    this.#text += text;
    if (this.#isJson === undefined) {
      const head = this.#text.slice(0, MAX_BLOCK_HEAD);
      const [lead, brace] = /^\s*(?:`{0,2}$|`{3}\w*\s*)?(\{)?/.exec(head)!;
      if (!brace && lead.length === this.#text.length) return;
      this.#isJson = brace !== undefined;
      text = this.#text.slice(lead.length - 1);
    }
    if (!this.#isJson || text === "") return;
    const { inString } = this.#json.scan(text, 0);
    this.#inString = inString ?? false;
    this.#isJson = inString !== undefined;
  }

  #isClosing(mark: string): boolean {
    if (this.#inString) return false;
    if (mark === this.#openValue || mark === this.#closeValue) {
      this.#inValue = mark === this.#openValue;
      if (!this.#inValue) this.#early = undefined;
      return false;
    }
    if (this.#inValue) this.#early ??= { at: this.#text.length, length: mark.length };
    return !this.#inValue;
  }

  #closedAt({ at, length }: { at: number; length: number }, marker: string): Body {
    const behind = this.#text.slice(at + length) + marker;
    // If only marks follow, that mark replaced the value's own.
    let rest = behind;
    for (const mark of this.spec.after ?? []) rest = rest.replace(new RegExp(atomSource(mark)), "");
    const missing = rest.trim() === "" ? this.spec.value![1] : "";
    const text = this.#text.slice(0, at) + missing;
    return { text, length: at + length, isClosed: true, behind };
  }
}

/** Returns a pattern for `atom` in any spelling of its marks. */
export function atomSource(atom: Atom): string {
  if (typeof atom === "string") return [...atom].map(charSource).join("");
  return atom instanceof RegExp ? atom.source : `(?:${atom.map(atomSource).join("")})?`;
}

function charSource(char: string): string {
  if (char === "|") return " {0,3}[|｜‖]{1,2} {0,3}";
  return char === "_" ? "[_▁]" : RegExp.escape(char);
}
