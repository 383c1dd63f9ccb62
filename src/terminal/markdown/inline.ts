/**
 * What Markdown has within a paragraph: emphasis, code, links.
 *
 * Source: CommonMark 0.31 (inlines), GitHub Flavored Markdown (strikethrough). Not CommonMark: what
 * is opened has to close within {@linkcode MAX_OPEN} characters, as its text is held back until
 * then; `__name__` of one word is a name; line feeds are line breaks; links have no titles and
 * nothing is a reference, an autolink or HTML.
 *
 * @module
 */

import { type Filler, lastCodePoint } from "./fill.ts";
import { BOLD, CODE, DIM, ITALIC, STRIKE, type Style, UNDERLINE } from "../style.ts";

/** Reads the text of one paragraph piece by piece. */
export interface InlineParser {
  /** Reads `text`, which ends within no surrogate pair. */
  push(text: string): void;
  /** The paragraph is over. */
  end(): void;
  /** Whether nothing is held back here. */
  readonly idle: boolean;
}

/** Characters between an emphasis or link that opens and its end. */
const MAX_OPEN = 400;
/** Characters of inline code, and of a link's address. */
const MAX_CODE = 1000;
/** Longer rows of one sign are text. */
const MAX_RUN = 64;

const PLAIN = /[^\\`*_~[\]!&\n]+/y;
const ENTITY = /&(amp|lt|gt|quot|nbsp|#39);/y;
const ENTITIES: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  nbsp: "\xa0",
  "#39": "'",
};
/** The address of a link, without the brackets around it. */
const ADDRESS = /^(?:<([^<>]*)>|(\S*?))(?:\s+(?:"[^]*"|'[^]*'|\([^]*\)))?$/;

const PUNCTUATION = /[\p{P}\p{S}]/u;
/** Next to these, too, a sign may open or close: they are written without spaces. */
const CJK = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/u;

interface Item {
  text: string;
  style: Style;
  /** Where it stands in the paragraph. */
  at: number;
  /** What may still begin something: `*`, `_`, `~` or `[`. */
  opens?: string | undefined;
  /** Whether it might also have closed something. */
  both?: boolean;
}

interface State {
  fill: Filler;
  base: Style;
  /** Whether signs stay where no style can stand for them. */
  signs: boolean;
  src: string;
  pos: number;
  /** Where in the paragraph `src` begins. */
  offset: number;
  /** Where the search for the end of code or of an address goes on, how deep in brackets. */
  seek: number;
  depth: number;
  /** The last two characters. */
  tail: string;
  /** Whether the word so far is an address. */
  inUrl: boolean;
  /** What is held back: the first of them opens something. */
  items: Item[];
}

/**
 * A parser that writes to `fill`.
 *
 * @param base The style of all of it.
 * @param signs Whether to keep the signs of code and of struck text.
 */
export function inlineParser(fill: Filler, base: Style, signs: boolean): InlineParser {
  const s: State = {
    fill,
    base,
    signs,
    src: "",
    pos: 0,
    offset: 0,
    seek: 0,
    depth: 0,
    tail: "\n",
    inUrl: false,
    items: [],
  };
  function push(text: string, ended: boolean): void {
    s.src += text;
    while (expire(s), s.pos < s.src.length && step(s, ended));
    s.src = s.src.slice(s.pos);
    s.offset += s.pos;
    s.seek = Math.max(0, s.seek - s.pos);
    s.pos = 0;
  }
  return {
    push: (text) => push(text, false),
    end() {
      push("", true);
      for (const item of s.items) item.opens = undefined;
      release(s);
    },
    get idle() {
      return s.src === "" && s.items.length === 0;
    },
  };
}

/** Reads the next token; false if more text must come first. */
function step(s: State, ended: boolean): boolean {
  PLAIN.lastIndex = s.pos;
  const plain = PLAIN.exec(s.src)?.[0];
  if (plain !== undefined) {
    const word = plain.slice(plain.lastIndexOf(" ") + 1);
    const whole = word.length === plain.length;
    s.inUrl = s.inUrl && whole || `${whole ? s.tail : ""}${word}`.includes("://");
    return emit(s, plain, plain.length);
  }
  const char = s.src[s.pos]!;
  const next = s.src[s.pos + 1];
  switch (char) {
    case "\n":
      s.inUrl = false;
      return emit(s, "\n", 1);
    case "\\":
      if (next === undefined && !ended) return false;
      if (next === "\n") return emit(s, "", 1);
      return /[!-/:-@[-`{-~]/.test(next ?? "") ? emit(s, next!, 2) : emit(s, "\\", 1);
    case "&":
      return entity(s, ended);
    case "`":
      return code(s, ended);
    case "!":
      if (next === undefined && !ended) return false;
      return next === "[" ? open(s, "![", "[") : emit(s, "!", 1);
    case "[":
      return open(s, "[", "[");
    case "]":
      return closeBracket(s, ended);
    default:
      return delimiters(s, char, ended);
  }
}

