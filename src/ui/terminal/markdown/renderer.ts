/**
 * Streams Markdown to a terminal; output never changes. Text appears word by word, code line by line,
 * a table when it ends or is long. The terminal wraps code, so that copied code runs. Sources:
 * CommonMark 0.31 and GitHub Flavored Markdown; the other modules name the exceptions. @module
 */

import { marksAtEnd, sanitizeProse } from "../../../text/sanitize.ts";
import { type Appearance, type Painter, painter } from "../style.ts";
import { MarkdownDocument } from "./document.ts";
import type { TableStyle } from "./table.ts";

export class MarkdownRenderer {
  readonly #style: TableStyle;
  readonly #unicode: boolean;
  #document: MarkdownDocument;
  /** The first half of a line end or of a surrogate pair. */
  #half = "";
  /** The marks at the end of the last piece, which count with those of the next one. */
  #marks = "";

  /** @param look Its colours may change later. */
  constructor(look: Appearance & { columns: number; paint?: Painter }) {
    const { unicode, columns, paint = painter(look) } = look;
    this.#unicode = unicode;
    this.#style = {
      paint,
      get signs() {
        return look.colors === "none";
      },
    };
    this.#document = new MarkdownDocument(usable(columns), this.#style);
  }

  /** Reads a piece of text; returns the text to print, in which all styles are closed. */
  push(text: string): string {
    text = this.#half + text;
    this.#half = /[\r\ud800-\udbff]$/.test(text) ? text.at(-1)! : "";
    const shown = this.#safe(this.#marks + (this.#half === "" ? text : text.slice(0, -1)));
    this.#document.feed(shown.slice(this.#marks.length));
    this.#marks = marksAtEnd(shown);
    return this.#document.fill.take();
  }

  end(): string {
    this.#document.feed(this.#safe(this.#half));
    this.#half = "";
    this.#marks = "";
    this.#document.end();
    const rest = this.#document.fill.take();
    this.#document = new MarkdownDocument(this.#document.fill.columns, this.#style);
    return rest;
  }

  resize(columns: number): void {
    this.#document.fill.columns = usable(columns);
  }

  get holdsTable(): boolean {
    return this.#document.holdsTable;
  }

  #safe(text: string): string {
    if (/^[\n\x20-\x7e]*$/.test(text)) return text;
    const shown = sanitizeProse(text.replaceAll("\r\n", "\n"));
    // The screen replaces signs by ASCII of the same width; this one is wider.
    return this.#unicode ? shown : shown.replaceAll("…", "...");
  }
}

/** The width within limits; some terminals report 0. */
function usable(columns: number): number {
  return Math.min(1000, Math.max(8, Math.floor(columns) || 80));
}
