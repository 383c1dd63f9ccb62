/**
 * Tables, as in GitHub Flavored Markdown. Not GFM: the lines of a table start with `|`, cells beyond
 * the last column join it, and `<br>` breaks the line of a cell. @module
 */

import { Filler, type Prefix, textWidth } from "./fill.ts";
import { InlineParser } from "./inline.ts";
import { BOLD, DIM, type Painter, type Style } from "../style.ts";

/** A table whose rows wait; once it is long, its widths are fixed and rows are written. */
export interface Table {
  /** The first line; the second decides if it is a table. */
  first: string;
  head: string[];
  aligned?: string[];
  rows: string[][];
  size: number;
  /** Undefined until the head is written; empty if the columns do not fit side by side. */
  widths?: number[];
  ruled?: boolean;
  tall?: boolean;
}

export interface TableStyle {
  paint: Painter;
  /** True if text shows the signs of its styles, because there are no colours. */
  signs: boolean;
}

const MAX_HELD_ROWS = 8;
const MAX_HELD_CHARS = 2048;
const SLACK = 3;
const MAX_COLUMNS = 64;
const MIN_WIDTH = 6;
/** Longer words may be broken to make a column narrower. */
const MAX_WHOLE_WORD = 20;
/** Text that a filler does not break. */
const WORD = /[^\s\u3000-\u9fff\uff00-\uffef]+/g;
const NO_PREFIX = (): Prefix => ({ text: "", width: 0 });

export function newTable(line: string): Table {
  return { first: line, head: tableCells(line), rows: [], size: 0 };
}

/** Adds the second line; false if it is not a row of dashes, so that there is no table. */
export function beginTable(table: Table, line: string): boolean {
  const dashes = tableCells(line);
  const { length } = table.head;
  if (dashes.length !== length || length > MAX_COLUMNS) return false;
  if (!dashes.every((cell) => /^:?-+:?$/.test(cell))) return false;
  table.aligned = dashes.map((cell) => cell.replace(/-+/, "-"));
  return true;
}

export function addRow(table: Table, line: string, fill: Filler, style: TableStyle): void {
  const cells = tableCells(line);
  const { length } = table.head;
  if (cells.length > length) cells.push(cells.splice(length - 1).join(" | "));
  table.rows.push(cells);
  table.size += line.length;
  if (table.widths || table.rows.length > MAX_HELD_ROWS || table.size > MAX_HELD_CHARS) {
    writeRows(table, fill, style, true);
  }
}

export function writeRows(table: Table, fill: Filler, style: TableStyle, more = false): void {
  const later = table.widths !== undefined;
  let between = later;
  if (!table.widths) {
    const room = fill.room - 3 * (table.head.length - 1); // without the bars
    const { natural, least } = cellWidths(table, style);
    const spare = room - natural.reduce((a, b) => a + b);
    table.ruled = spare < 0;
    if (more) table.widths = fitWidths(roomier(natural, spare), least, room);
    if (!table.widths?.length) table.widths = fitWidths(natural, least, room);
    if (table.widths.length > 0) {
      for (const line of rowLines(table, table.head, BOLD, style)) fill.line(line);
      fill.line(rule(table, style, table.ruled));
    } else if (table.rows.length === 0) {
      fill.text(table.head.join(" | "), BOLD);
      fill.endLine();
    }
  }
  for (const row of table.rows) {
    const lines = table.widths.length > 0 ? rowLines(table, row, 0, style) : [];
    const apart = later && (table.tall || lines.length > 1);
    if (between && (table.ruled || apart)) fill.line(rule(table, style));
    between = true;
    table.tall = lines.length > 1;
    if (table.widths.length === 0) writeRecord(table, row, fill, style);
    else for (const line of lines) fill.line(line);
  }
  table.rows = [];
}

function tableCells(line: string): string[] {
  const cells = line.trim().slice(1).replace(/(?<!\\)\|$/, "").split(/(?<!\\)\|/);
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|").replace(/<br *\/?>/gi, "\n"));
}

