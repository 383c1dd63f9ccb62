/** Wraps streamed words into lines. @module */

import { displayWidth, graphemes, graphemeWidth } from "../../../text/width.ts";
import type { Painter, Style } from "../style.ts";

export interface Prefix {
  text: string;
  width: number;
}

/** Longer words are cut, because text without spaces must not fill the memory. */
const MAX_WORD = 1024;
const IDEOGRAPHIC = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\u3001-\u3029\u30fc\uff01-\uff60]/u;
/** No line starts with these (JIS X 4051, shortened), or with a sign that joins the one before. */
const NOT_FIRST =
  /[\p{Pe}\p{Pf}\p{M}\p{Emoji_Modifier}\u200c\u200d!%,.:;?\u2026\u3001-\u3002\u3005\u303b\u3041\u3043\u3045\u3047\u3049\u3063\u3083\u3085\u3087\u308e\u309d\u309e\u30a1\u30a3\u30a5\u30a7\u30a9\u30c3\u30e3\u30e5\u30e7\u30ee\u30fb-\u30fe\uff01\uff05\uff0c\uff0e\uff1a\uff1b\uff1f\uff61\uff9e\uff9f]/u;
/** No line ends with these. */
const NOT_LAST = /[\p{Ps}\p{Pi}\u200d]/u;

function mayBreak(before: string, after: string): boolean {
  return (IDEOGRAPHIC.test(before) || IDEOGRAPHIC.test(after)) && !NOT_LAST.test(before) &&
    !NOT_FIRST.test(after);
}

export function textWidth(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : displayWidth(text);
}

interface StyledText {
  text: string;
  style: Style;
}

const NO_SPACE: StyledText = { text: "", style: 0 };

export function lastCodePoint(text: string): string {
  return text.slice(/[\ud800-\udbff]/.test(text.slice(-2, -1)) ? -2 : -1);
}

/** Collects output: wrapped words, and lines that are not wrapped. */
export class Filler {
  wrote = false;
  #out = "";
  #open = false;
  #column = 0;
  #start = 0;
  #word = "";
  #parts: StyledText[] = [];
  #space = NO_SPACE;

  /** `prefix` returns the text at the start of a line; `shows` is false if only its width is needed. */
  constructor(
    public columns: number,
    private readonly prefix: (shows: boolean) => Prefix,
    private readonly paint: Painter,
  ) {}

  get room(): number {
    return this.columns - this.prefix(false).width;
  }

  dropWord(pattern: RegExp): void {
    if (pattern.test(this.#word)) this.#clearWord();
  }

  endLine(): void {
    this.#place();
    this.#breakLine();
  }

  line(text: string): void {
    this.#out += `${(this.prefix(true).text + text).trimEnd()}\n`;
    this.wrote = true;
  }

  verbatim(text: string): void {
    this.#out += text;
    this.wrote = this.#open = true;
  }

  take(): string {
    const out = this.#out;
    this.#out = "";
    return out;
  }

  /** Adds text without line feeds, which ends within no surrogate pair. */
  text(text: string, style: Style): void {
    for (const char of text) {
      if (char === " " || char === "\t") {
        this.#place();
        if (this.#space.text === "") this.#space = { text: " ", style };
        else if (this.#space.text.length < MAX_WORD) this.#space.text += " ";
        continue;
      }
      const isLatin = this.#word.slice(-1) < "\u0300" && char < "\u0300";
      const isBroken = !isLatin && mayBreak(lastCodePoint(this.#word), char);
      if (isBroken || this.#word.length >= MAX_WORD) this.#place();
      const part = this.#parts.at(-1);
      if (part?.style === style) part.text += char;
      else this.#parts.push({ text: char, style });
      this.#word += char;
    }
  }

  #clearWord(): void {
    this.#word = "";
    this.#parts = [];
  }

  /** Writes the finished word, on the next line if it does not fit. */
  #place(): void {
    if (this.#word === "") return;
    const width = textWidth(this.#word);
    const end = this.#column + this.#space.text.length + width;
    if (this.#open && end > this.columns) this.#breakLine();
    if (!this.#open) this.#begin();
    const space = this.#space;
    this.#space = NO_SPACE;
    this.#column += space.text.length;
    if (this.#column + width <= this.columns) {
      this.#column += width;
      this.#write([space, ...this.#parts]);
    } else {
      this.#breakWord(space);
    }
    this.#clearWord();
  }

  #breakWord(space: StyledText): void {
    let line = [space];
    const all = this.#parts.flatMap(({ text, style }) =>
      graphemes(text).map((text) => ({ text, style }))
    );
    for (const one of all) {
      const width = graphemeWidth(one.text);
      if (this.#column + width > this.columns && this.#column > this.#start) {
        this.#write(line);
        line = [];
        this.#breakLine();
        this.#begin();
      }
      this.#column += width;
      line.push(one);
    }
    this.#write(line);
  }

  #write(parts: StyledText[]): void {
    let group = NO_SPACE;
    for (const { text, style } of parts) {
      if (style === group.style) group = { text: group.text + text, style };
      else {
        this.#out += this.paint(group.text, group.style);
        group = { text, style };
      }
    }
    this.#out += this.paint(group.text, group.style);
  }

  #begin(): void {
    const { text, width } = this.prefix(true);
    this.#out += text;
    this.#column = this.#start = width;
    this.#open = this.wrote = true;
    this.#space = NO_SPACE;
  }

  #breakLine(): void {
    if (this.#open) this.#out += "\n";
    this.#open = false;
    this.#space = NO_SPACE;
  }
}
