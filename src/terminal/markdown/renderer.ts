/**
 * Markdown on a terminal, as it streams: what has been written is never changed.
 *
 * Text appears word by word, code line by line, tables when they are over or long. Code stands as
 * it was written from the first column on, wherever it belongs, and is left to the terminal to wrap:
 * what is copied is what runs. Line feeds within paragraphs stay.
 *
 * Source: CommonMark 0.31 and GitHub Flavored Markdown, with the exceptions that the modules of
 * blocks, inlines and tables name.
 *
 * @module
 */

import { sanitizeProse } from "../../text/sanitize.ts";
import { type Highlighter, highlighter } from "./highlight.ts";
import { type BlockStart, blockStart, closesCode, outdent } from "./blocks.ts";
import { type Container, fitting, prefix } from "./containers.ts";
import { type Filler, filler } from "./fill.ts";
import { type InlineParser, inlineParser } from "./inline.ts";
import { addRow, beginTable, newTable, type Table, type TableStyle, writeRows } from "./table.ts";
import { type Appearance, BOLD, DIM, painter, UNDERLINE } from "../style.ts";

/** How to show Markdown. */
export interface MarkdownOptions extends Appearance {
  /** The width of the terminal. */
  columns: number;
}

/** Turns Markdown into text for a terminal, piece by piece. */
export interface MarkdownRenderer {
  /** Reads `text`, cut anywhere; returns what to print now, in which all styles are closed. */
  push(text: string): string;
  /** Returns what is left to print, up to a line feed; what is pushed then is a new text. */
  end(): string;
  /** Later lines fit into `columns`. */
  resize(columns: number): void;
  /** Whether the rows of a table are held back. */
  readonly holdsTable: boolean;
}

/** Longer lines are not held back: code is then not coloured, and no row of a table. */
const MAX_LINE = 16_384;
/** More levels of lists and quotations are text. */
const MAX_DEPTH = 32;
/** Columns that code may be indented by. */
const MAX_INDENT = 1000;

interface State extends TableStyle {
  fill: Filler;
  containers: Container[];
  /** What the rest of the line is. */
  mode: "start" | "text" | "code" | "row" | "nothing";
  /** What is held back of the line. */
  line: string;
  /** How far the line is indented, and how many containers it has been found to be in. */
  column: number;
  depth: number;
  /** Whether an item begins on this line. */
  marker: boolean;
  /** Whether an empty line came before. */
  gap: boolean;
  /** The open paragraph or heading. */
  inline: InlineParser | undefined;
  heading: boolean;
  table: Table | undefined;
  /** The open block of code: the fence that ends it, how far it is indented. */
  code: { fence: string; column: number; highlight: Highlighter } | undefined;
  /** Whether the beginning of this line of code is written. */
  cut: boolean;
}

/** A renderer; see the module. */
export function markdownRenderer(options: MarkdownOptions): MarkdownRenderer {
  let s = newState(options);
  let { columns } = options;
  let held = "";
  return {
    push(text) {
      text = held + text;
      held = /[\r\ud800-\udbff]$/.test(text) ? text.at(-1)! : "";
      feed(s, safe(held === "" ? text : text.slice(0, -1)));
      return s.fill.take();
    },
    end() {
      feed(s, safe(held));
      held = "";
      if (s.mode !== "start" || s.line !== "") endLine(s);
      closeTo(s, 0);
      const rest = s.fill.take();
      s = newState({ ...options, columns });
      return rest;
    },
    resize(value) {
      columns = value;
      s.fill.columns = usable(value);
    },
    get holdsTable() {
      return s.table?.aligned !== undefined && !s.table.widths;
    },
  };
}

function safe(text: string): string {
  if (/^[\n\x20-\x7e]*$/.test(text)) return text;
  return sanitizeProse(text.replaceAll("\r\n", "\n"));
}

/** A width to work with; 0 is what terminals say that do not know. */
function usable(columns: number): number {
  return Math.min(1000, Math.max(8, Math.floor(columns) || 80));
}

function newState({ columns, colors, unicode }: MarkdownOptions): State {
  const paint = painter(colors);
  const s: State = {
    fill: filler(
      usable(columns),
      (marks) => prefix(s.containers, marks, s.fill.columns, paint),
      paint,
    ),
    paint,
    unicode,
    signs: colors === "none",
    containers: [],
    mode: "start",
    line: "",
    column: 0,
    depth: 0,
    marker: false,
    gap: false,
    inline: undefined,
    heading: false,
    table: undefined,
    code: undefined,
    cut: false,
  };
  return s;
}

