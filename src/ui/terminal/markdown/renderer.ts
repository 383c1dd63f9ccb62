/**
 * Streams Markdown to a terminal; output never changes. Text appears word by word, code line by line,
 * a table when it ends or is long. The terminal wraps code, so that copied code runs. Sources:
 * CommonMark 0.31 and GitHub Flavored Markdown; the other modules name the exceptions. @module
 */

import { closesCode, outdent } from "../../../text/fence.ts";
import { marksAtEnd, sanitizeProse } from "../../../text/sanitize.ts";
import { type BlockStart, blockStart, type Container, fitting } from "./blocks.ts";
import { Filler, type Prefix } from "./fill.ts";
import { type Highlighter, highlighter } from "./highlight.ts";
import { InlineParser } from "./inline.ts";
import { addRow, beginTable, newTable, type Table, type TableStyle, writeRows } from "./table.ts";
import {
  ACCENT,
  type Appearance,
  BOLD,
  DIM,
  ITALIC,
  painter,
  type Style,
  UNDERLINE,
} from "../style.ts";

/** Longer lines do not wait for their end: they are neither coloured code nor rows of a table. */
const MAX_HELD_LINE = 16_384;
const MAX_CONTAINERS = 32;
const CODE_MARGIN = "  ";
const MAX_INDENT = 1000;

export class MarkdownRenderer {
  readonly #style: TableStyle;
  readonly #fill: Filler;
  /** The first half of a line end or of a surrogate pair. */
  #half = "";
  /** The marks at the end of the last piece, which count with those of the next one. */
  #marks = "";
  readonly #containers: Container[] = [];
  #mode: "start" | "text" | "code" | "row" | "nothing" = "start";
  #line = "";
  /** The indentation of the line, in columns, and the number of its containers so far. */
  #column = 0;
  #depth = 0;
  #marker = false;
  #gap = false;
  #inline: InlineParser | undefined;
  #heading = false;
  #table: Table | undefined;
  /** The open block of code; `column` is its indentation. */
  #code: { fence: string; column: number; highlight: Highlighter } | undefined;
  #cut = false;