/** Writes `text`, or holds it back behind what is; `length` characters of the source are read. */
function emit(s: State, text: string, length: number, style: Style = 0): true {
  const last = s.items.at(-1);
  if (last === undefined) write(s, text, style);
  else if (
    last.opens === undefined && last.style === style && text !== "\n" && last.text !== "\n"
  ) {
    last.text += text;
  } else s.items.push({ text, style, at: s.offset + s.pos });
  return advance(s, length);
}

function open(s: State, text: string, opens: string): true {
  s.items.push({ text, style: 0, at: s.offset + s.pos, opens });
  return advance(s, text.length);
}

function advance(s: State, length: number): true {
  s.tail = (s.tail + s.src.slice(Math.max(s.pos, s.pos + length - 2), s.pos + length)).slice(-2);
  s.seek = s.pos += length;
  s.depth = 0;
  return true;
}

function write(s: State, text: string, style: Style): void {
  if (text === "\n") s.fill.endLine();
  else s.fill.text(text, s.base | style);
}

/** Writes what is held back before the first item that may still begin something. */
function release(s: State): void {
  while (s.items.length > 0 && s.items[0]!.opens === undefined) {
    const { text, style } = s.items.shift()!;
    write(s, text, style);
  }
}

/** What opened too long ago is text. */
function expire(s: State): void {
  while (s.items.length > 0 && s.offset + s.pos - s.items[0]!.at > MAX_OPEN) {
    s.items[0]!.opens = undefined;
    release(s);
  }
}

