/**
 * Markdown on a terminal, as it streams: what has been written is never changed. Text appears word
 * by word, code line by line, tables when they are over or long. Code stands as it was written behind a
 * margin of two columns, and is left to the terminal to wrap: what is copied is what runs. Where there
 * are no colours, its fences stand for the margin. Source:
 * CommonMark 0.31 and GitHub Flavored Markdown; the other modules name the exceptions. @module
 */

import { marksAtEnd, sanitizeProse } from "../../text/sanitize.ts";
import { type Appearance, type Painter, painter } from "../style.ts";
import { MarkdownDocument } from "./document.ts";
import type { TableStyle } from "./table.ts";

export class MarkdownRenderer {
  readonly #style: TableStyle;
  #document: MarkdownDocument;
  /** The first half of a line end or of a surrogate pair. */
  #half = "";
  /** The marks at the end of what was fed: those of the next piece may be too many with them. */
  #marks = "";

  /** @param look its colours may become others. */
  constructor(look: Appearance & { columns: number; paint?: Painter }) {
    const { unicode, columns, paint = painter(look) } = look;
    this.#style = {
      paint,
      unicode,
      get signs() {
        return look.colors === "none";
      },
    };
    this.#document = new MarkdownDocument(usable(columns), this.#style);
  }

  /** Reads `text`, cut anywhere; returns what to print now, in which all styles are closed. */
  push(text: string): string {
    text = this.#half + text;
    this.#half = /[\r\ud800-\udbff]$/.test(text) ? text.at(-1)! : "";
    const shown = this.#safe(this.#marks + (this.#half === "" ? text : text.slice(0, -1)));
    this.#document.feed(shown.slice(this.#marks.length));
    this.#marks = marksAtEnd(shown);
    return this.#document.fill.take();
  }

  /** Returns what is left to print, up to a line feed; what is pushed then is a new text. */
  end(): string {
    this.#document.feed(this.#safe(this.#half));
    this.#half = "";
    this.#marks = "";
    this.#document.end();
    const rest = this.#document.fill.take();
    this.#document = new MarkdownDocument(this.#document.fill.columns, this.#style);
    return rest;
  }

  /** Later lines fit into `columns`. */
  resize(columns: number): void {
    this.#document.fill.columns = usable(columns);
  }

  /** True while the rows of a table are held back. */
  get holdsTable(): boolean {
    return this.#document.holdsTable;
  }

  #safe(text: string): string {
    if (/^[\n\x20-\x7e]*$/.test(text)) return text;
    const shown = sanitizeProse(text.replaceAll("\r\n", "\n"));
    // The other stand-ins of ASCII take as many columns as what they stand for: the screen puts them in.
    return this.#style.unicode ? shown : shown.replaceAll("…", "...");
  }
}

/** The width as columns to work with; terminals that do not know theirs report 0. */
function usable(columns: number): number {
  return Math.min(1000, Math.max(8, Math.floor(columns) || 80));
}