function feed(s: State, text: string): void {
  for (let at = 0; at < text.length;) {
    const end = text.indexOf("\n", at);
    feedLine(s, end < 0 ? text.slice(at) : text.slice(at, end));
    if (end < 0) return;
    endLine(s);
    at = end + 1;
  }
}

/** Reads a part of a line. */
function feedLine(s: State, text: string): void {
  if (s.mode === "text") return s.inline!.push(text);
  if (s.mode === "nothing") return;
  s.line += text;
  if (s.mode === "start") return startLine(s, false);
  if (s.line.length <= MAX_LINE) return;
  if (s.mode === "row") {
    endLeaf(s);
    startText(s);
  } else {
    codeText(s, false);
  }
}

/** The line is over. */
function endLine(s: State): void {
  if (s.mode === "start") startLine(s, true);
  if (s.mode === "code") codeText(s, true);
  else if (s.mode === "row") rowLine(s);
  else if (s.heading) endLeaf(s);
  else if (s.inline?.idle) s.fill.endLine();
  s.mode = "start";
  s.line = "";
  s.column = s.depth = 0;
  s.marker = false;
}

/** Finds out what the line is, and what it belongs to; waits for more of it where it must. */
function startLine(s: State, ended: boolean): void {
  if (s.code && !inCode(s, ended)) return;
  if (s.mode !== "start") return;
  for (;;) {
    const text = s.line.search(/[^ \t]|$/);
    for (const space of s.line.slice(0, text)) s.column += space === " " ? 1 : 4 - (s.column & 3);
    s.line = s.line.slice(text);
    if (s.line === "") {
      if (ended) blankLine(s);
      return;
    }
    const deep = s.containers.length >= MAX_DEPTH;
    if (s.line[0] === ">" && startQuote(s, deep)) continue;
    const block = blockStart(s.line, ended, { paragraph: !!s.inline, marker: s.marker });
    if (!block) return;
    if (block.kind !== "item") return startLeaf(s, block);
    if (deep) return startLeaf(s, { kind: "text" });
    const kept = fitting(s.containers, s.depth, s.column);
    closeTo(s, kept);
    space(s);
    const marker = /\d/.test(block.marker) ? block.marker : s.unicode ? "•" : "-";
    s.containers.push({ quote: false, column: s.column, marker, shown: false });
    s.depth = kept + 1;
    s.marker = true;
    s.line = s.line.slice(block.marker.length);
    s.column += block.marker.length;
  }
}

/**
 * Within a block of code: true if the line is one of it, or if it is not and the block is over;
 * false if that is not known.
 */
function inCode(s: State, ended: boolean): boolean {
  for (;;) {
    const next = s.containers.findIndex(({ quote }, i) => quote && i >= s.depth);
    if (next < 0) {
      const rest = s.line;
      s.line = "";
      s.mode = "code";
      feedLine(s, rest);
      return true;
    }
    const sign = /^ {0,3}> ?/.exec(s.line)?.[0];
    const partly = sign === undefined ? /^ {0,3}$/.test(s.line) : /^ *>$/.test(s.line);
    if (partly && !ended) return false;
    if (sign === undefined) {
      s.code = undefined;
      return true;
    }
    s.line = s.line.slice(sign.length);
    s.depth = next + 1;
  }
}

/** `>`, of a quotation that goes on or of a new one; false if that would be one too many. */
function startQuote(s: State, deep: boolean): boolean {
  const kept = fitting(s.containers, s.depth, s.column);
  if (!s.containers[kept]?.quote) {
    if (deep) return false;
    closeTo(s, kept);
    space(s);
    const marker = s.unicode ? "│" : ">";
    s.containers.push({ quote: true, column: 0, marker, shown: true });
  }
  s.depth = kept + 1;
  s.line = s.line.slice(1);
  // The space behind it is not indentation.
  s.column = -1;
  return true;
}

function blankLine(s: State): void {
  if (s.marker) return;
  const quote = s.containers.findIndex(({ quote }, i) => quote && i >= s.depth);
  if (quote >= 0) closeTo(s, quote);
  else endLeaf(s);
  s.gap = true;
}