function cellLines(cell: string, width: number, base: Style, style: TableStyle): string[] {
  // Fast path: a short cell without Markdown.
  if (!/[\\`*_~[\]!&\n]/.test(cell) && textWidth(cell) <= width) return [style.paint(cell, base)];
  const fill = new Filler(width, NO_PREFIX, style.paint);
  writeInline(cell, base, fill, style);
  fill.endLine();
  return fill.take().split("\n").slice(0, -1);
}

const unpainted = (line: string): string =>
  // deno-lint-ignore no-control-regex
  line.replace(/\x1b\[[\d;]*m/g, "");

/** The widths of columns without wrapping, and without broken words. */
function cellWidths({ head, rows }: Table, style: TableStyle) {
  const natural = head.map(() => 1);
  const least = head.map(() => 1);
  for (const row of [head, ...rows]) {
    for (const [i, cell] of row.entries()) {
      for (const line of cellLines(cell, Infinity, 0, style).map(unpainted)) {
        natural[i] = Math.max(natural[i]!, textWidth(line));
        const words = line.match(WORD) ?? [];
        least[i] = Math.max(least[i]!, ...words.map(textWidth));
      }
    }
  }
  return { natural, least: least.map((width) => Math.min(width, MAX_WHOLE_WORD)) };
}

function roomier(natural: number[], spare: number): number[] {
  const share = spare < 0 ? SLACK : Math.trunc(spare / natural.length);
  return natural.map((width) => width + Math.min(share, Math.max(SLACK, width >> 1)));
}

/** Shrinks the widest columns until all fit `room`; an empty list if that breaks words. */
function fitWidths(natural: number[], least: number[], room: number): number[] {
  const capped = (cap: number) =>
    natural.map((width, i) => Math.max(Math.min(width, cap), least[i]!));
  const total = (cap: number) => capped(cap).reduce((sum, width) => sum + width);
  const widest = Math.max(...natural);
  if (total(widest) <= room) return natural;
  let cap = widest;
  while (cap >= MIN_WIDTH && total(cap) > room) cap--;
  if (cap < MIN_WIDTH) return [];
  let left = room - total(cap);
  return capped(cap).map((width, i) => width < natural[i]! && left-- > 0 ? width + 1 : width);
}

function rowLines(table: Table, cells: string[], base: Style, style: TableStyle): string[] {
  const columns = table.widths!.map((width, i) => cellLines(cells[i] ?? "", width, base, style));
  const height = Math.max(1, ...columns.map(({ length }) => length));
  const bar = style.paint(" │ ", DIM);
  return Array.from(
    { length: height },
    (_, at) => columns.map((lines, i) => align(lines[at] ?? "", i, table)).join(bar),
  );
}

function align(text: string, column: number, { widths, aligned }: Table): string {
  const space = Math.max(0, widths![column]! - textWidth(unpainted(text)));
  const side = aligned![column];
  const before = side === "-:" ? space : side === ":-:" ? space >> 1 : 0;
  return " ".repeat(before) + text + " ".repeat(space - before);
}

/** The rule below the head, or between rows; `heavy` if there are both. */
function rule({ widths }: Table, { paint }: TableStyle, heavy = false): string {
  const [dash, cross] = heavy ? "═╪" : "─┼";
  // A short rule separates rows whose cells are below each other.
  const lines = widths!.length > 0 ? widths! : [MIN_WIDTH];
  return paint(lines.map((width) => dash!.repeat(width)).join(`${dash}${cross}${dash}`), DIM);
}

function writeRecord(table: Table, cells: string[], fill: Filler, style: TableStyle): void {
  for (const [i, cell] of cells.entries()) {
    if (cell === "") continue;
    writeInline(table.head[i]!, BOLD, fill, style);
    fill.text(": ", 0);
    writeInline(cell, 0, fill, style);
    fill.endLine();
  }
}

function writeInline(text: string, base: Style, fill: Filler, { signs }: TableStyle): void {
  const inline = new InlineParser(fill, base, signs);
  inline.push(text);
  inline.end();
}
