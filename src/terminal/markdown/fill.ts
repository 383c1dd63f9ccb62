/**
 * Fills lines with words, as they come.
 *
 * @module
 */

import { displayWidth, graphemes, graphemeWidth } from "../../text/width.ts";
import type { Painter, Style } from "../style.ts";

/** What stands before the text of a line: printable, and the columns it takes. */
export interface Prefix {
  text: string;
  width: number;
}

/** Collects output: words that are wrapped, and lines that are not. */
export interface Filler {
  /** Columns of a line; later lines are wrapped at the new value. */
  columns: number;
  /** Columns that the prefix leaves. */
  readonly room: number;
  /** Whether anything has been written. */
  readonly wrote: boolean;
  /** Adds text without line feeds, cut anywhere but within a surrogate pair. */
  text(text: string, style: Style): void;
  /** Drops the last word, which is not written yet, if it fits `pattern`. */
  dropWord(pattern: RegExp): void;
  /** Ends the line, if one has begun. */
  endLine(): void;
  /** Writes one line of which nothing is wrapped, behind the prefix. */
  line(text: string): void;
  /** Writes text that stays as it is, without prefix, until `endLine`. */
  verbatim(text: string): void;
  /** Takes what has been written since the last call. */
  take(): string;
}

/** Longer words are cut: no text without spaces may fill the memory. */
const MAX_WORD = 1024;

const CJK = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\u3001-\u3029\u30fc\uff01-\uff60]/u;
/** No line begins with these (JIS X 4051, in short), nor with what joins the character before it. */
const NOT_FIRST =
  /[\p{Pe}\p{Pf}\p{M}\p{Emoji_Modifier}\u200c\u200d!%,.:;?\u2026\u3001-\u3002\u3005\u303b\u3041\u3043\u3045\u3047\u3049\u3063\u3083\u3085\u3087\u308e\u309d\u309e\u30a1\u30a3\u30a5\u30a7\u30a9\u30c3\u30e3\u30e5\u30e7\u30ee\u30fb-\u30fe\uff01\uff05\uff0c\uff0e\uff1a\uff1b\uff1f\uff61\uff9e\uff9f]/u;
/** No line ends with these. */
const NOT_LAST = /[\p{Ps}\p{Pi}\u200d]/u;

function mayBreak(before: string, after: string): boolean {
  return (CJK.test(before) || CJK.test(after)) && !NOT_LAST.test(before) && !NOT_FIRST.test(after);
}

/** Characters of which none joins another: what most text is made of. */
const APART = new RegExp(
  "^[\\x20-\u02ff\u0370-\u0482\u048a-\u0590\u1e00-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u20cf" +
    "\u2100-\u2bff\u3001-\u3029\u3041-\u3096\u30a1-\u9fff\uff01-\uff60]*$",
);

/** The graphemes of `text`. */
function charactersOf(text: string): string[] {
  return APART.test(text) ? text.split("") : graphemes(text);
}

/** The columns of `text`. */
export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  if (!APART.test(text)) return displayWidth(text);
  let width = 0;
  for (const char of text) width += graphemeWidth(char);
  return width;
}

interface Part {
  text: string;
  style: Style;
}

const NO_SPACE: Part = { text: "", style: 0 };

interface State {
  out: string;
  wrote: boolean;
  columns: number;
  /** Whether a line has begun, the columns written on it, and those of its prefix. */
  open: boolean;
  column: number;
  start: number;
  /** The word that may still grow, and the space before it. */
  word: string;
  parts: Part[];
  space: Part;
  /** The last code point of the word. */
  last: string;
  /** Whether the word goes on from a part of it that is written. */
  glued: boolean;
  prefix: (shows: boolean) => Prefix;
  paint: Painter;
}

/** A filler of lines of `columns`, each after what `prefix` gives; it is told whether that is shown. */
export function filler(
  columns: number,
  prefix: (shows: boolean) => Prefix,
  paint: Painter,
): Filler {
  const s: State = {
    out: "",
    wrote: false,
    columns,
    open: false,
    column: 0,
    start: 0,
    word: "",
    parts: [],
    space: NO_SPACE,
    last: "",
    glued: false,
    prefix,
    paint,
  };
  return {
    get columns() {
      return s.columns;
    },
    set columns(value) {
      s.columns = value;
    },
    get room() {
      return s.columns - s.prefix(false).width;
    },
    get wrote() {
      return s.wrote;
    },
    text: (text, style) => addText(s, text, style),
    dropWord(pattern) {
      if (!s.glued && pattern.test(s.word)) clearWord(s);
    },
    endLine() {
      place(s);
      s.glued = false;
      breakLine(s);
    },
    line(text) {
      s.out += `${(s.prefix(true).text + text).trimEnd()}\n`;
      s.wrote = true;
    },
    verbatim(text) {
      s.out += text;
      s.wrote = s.open = true;
    },
    take() {
      const { out } = s;
      s.out = "";
      return out;
    },
  };
}