  /** @param look Its colours may change later. */
  constructor(private readonly look: Appearance, columns: number, paint = painter(look)) {
    this.#style = {
      paint,
      get signs() {
        return look.colors === "none";
      },
    };
    this.#fill = new Filler(usable(columns), (marks) => this.#prefix(marks), paint);
  }

  /** Reads a piece of text; returns the text to print, in which all styles are closed. */
  push(text: string): string {
    text = this.#half + text;
    this.#half = /[\r\ud800-\udbff]$/.test(text) ? text.at(-1)! : "";
    const shown = this.#safe(this.#marks + (this.#half === "" ? text : text.slice(0, -1)));
    this.#feed(shown.slice(this.#marks.length));
    this.#marks = marksAtEnd(shown);
    return this.#fill.take();
  }

  /** Ends the text; the next piece starts another one. */
  end(): string {
    this.#feed(this.#safe(this.#half));
    this.#half = this.#marks = "";
    if (this.#mode !== "start" || this.#line !== "") this.#endLine();
    this.#closeTo(0);
    this.#code = undefined;
    this.#gap = this.#fill.wrote = false;
    return this.#fill.take();
  }

  resize(columns: number): void {
    this.#fill.columns = usable(columns);
  }

  get holdsTable(): boolean {
    return this.#table?.aligned !== undefined && !this.#table.widths;
  }

  #safe(text: string): string {
    if (/^[\n\x20-\x7e]*$/.test(text)) return text;
    const shown = sanitizeProse(text.replaceAll("\r\n", "\n"));
    // The screen replaces signs by ASCII of the same width; this one is wider.
    return this.look.unicode ? shown : shown.replaceAll("…", "...");
  }

  #feed(text: string): void {
    for (let at = 0; at < text.length;) {
      const end = text.indexOf("\n", at);
      this.#feedLine(end === -1 ? text.slice(at) : text.slice(at, end));
      if (end === -1) return;
      this.#endLine();
      at = end + 1;
    }
  }

  #feedLine(text: string): void {
    if (this.#mode === "text") return this.#inline!.push(text);
    this.#line += text;
    if (this.#mode === "start") return this.#startLine(false);
    if (this.#line.length <= MAX_HELD_LINE) return;
    if (this.#mode === "row") {
      this.#endLeaf();
      this.#startText();
    } else this.#codeText(false);
  }

  #endLine(): void {
    if (this.#mode === "start") this.#startLine(true);
    if (this.#mode === "code") this.#codeText(true);
    else if (this.#mode === "row") this.#rowLine();
    else if (this.#heading) this.#endLeaf();
    else if (this.#inline?.idle) this.#fill.endLine();
    this.#mode = "start";
    this.#line = "";
    this.#column = this.#depth = 0;
    this.#marker = false;
  }

  /** Finds the containers and the block of the line, as far as its text is known. */
  #startLine(ended: boolean): void {
    if (this.#code && this.#inCode(ended)) return;
    for (;;) {
      const text = this.#line.search(/[^ \t]|$/);
      for (const space of this.#line.slice(0, text)) {
        this.#column += space === " " ? 1 : 4 - (this.#column & 3);
      }
      this.#line = this.#line.slice(text);
      if (this.#line === "") {
        if (ended) this.#blankLine();
        return;
      }
      const deep = this.#containers.length >= MAX_CONTAINERS;
      if (this.#line[0] === ">" && this.#startQuote(deep)) continue;
      const after = { paragraph: !!this.#inline, marker: this.#marker };
      const block = blockStart(this.#line, ended, after);
      if (!block) return;
      if (block.kind !== "item") return this.#startLeaf(block);
      if (deep) return this.#startLeaf({ kind: "text" });
      const depth = fitting(this.#containers, this.#depth, this.#column);
      this.#closeTo(depth);
      this.#space();
      const marker = /\d/.test(block.marker) ? block.marker : "•";
      this.#containers.push({ quote: false, column: this.#column, marker, shown: false });
      this.#depth = depth + 1;
      this.#marker = true;
      this.#line = this.#line.slice(block.marker.length);
      this.#column += block.marker.length;
    }
  }

  #inCode(ended: boolean): boolean {
    for (;;) {
      const next = this.#containers.findIndex(({ quote }, i) => quote && i >= this.#depth);
      if (next === -1) {
        this.#hold("code");
        return true;
      }
      const sign = /^ {0,3}> ?/.exec(this.#line)?.[0];
      const partly = sign === undefined ? /^ {0,3}$/.test(this.#line) : /^ *>$/.test(this.#line);
      if (partly && !ended) return true;
      if (sign === undefined) {
        this.#code = undefined;
        return false;
      }
      this.#line = this.#line.slice(sign.length);
      this.#depth = next + 1;
    }
  }

  /** Reads the `>` of an open or a new quotation; false for one level too many. */
  #startQuote(deep: boolean): boolean {
    const depth = fitting(this.#containers, this.#depth, this.#column);
    if (!this.#containers[depth]?.quote) {
      if (deep) return false;
      this.#closeTo(depth);
      this.#space();
      this.#containers.push({ quote: true, column: -2, marker: "│", shown: true });
    }
    this.#depth = depth + 1;
    this.#line = this.#line.slice(1);
    // The space behind it is not indentation.
    this.#column = -1;
    return true;
  }

  #blankLine(): void {
    if (this.#marker) return;
    const quote = this.#containers.findIndex(({ quote }, i) => quote && i >= this.#depth);
    if (quote !== -1) this.#closeTo(quote);
    else this.#endLeaf();
    this.#gap = true;
  }

  /** Closes the open leaf, and all containers but the first `count`. */
  #closeTo(count: number): void {
    this.#endLeaf();
    this.#showMarkers(count);
    this.#containers.length = count;
  }

  #endLeaf(): void {
    if (this.#inline) {
      this.#inline.end();
      if (this.#heading) this.#fill.dropWord(/^#+$/);
      this.#fill.endLine();
      this.#inline = undefined;
      this.#heading = false;
    }
    const table = this.#table;
    if (!table) return;
    this.#table = undefined;
    if (table.aligned) return writeRows(table, this.#fill, this.#style);
    this.#inline = this.#inlineParser(0);
    this.#inline.push(table.first);
    this.#endLeaf();
  }

  #space(): void {
    if (this.#gap && this.#fill.wrote) this.#writeLine(this.#prefix(true).text.trimEnd());
    this.#gap = false;
  }

  /** The text at the start of a line: bars, and the new markers (`marks`) or the space below markers. */
  #prefix(marks: boolean): Prefix {
    let text = "";
    let width = 0;
    for (const container of this.#containers.toReversed()) {
      const { quote, marker, shown } = container;
      const more = marker.length + 1;
      if (width === 0 || width + more <= this.#fill.columns / 2) {
        const space = marks && !shown ? marker : " ".repeat(more - 1);
        text = `${quote ? this.#style.paint(marker, DIM) : space} ${text}`;
        width += more;
      }
      if (marks) container.shown = true;
    }
    return { text, width };
  }

  #startLeaf(block: BlockStart): void {
    const { paint, signs } = this.#style;
    if (block.kind === "text" && this.#inline) {
      this.#inline.push("\n");
      return this.#startText();
    }
    if (block.kind === "row" && this.#table) return this.#hold("row");
    this.#closeTo(fitting(this.#containers, this.#depth, this.#column));
    this.#space();
    this.#mode = "nothing";
    switch (block.kind) {
      case "text":
        if (!this.#marker && this.#column - (this.#containers.at(-1)?.column ?? -2) >= 6) {
          this.#line = " ".repeat(Math.min(this.#column, MAX_INDENT)) + this.#line;
          this.#showMarkers();
          return this.#hold("code");
        }
        return this.#startText();
      case "task":
        this.#containers.at(-1)!.marker = block.marker;
        this.#line = this.#line.slice(block.marker.length);
        return this.#startText();
      case "heading":
        this.#line = this.#line.slice(block.length);
        this.#heading = true;
        this.#inline = this.#inlineParser(ACCENT | (block.level === 1 ? BOLD | UNDERLINE : BOLD));
        if (signs) this.#fill.text(`${"#".repeat(block.level)} `, 0);
        return this.#startText();
      case "rule":
        return this.#fill.line(paint("─".repeat(this.#fill.room), DIM));
      case "fence": {
        const { fence, info } = block;
        const highlight = highlighter(/^[^\s{,:]*/.exec(info)![0], paint);
        this.#code = { fence, column: Math.min(this.#column, MAX_INDENT), highlight };
        this.#showMarkers();
        if (signs) return this.#writeLine(fence + info);
        if (info !== "") this.#writeLine(paint(CODE_MARGIN + info, DIM | ITALIC));
        return;
      }
      case "row":
        return this.#hold("row");
    }
  }

  #inlineParser(base: Style): InlineParser {
    return new InlineParser(this.#fill, base, this.#style.signs);
  }

  #startText(): void {
    this.#inline ??= this.#inlineParser(0);
    this.#hold("text");
  }

  #hold(mode: "text" | "code" | "row"): void {
    const line = this.#line;
    this.#line = "";
    this.#mode = mode;
    this.#feedLine(line);
  }

  #rowLine(): void {
    const table = this.#table;
    const line = this.#line;
    if (table?.aligned) return addRow(table, line, this.#fill, this.#style);
    if (table && beginTable(table, line)) return;
    this.#endLeaf();
    this.#table = newTable(line);
  }

  #codeText(ended: boolean): void {
    const code = this.#code;
    const cut = this.#cut;
    const line = cut ? this.#line : outdent(this.#line, code?.column ?? 0);
    const { signs } = this.#style;
    const margin = code === undefined || signs || cut || line === "" ? "" : CODE_MARGIN;
    this.#line = "";
    this.#cut = !ended;
    if (!ended || cut) {
      this.#fill.verbatim(margin + line);
      if (ended) this.#fill.endLine();
    } else if (code && closesCode(line, code.fence)) {
      this.#code = undefined;
      if (signs) this.#writeLine(line.trim());
    } else {
      this.#writeLine(margin + (code ? code.highlight(line) : line));
    }
  }

  #writeLine(line: string): void {
    this.#fill.verbatim(line);
    this.#fill.endLine();
  }

  #showMarkers(from = 0): void {
    if (this.#containers.slice(from).some(({ shown }) => !shown)) this.#fill.line("");
  }
}

/** The width within limits; some terminals report 0. */
function usable(columns: number): number {
  return Math.min(1000, Math.max(8, Math.floor(columns) || 80));
}
