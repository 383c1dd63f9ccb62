/**
 * The text of a Markdown paragraph: emphasis, code, links. Source: CommonMark 0.31 (inlines),
 * GitHub Flavored Markdown (strikethrough). Not CommonMark: an emphasis or link has to close within
 * {@linkcode MAX_OPEN} characters, as its text is held back until then; `__name__` of one word is a
 * name; line feeds are line breaks; links have no titles and nothing is a reference, an autolink or
 * HTML. @module
 */

import { type Filler, lastCodePoint } from "./fill.ts";
import { BOLD, CODE, DIM, ITALIC, linked, STRIKE, type Style, UNDERLINE } from "../style.ts";

/** The most characters between an emphasis or link that opens and its end. */
const MAX_OPEN = 400;
/** The most characters of inline code, and of a link's address. */
const MAX_CODE = 1000;
/** A run of this many equal signs is text, not emphasis. */
const MAX_DELIMITERS = 64;
const UNSIGNED_TEXT = /[^\\`*_~[\]!&\n]+/y;
const ENTITY = /&(amp|lt|gt|quot|nbsp|#39);/y;
const NAMED_ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\xa0", "#39": "'" };
/** The address of a link, without the brackets around it. */
const ADDRESS = /^(?:<([^<>]*)>|(\S*?))(?:\s+(?:"[^]*"|'[^]*'|\([^]*\)))?$/;
const LIKE_ADDRESS = /:\/\/|^www\.|[\p{L}\p{N}]\.\p{L}{2,}/iu;
const PUNCTUATION = /[\p{P}\p{S}]/u;
/** Scripts without spaces: a sign next to one of their characters may open or close, too. */
const CJK = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/u;

interface Item {
  text: string;
  style: Style;
  /** Its position in the paragraph. */
  at: number;
  /** The sign that may still begin something: `*`, `_`, `~` or `[`. */
  opens?: string | undefined;
  /** True when it might also have closed something. */
  both?: boolean | undefined;
  /** The address that it opens. */
  link?: string;
}

/** Reads the text of one paragraph piece by piece, and writes it to a filler. */
export class InlineParser {
  #src = "";
  #pos = 0;
  /** The position of `src` in the paragraph. */
  #offset = 0;
  /** The position where the search for the end of code or of an address goes on, its bracket depth. */
  #seek = 0;
  #depth = 0;
  /** The last two characters. */
  #tail = "\n";
  /** True while the word so far is an address. */
  #inUrl = false;
  /** Text that is held back: the first item opens something. */
  #items: Item[] = [];

  /** `base`: the style of the paragraph; `signs`: signs stay where no style can stand for them. */
  constructor(
    private readonly fill: Filler,
    private readonly base: Style,
    private readonly signs: boolean,
  ) {}

  /** True when no text is held back here. */
  get idle(): boolean {
    return this.#src === "" && this.#items.length === 0;
  }

  /** Reads `text`, which ends within no surrogate pair. */
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
    this.#seek -= this.#pos;
    this.#pos = 0;
  }

  /** Reads the next token; false if more text must come first. */
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

  /** Writes `text`, or holds it back behind what is; `length` characters of the source are read. */
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
    this.#seek = this.#pos = end;
    this.#depth = 0;
    return true;
  }

  #write(text: string, style: Style, link?: string): void {
    if (text === "\n") this.fill.endLine();
    else this.fill.text(text, this.base | style, link);
  }

  /** Writes the items before the first that may still begin something. */
  #release(): void {
    while (this.#items.length > 0 && this.#items[0]!.opens === undefined) {
      const { text, style, link } = this.#items.shift()!;
      this.#write(text, style, link);
    }
  }

  /** Makes text of an item that opened too long ago. */
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

  /** The number of the same sign at `at`; NaN if more may come. */
  #run(at: number, ended: boolean): number {
    const char = this.#src[at];
    let end = at + 1;
    while (end < at + MAX_DELIMITERS && this.#src[end] === char) end++;
    return end === this.#src.length && end < at + MAX_DELIMITERS && !ended ? NaN : end - at;
  }

  #code(ended: boolean): boolean {
    const length = this.#run(this.#pos, ended);
    if (isNaN(length)) return false;
    const start = this.#pos + length;
    const limit = start + MAX_CODE;
    for (let at = Math.max(start, this.#seek); length < MAX_DELIMITERS;) {
      at = this.#src.indexOf("`", at);
      if (at === -1) at = this.#src.length;
      if (at > limit) break;
      const found = at < this.#src.length ? this.#run(at, ended) : NaN;
      if (isNaN(found)) {
        if (ended) break;
        this.#seek = at;
        return false;
      }
      if (found === length) {
        let text = this.#src.slice(start, at).replaceAll("\n", " ");
        if (/^ [^]* $/.test(text) && text.trim() !== "") text = text.slice(1, -1);
        const signs = this.signs ? "`".repeat(length) : "";
        return this.#emit(signs + text + signs, at + length - this.#pos, CODE);
      }
      at += found;
    }
    return this.#emit("`".repeat(length), length);
  }

  /** Reads `*`, `_` or `~~`, which may close one that opened before, or open one. */
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
    // Within a word, _ is a letter, and a lone * is one or a multiplication.
    const both = left && right;
    const opens = left && !(both && wordBefore && (char === "_" || text === "*"));
    const closes = right && !(both && wordAfter && char === "_");
    const rest = closes ? this.#close(text, both) : text;
    if (rest !== "" && opens) this.#open(rest, char, length, closes);
    else this.#emit(rest, length);
    this.#release();
    return true;
  }

  /** Styles the items between the opening sign and `text`, which closes it; the signs left over. */
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
      // The signs left of it may open another.
      if (item.text === "") items.splice(i, 1);
      else i++;
    }
    return text;
  }

  /** `]`, which ends a link if an address follows. */
  #closeBracket(ended: boolean): boolean {
    const at = this.#items.findLastIndex(({ opens }) => opens === "[");
    if (at === -1) return this.#emit("]", 1);
    const next = this.#src[this.#pos + 1];
    if (next === undefined && !ended) return false;
    const end = next === "(" ? this.#addressEnd(ended) : -1;
    if (end === undefined) return false;
    const address = end === -1 ? null : ADDRESS.exec(this.#src.slice(this.#pos + 2, end).trim());
    if (address) {
      this.#link(at, address[1] ?? address[2]!);
      this.#advance(end + 1 - this.#pos);
    } else {
      this.#items[at]!.opens = undefined;
      this.#emit("]", 1);
    }
    this.#release();
    return true;
  }

  /** The end of the bracket that opens behind `]`; -1 if it has none, undefined if that is not known. */
  #addressEnd(ended: boolean): number | undefined {
    const start = this.#pos + 1;
    for (let at = Math.max(start, this.#seek); at < this.#src.length; at++) {
      const char = this.#src[at];
      if (char === "(") this.#depth++;
      else if (char === ")") this.#depth--;
      if (this.#depth === 0) return at;
      if (this.#depth > 3 || char === "\n" || at - start > MAX_CODE) return -1;
      this.#seek = at + 1;
    }
    return ended ? -1 : undefined;
  }

  /** Makes a link of what stands behind the bracket at `at`. */
  #link(at: number, address: string): void {
    const inner = this.#items.splice(at).slice(1);
    const label = textOf(inner);
    wrapIn(UNDERLINE, inner);
    const place = this.#offset + this.#pos;
    const same = [address, address.replace(/^mailto:|^https?:\/\//, "").replace(/\/$/, "")];
    const isOpened = this.fill.hasLinks && linked("x", address) !== "x";
    if (isOpened) inner.forEach((item) => item.link ??= address);
    // What looks like an address, and is another, is told in full where a link opens it, too.
    const isShown = !isOpened || label.trim() === "" || LIKE_ADDRESS.test(label);
    if (isShown && address !== "" && !same.includes(label.replace(/^`(.*)`$/, "$1"))) {
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

/** Gives `items` a style; nothing within it opens any more. */
function wrapIn(style: Style, items: Item[]): void {
  for (const item of items) {
    item.style |= style;
    item.opens = undefined;
  }
}