/** Ends what is open within the first `count` containers, and the others. */
function closeTo(s: State, count: number): void {
  endLeaf(s);
  // Items without text.
  if (s.containers.slice(count).some(({ shown }) => !shown)) s.fill.line("");
  s.containers.length = count;
}

function endLeaf(s: State): void {
  if (s.inline) {
    s.inline.end();
    if (s.heading) s.fill.dropWord(/^#+$/);
    s.fill.endLine();
    s.inline = undefined;
    s.heading = false;
  }
  const { table } = s;
  if (!table) return;
  s.table = undefined;
  if (table.aligned) return writeRows(table, s.fill, s);
  s.inline = inlineParser(s.fill, 0, s.signs);
  s.inline.push(table.first);
  endLeaf(s);
}

/** Writes the empty line that came before, or several. */
function space(s: State): void {
  if (s.gap && s.fill.wrote) {
    s.fill.verbatim(prefix(s.containers, false, s.fill.columns, s.paint).text.trimEnd());
    s.fill.endLine();
  }
  s.gap = false;
}

/** The line, from here on, is `block`. */
function startLeaf(s: State, block: BlockStart): void {
  if (block.kind === "text" && s.inline) {
    s.inline.push("\n");
    return startText(s);
  }
  if (block.kind === "row" && s.table) return hold(s, "row");
  closeTo(s, fitting(s.containers, s.depth, s.column));
  space(s);
  s.mode = "nothing";
  switch (block.kind) {
    case "text":
      if (!s.marker && s.column - (s.containers.at(-1)?.column ?? -2) >= 6) {
        s.line = " ".repeat(Math.min(s.column, MAX_INDENT)) + s.line;
        showMarkers(s);
        return hold(s, "code");
      }
      return startText(s);
    case "task":
      s.containers.at(-1)!.marker = block.marker;
      s.line = s.line.slice(block.length);
      return startText(s);
    case "heading":
      s.line = s.line.slice(block.length);
      s.heading = true;
      s.inline = inlineParser(s.fill, block.level === 1 ? BOLD | UNDERLINE : BOLD, s.signs);
      if (s.signs) s.fill.text(`${"#".repeat(block.level)} `, 0);
      return startText(s);
    case "rule":
      return s.fill.line(s.paint((s.unicode ? "─" : "-").repeat(s.fill.room), DIM));
    case "fence": {
      const { fence, info } = block;
      const highlight = highlighter(/^[^\s{,:]*/.exec(info)![0], s.paint);
      s.code = { fence, column: Math.min(s.column, MAX_INDENT), highlight };
      showMarkers(s);
      return codeLine(s, s.paint(fence + info, DIM));
    }
    case "row":
      return hold(s, "row");
  }
}

/** The rest of the line is text of a paragraph or heading. */
function startText(s: State): void {
  s.inline ??= inlineParser(s.fill, 0, s.signs);
  const { line } = s;
  s.line = "";
  s.mode = "text";
  s.inline.push(line);
}

function hold(s: State, mode: "code" | "row"): void {
  const { line } = s;
  s.line = "";
  s.mode = mode;
  feedLine(s, line);
}

function rowLine(s: State): void {
  const { table, line } = s;
  if (table?.aligned) return addRow(table, line, s.fill, s);
  if (table && beginTable(table, line)) return;
  endLeaf(s);
  s.table = newTable(line);
}

/** Writes what is held back of a line of code. */
function codeText(s: State, ended: boolean): void {
  const { code, cut } = s;
  const line = cut ? s.line : outdent(s.line, code?.column ?? 0);
  s.line = "";
  s.cut = !ended;
  if (!ended || cut) {
    s.fill.verbatim(line);
    if (ended) s.fill.endLine();
  } else if (code && closesCode(line, code.fence)) {
    s.code = undefined;
    codeLine(s, s.paint(line.trim(), DIM));
  } else {
    codeLine(s, code ? code.highlight(line) : line);
  }
}

function codeLine(s: State, line: string): void {
  s.fill.verbatim(line);
  s.fill.endLine();
}

/** Writes the markers of items that begin with something else than text. */
function showMarkers(s: State): void {
  if (s.containers.some(({ shown }) => !shown)) s.fill.line("");
}