function addText(s: State, text: string, style: Style): void {
  let from = 0;
  let i = 0;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    if (code === 32 || code === 9) {
      addToWord(s, text.slice(from, i), style);
      place(s);
      s.glued = false;
      // More than a line of spaces is dropped at its end anyway.
      if (s.space.text === "") s.space = { text: " ", style };
      else if (s.space.text.length < MAX_WORD) s.space.text += " ";
      from = ++i;
    } else if (code < 0x300 && (i === from ? s.last : text[i - 1]!) < "\u0300") {
      i++;
    } else {
      const char = String.fromCodePoint(text.codePointAt(i)!);
      const before = i === from ? s.last : lastCodePoint(text.slice(Math.max(from, i - 2), i));
      if (before !== "" && mayBreak(before, char)) {
        addToWord(s, text.slice(from, i), style);
        place(s);
        s.glued = false;
        from = i;
      }
      i += char.length;
    }
  }
  addToWord(s, text.slice(from), style);
}

/** The last code point of `text`, which is not empty. */
export function lastCodePoint(text: string): string {
  return text.length > 1 && /[\ud800-\udbff]/.test(text.at(-2)!) ? text.slice(-2) : text.slice(-1);
}

function addToWord(s: State, text: string, style: Style): void {
  while (s.word.length + text.length > MAX_WORD) {
    let room = MAX_WORD - s.word.length;
    if (room > 0 && /[\ud800-\udbff]/.test(text[room - 1]!)) room--;
    append(s, text.slice(0, room), style);
    text = text.slice(room);
    cutWord(s);
  }
  append(s, text, style);
}

function append(s: State, text: string, style: Style): void {
  if (text === "") return;
  const part = s.parts.at(-1);
  if (part?.style === style) part.text += text;
  else s.parts.push({ text, style });
  s.word += text;
  s.last = lastCodePoint(text);
}

function clearWord(s: State): void {
  s.word = s.last = "";
  s.parts = [];
}

/** Writes a word that is too long, but for the grapheme at its end: more of it may come. */
function cutWord(s: State): void {
  const { last } = s;
  const end = charactersOf(s.word).at(-1)!;
  const part = s.parts.at(-1)!;
  const keep = end.length <= 64 && end.length < part.text.length ? end : "";
  if (keep !== "") {
    part.text = part.text.slice(0, -keep.length);
    s.word = s.word.slice(0, -keep.length);
  }
  place(s);
  s.glued = true;
  append(s, keep, part.style);
  s.last = last;
}

/** Writes the word that is complete, on the next line where this one has no room. */
function place(s: State): void {
  if (s.word === "") return;
  const width = textWidth(s.word);
  if (s.open && !s.glued && s.column + s.space.text.length + width > s.columns) breakLine(s);
  if (!s.open) begin(s);
  const { space, parts } = s;
  s.space = NO_SPACE;
  s.column += space.text.length;
  if (s.column + width <= s.columns) {
    s.column += width;
    write(s, [space, ...parts]);
  } else {
    breakWord(s, space);
  }
  clearWord(s);
}

/** Writes a word wider than what is left of the line, as many graphemes on each as fit. */
function breakWord(s: State, space: Part): void {
  const styles: Style[] = [];
  for (const { text, style } of s.parts) {
    for (let i = 0; i < text.length; i++) styles.push(style);
  }
  let line = [space];
  let at = 0;
  for (const grapheme of charactersOf(s.word)) {
    const width = graphemeWidth(grapheme);
    if (s.column + width > s.columns && s.column > s.start) {
      write(s, line);
      line = [];
      breakLine(s);
      begin(s);
    }
    s.column += width;
    line.push({ text: grapheme, style: styles[at]! });
    at += grapheme.length;
  }
  write(s, line);
}

/** Writes parts, those of one style in one go; closed, so that nothing is left on behind them. */
function write(s: State, parts: Part[]): void {
  let text = "";
  let style = 0;
  for (const part of parts) {
    if (part.style !== style) {
      s.out += s.paint(text, style);
      text = "";
      style = part.style;
    }
    text += part.text;
  }
  s.out += s.paint(text, style);
}

function begin(s: State): void {
  const { text, width } = s.prefix(true);
  s.out += text;
  s.column = s.start = width;
  s.open = s.wrote = true;
  s.space = NO_SPACE;
}

function breakLine(s: State): void {
  if (s.open) s.out += "\n";
  s.open = false;
  s.space = NO_SPACE;
}