function entity(s: State, ended: boolean): boolean {
  ENTITY.lastIndex = s.pos;
  const match = ENTITY.exec(s.src);
  if (match) return emit(s, ENTITIES[match[1]!]!, match[0].length);
  const rest = s.src.slice(s.pos, s.pos + 7);
  return !ended && /^&[a-z#0-9]{0,4}$/.test(rest) ? false : emit(s, "&", 1);
}

/** How many of the same sign stand at `at`: NaN if there may come more. */
function run(s: State, at: number, ended: boolean): number {
  const char = s.src[at];
  let end = at + 1;
  while (end < at + MAX_RUN && s.src[end] === char) end++;
  return end === s.src.length && end < at + MAX_RUN && !ended ? NaN : end - at;
}

function code(s: State, ended: boolean): boolean {
  const length = run(s, s.pos, ended);
  if (isNaN(length)) return false;
  const start = s.pos + length;
  const limit = start + MAX_CODE;
  for (let at = Math.max(start, s.seek); length < MAX_RUN;) {
    at = s.src.indexOf("`", at);
    if (at < 0) at = s.src.length;
    if (at > limit) break;
    const found = at < s.src.length ? run(s, at, ended) : NaN;
    if (isNaN(found)) {
      if (ended) break;
      s.seek = at;
      return false;
    }
    if (found === length) {
      let text = s.src.slice(start, at).replaceAll("\n", " ");
      if (text.startsWith(" ") && text.endsWith(" ") && text.trim() !== "") {
        text = text.slice(1, -1);
      }
      const signs = s.signs ? "`".repeat(length) : "";
      return emit(s, signs + text + signs, at + length - s.pos, CODE);
    }
    at += found;
  }
  return emit(s, "`".repeat(length), length);
}

/** `*`, `_` or `~~`: what it closes, and what it may open. */
function delimiters(s: State, char: string, ended: boolean): boolean {
  const length = run(s, s.pos, ended);
  if (isNaN(length)) return false;
  const text = char.repeat(length);
  const end = s.pos + length;
  const before = lastCodePoint(s.tail);
  const after = end < s.src.length ? String.fromCodePoint(s.src.codePointAt(end)!) : "\n";
  const wordBefore = isWord(before) && (char === "_" || !CJK.test(before));
  const wordAfter = isWord(after) && (char === "_" || !CJK.test(after));
  const inUrl = s.inUrl && (isWord(after) || after === "/");
  if (inUrl || length === MAX_RUN || char === "~" && length !== 2) return emit(s, text, length);
  const left = !/\s/.test(after) && (isWord(after) || !wordBefore);
  const right = !/\s/.test(before) && (isWord(before) || !wordAfter);
  // Within a word, _ is a letter, and a lone * is one or a multiplication.
  const both = left && right;
  const opens = left && !(both && wordBefore && (char === "_" || text === "*"));
  const closes = right && !(both && wordAfter && char === "_");
  const rest = closes ? close(s, text, both) : text;
  if (rest !== "" && opens) {
    s.items.push({ text: rest, style: 0, at: s.offset + s.pos, opens: char, both: closes });
    advance(s, length);
  } else {
    emit(s, rest, length);
  }
  release(s);
  return true;
}

function isWord(char: string): boolean {
  return !/\s/.test(char) && !PUNCTUATION.test(char);
}

/** Gives their style to what stands between `text` and what it closes; returns what is left of it. */
function close(s: State, text: string, both: boolean): string {
  const { items } = s;
  const char = text[0]!;
  const total = text.length;
  for (let i = items.length - 1; i >= 0 && text !== ""; i--) {
    const item = items[i]!;
    if (item.opens !== char) continue;
    const sum = item.text.length + total;
    if ((both || item.both) && sum % 3 === 0 && total % 3 !== 0) continue;
    const length = char === "~" ? 2 : Math.min(2, item.text.length, text.length);
    if (char === "_" && length === 2 && isName(items.slice(i + 1))) {
      item.opens = undefined;
      break;
    }
    const style = char === "~" ? STRIKE : length === 2 ? BOLD : ITALIC;
    for (const inner of items.slice(i + 1)) {
      inner.style |= style;
      inner.opens = undefined;
    }
    text = text.slice(length);
    item.text = item.text.slice(length);
    if (style === STRIKE && s.signs) {
      items.splice(i + 1, 0, { text: "~~", style, at: item.at });
      items.push({ text: "~~", style, at: item.at });
    }
    // What is left of it may open another.
    if (item.text === "") items.splice(i, 1);
    else i++;
  }
  return text;
}

function isName(items: Item[]): boolean {
  return /^\w+$/.test(items.map(({ text }) => text).join(""));
}

/** `]`, which ends a link if an address follows. */
function closeBracket(s: State, ended: boolean): boolean {
  const at = s.items.findLastIndex(({ opens }) => opens === "[");
  if (at < 0) return emit(s, "]", 1);
  const next = s.src[s.pos + 1];
  if (next === undefined && !ended) return false;
  const end = next === "(" ? addressEnd(s, ended) : -1;
  if (end === undefined) return false;
  const address = end < 0 ? null : ADDRESS.exec(s.src.slice(s.pos + 2, end).trim());
  if (address) {
    link(s, at, address[1] ?? address[2]!);
    advance(s, end + 1 - s.pos);
  } else {
    s.items[at]!.opens = undefined;
    emit(s, "]", 1);
  }
  release(s);
  return true;
}

/** Where the bracket ends that opens behind `]`; -1 if it does not, undefined if it is not known. */
function addressEnd(s: State, ended: boolean): number | undefined {
  const start = s.pos + 1;
  for (let at = Math.max(start, s.seek); at < s.src.length; at++) {
    const char = s.src[at];
    if (char === "(") s.depth++;
    else if (char === ")") s.depth--;
    if (s.depth === 0) return at;
    if (s.depth > 3 || char === "\n" || at - start > MAX_CODE) return -1;
    s.seek = at + 1;
  }
  return ended ? -1 : undefined;
}

/** Makes a link of what stands behind the bracket at `at`. */
function link(s: State, at: number, address: string): void {
  const inner = s.items.splice(at).slice(1);
  const label = inner.map(({ text }) => text).join("");
  for (const item of inner) {
    item.opens = undefined;
    item.style |= UNDERLINE;
  }
  const place = s.offset + s.pos;
  const same = [address, address.replace(/^mailto:|^https?:\/\//, "").replace(/\/$/, "")];
  if (address !== "" && !same.includes(label.replace(/^`(.*)`$/, "$1"))) {
    const text = label === "" ? address : ` (${address})`;
    inner.push({ text, style: DIM, at: place });
  }
  s.items.push(...inner);
}
