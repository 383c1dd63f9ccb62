/**
 * The text of a Markdown paragraph: emphasis, code, links. Sources: CommonMark 0.31 (inlines),
 * GitHub Flavored Markdown (strikethrough). Not CommonMark: an emphasis or link has to close within
 * {@linkcode MAX_OPEN} characters, because its text waits until then; `__name__` of one word is a
 * name; line feeds are line breaks; there are no references, autolinks and HTML. @module
 */

import { type Filler, lastCodePoint } from "./fill.ts";
import { BOLD, CODE, DIM, ITALIC, STRIKE, type Style, UNDERLINE } from "../style.ts";

/** The most characters of an emphasis or a link. */
const MAX_OPEN = 400;
/** The most characters of inline code and of an address. */
const MAX_CODE = 1000;
/** A run of this many equal signs is text. */
const MAX_DELIMITERS = 64;
const UNSIGNED_TEXT = /[^\\`*_~[\]!&\n]+/y;
const ENTITY = /&(amp|lt|gt|quot|nbsp|#39);/y;
const NAMED_ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\xa0", "#39": "'" };
const ADDRESS = /^(?:<([^<>]*)>|(\S*?))(?:\s+(?:"[^]*"|'[^]*'|\([^]*\)))?$/;
const CODE_SPAN = /^(`+)(?!`)([^]*?[^`])\1(?!`)/;
/** An address, in which brackets are nested twice. */
const IN_BRACKETS = /^\(((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*)\)/;
const PUNCTUATION = /[\p{P}\p{S}]/u;
/** Scripts without spaces: a sign within a word of theirs may open or close, too. */
const CJK = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/u;

interface Item {
  text: string;
  style: Style;
  at: number;
  /** `*`, `_`, `~` or `[`, if it may still open something. */
  opens?: string | undefined;
  /** True if it could also close something. */
  both?: boolean | undefined;
}

/** Reads the text of a paragraph in pieces and writes it to a filler. */
export class InlineParser {
  #src = "";
  #pos = 0;
  /** The position of `src` in the paragraph. */
  #offset = 0;
  #tail = "\n";
  /** True within a word that is an address. */
  #inUrl = false;
  /** Text that waits: the first item may open something. */
  #items: Item[] = [];

  /** `base`: the style of the paragraph; `signs`: code and strikethrough show their signs. */
  constructor(
    private readonly fill: Filler,
    private readonly base: Style,
    private readonly signs: boolean,
  ) {}

  get idle(): boolean {
    return this.#src === "" && this.#items.length === 0;
  }

  push(text: string): void {
    this.#read(text, false);
  }

  end(): void {
    this.#read("", true);
    for (const item of this.#items) item.opens = undefined;
    this.#release();
  }

  #read(text: string, ended: boolean): void {
    this.#src += text;
    do this.#expire(); while (this.#pos < this.#src.length && this.#step(ended));
    this.#src = this.#src.slice(this.#pos);
    this.#offset += this.#pos;
    this.#pos = 0;
  }

  #step(ended: boolean): boolean {
    UNSIGNED_TEXT.lastIndex = this.#pos;
    const plain = UNSIGNED_TEXT.exec(this.#src)?.[0];
    if (plain !== undefined) {
      const word = plain.slice(plain.lastIndexOf(" ") + 1);
      const whole = word.length === plain.length;
      this.#inUrl = this.#inUrl && whole || `${whole ? this.#tail : ""}${word}`.includes("://");
      return this.#emit(plain, plain.length);
    }
    const char = this.#src[this.#pos]!;
    const next = this.#src[this.#pos + 1];
    switch (char) {
      case "\n":
        this.#inUrl = false;
        return this.#emit("\n", 1);
      case "\\":
        if (next === undefined && !ended) return false;
        if (next === "\n") return this.#emit("", 1);
        return /[!-/:-@[-`{-~]/.test(next ?? "") ? this.#emit(next!, 2) : this.#emit("\\", 1);
      case "&":
        return this.#entity(ended);
      case "`":
        return this.#code(ended);
      case "!":
        if (next === undefined && !ended) return false;
        return next === "[" ? this.#open("![", "[") : this.#emit("!", 1);
      case "[":
        return this.#open("[", "[");
      case "]":
        return this.#closeBracket(ended);
      default:
        return this.#delimiters(char, ended);
    }
  }

  /** Writes `text`, or queues it behind text that waits, for `length` characters of the source. */
  #emit(text: string, length: number, style: Style = 0): true {
    const last = this.#items.at(-1);
    const isBreak = text === "\n" || last?.text === "\n";
    if (last === undefined) this.#write(text, style);
    else if (last.opens === undefined && last.style === style && !isBreak) last.text += text;
    else this.#items.push({ text, style, at: this.#offset + this.#pos });
    return this.#advance(length);
  }

  #open(text: string, opens: string, length = text.length, both?: boolean): true {
    this.#items.push({ text, style: 0, at: this.#offset + this.#pos, opens, both });
    return this.#advance(length);
  }

  #advance(length: number): true {
    const end = this.#pos + length;
    this.#tail = (this.#tail + this.#src.slice(this.#pos, end)).slice(-2);
    this.#pos = end;
    return true;
  }

  #write(text: string, style: Style): void {
    if (text === "\n") this.fill.endLine();
    else this.fill.text(text, this.base | style);
  }

  /** Writes the items before the first one that may still open something. */
  #release(): void {
    while (this.#items.length > 0 && this.#items[0]!.opens === undefined) {
      const { text, style } = this.#items.shift()!;
      this.#write(text, style);
    }
  }

  /** Turns items that opened too long ago into text. */
  #expire(): void {
    while (this.#items.length > 0 && this.#offset + this.#pos - this.#items[0]!.at > MAX_OPEN) {
      this.#items[0]!.opens = undefined;
      this.#release();
    }
  }

  #entity(ended: boolean): boolean {
    ENTITY.lastIndex = this.#pos;
    const match = ENTITY.exec(this.#src);
    const name = match?.[1] as keyof typeof NAMED_ENTITIES | undefined;
    if (name) return this.#emit(NAMED_ENTITIES[name], name.length + 2);
    const rest = this.#src.slice(this.#pos);
    return !ended && /^&[a-z#0-9]{0,4}$/.test(rest) ? false : this.#emit("&", 1);
  }

  /** The number of equal signs at `at`; NaN if more may follow. */
  #run(at: number, ended: boolean): number {
    const char = this.#src[at];
    let end = at + 1;
    while (end < at + MAX_DELIMITERS && this.#src[end] === char) end++;
    return end === this.#src.length && end < at + MAX_DELIMITERS && !ended ? NaN : end - at;
  }

  #code(ended: boolean): boolean {
    const length = this.#run(this.#pos, ended);
    if (isNaN(length)) return false;
    const most = 2 * length + MAX_CODE;
    const rest = this.#src.slice(this.#pos, this.#pos + most + 1);
    const [all, , inner = ""] = length < MAX_DELIMITERS && CODE_SPAN.exec(rest) || [];
    const mayGrow = length < MAX_DELIMITERS && rest.length <= most;
    if (!ended && mayGrow && (all === undefined || all === rest)) return false;
    const signs = "`".repeat(length);
    if (all === undefined || inner.length > MAX_CODE) return this.#emit(signs, length);
    let text = inner.replaceAll("\n", " ");
    if (/^ [^]* $/.test(text) && text.trim() !== "") text = text.slice(1, -1);
    return this.#emit(this.signs ? signs + text + signs : text, all.length, CODE);
  }

  /** Reads a run of `*`, `_` or `~`, which may close or open an emphasis. */
  #delimiters(char: string, ended: boolean): boolean {
    const length = this.#run(this.#pos, ended);
    if (isNaN(length)) return false;
    const text = char.repeat(length);
    const end = this.#pos + length;
    const before = lastCodePoint(this.#tail);
    const after = end < this.#src.length ? String.fromCodePoint(this.#src.codePointAt(end)!) : "\n";
    const wordBefore = isWordCharacter(before) && (char === "_" || !CJK.test(before));
    const wordAfter = isWordCharacter(after) && (char === "_" || !CJK.test(after));
    const inUrl = this.#inUrl && (isWordCharacter(after) || after === "/");
    if (inUrl || length === MAX_DELIMITERS || char === "~" && length !== 2) {
      return this.#emit(text, length);
    }
    const left = !/\s/.test(after) && (isWordCharacter(after) || !wordBefore);
    const right = !/\s/.test(before) && (isWordCharacter(before) || !wordAfter);
    // Within a word, _ is a letter, and a lone * may be a multiplication.
    const both = left && right;
    const opens = left && !(both && wordBefore && (char === "_" || text === "*"));
    const closes = right && !(both && wordAfter && char === "_");
    const rest = closes ? this.#close(text, both) : text;
    if (rest !== "" && opens) this.#open(rest, char, length, closes);
    else this.#emit(rest, length);
    this.#release();
    return true;
  }

  /** Styles the items that `text` closes; returns the remaining signs. */
  #close(text: string, both: boolean): string {
    const items = this.#items;
    const char = text[0]!;
    const total = text.length;
    for (let i = items.length - 1; i >= 0 && text !== ""; i--) {
      const item = items[i]!;
      if (item.opens !== char) continue;
      const sum = item.text.length + total;
      if ((both || item.both) && sum % 3 === 0 && total % 3 !== 0) continue;
      const length = char === "~" ? 2 : Math.min(2, item.text.length, text.length);
      const inner = items.slice(i + 1);
      if (char === "_" && length === 2 && /^\w+$/.test(textOf(inner))) {
        item.opens = undefined;
        break;
      }
      const style = char === "~" ? STRIKE : length === 2 ? BOLD : ITALIC;
      wrapIn(style, inner);
      text = text.slice(length);
      item.text = item.text.slice(length);
      if (style === STRIKE && this.signs) {
        items.splice(i + 1, 0, { text: "~~", style, at: item.at });
        items.push({ text: "~~", style, at: item.at });
      }
      // The remaining signs may open another one.
      if (item.text === "") items.splice(i, 1);
      else i++;
    }
    return text;
  }

  #closeBracket(ended: boolean): boolean {
    const at = this.#items.findLastIndex(({ opens }) => opens === "[");
    if (at === -1) return this.#emit("]", 1);
    const next = this.#src[this.#pos + 1];
    if (next === undefined && !ended) return false;
    const rest = this.#src.slice(this.#pos + 1, this.#pos + 2 + MAX_CODE);
    const [all, inner = ""] = IN_BRACKETS.exec(rest) ?? [];
    const mayGrow = next === "(" && rest.length <= MAX_CODE && !rest.includes("\n");
    if (!ended && all === undefined && mayGrow) return false;
    const address = all === undefined ? null : ADDRESS.exec(inner.trim());
    if (address) {
      this.#link(at, address[1] ?? address[2]!);
      this.#advance(1 + all!.length);
    } else {
      this.#items[at]!.opens = undefined;
      this.#emit("]", 1);
    }
    this.#release();
    return true;
  }

  #link(at: number, address: string): void {
    const inner = this.#items.splice(at).slice(1);
    const label = textOf(inner);
    wrapIn(UNDERLINE, inner);
    const place = this.#offset + this.#pos;
    const same = [address, address.replace(/^mailto:|^https?:\/\//, "").replace(/\/$/, "")];
    if (address !== "" && !same.includes(label.replace(/^`(.*)`$/, "$1"))) {
      const text = label === "" ? address : ` (${address})`;
      inner.push({ text, style: DIM, at: place });
    }
    this.#items.push(...inner);
  }
}

function isWordCharacter(char: string): boolean {
  return !/\s/.test(char) && !PUNCTUATION.test(char);
}

function textOf(items: Item[]): string {
  return items.map(({ text }) => text).join("");
}

function wrapIn(style: Style, items: Item[]): void {
  for (const item of items) {
    item.style |= style;
    item.opens = undefined;
  }
}
