/** The rows that change in place, and the shortest output to the next ones (ECMA-48; ctlseqs: DECAWM). @module */

import { isWidthDisputed } from "../../../text/width.ts";
import { ASKED, type Sgr, styleEnd } from "../style.ts";
import type { TerminalSize } from "../tty.ts";

export interface Cell {
  readonly text: string;
  readonly width: number;
  /** SGR sequences, such as `\x1b[2m`; empty for the default. */
  readonly style: string;
}

export type CellRow = readonly Cell[];

export interface Frame {
  readonly rows: readonly CellRow[];
  readonly cursor: { readonly row: number; readonly column: number };
  readonly isFullScreen?: true;
  /** The title of the window, safe to show; undefined does not change it. */
  readonly title?: string | undefined;
}

export const EMPTY_FRAME: Frame = { rows: [[]], cursor: { row: 0, column: 0 } };

export const widthOf = (row: CellRow) => row.reduce((sum, { width }) => sum + width, 0);

/** Draws `layout` with the bar of a question at its left. */
export function barred(
  layout: (size: TerminalSize) => Frame,
  size: TerminalSize,
  sgr: Sgr,
): Frame {
  const sign: Cell = { text: "▌", width: 1, style: sgr(ASKED) };
  const edge = [sign, { ...sign, text: " " }];
  const { rows, cursor } = layout({ ...size, columns: Math.max(1, size.columns - edge.length) });
  return {
    rows: rows.map((row) => [...edge, ...row]),
    cursor: { ...cursor, column: edge.length + cursor.column },
  };
}

interface Pen {
  out: string;
  row: number;
  /** NaN where terminals disagree: after some wide characters, and behind the last column. */
  column: number;
  style: string;
  bottom: number;
  /** True once a cell was written whose width terminals disagree on. */
  disputed: boolean;
}

/** The output that changes a terminal from `previous` to `next`. Line feeds add rows, and may scroll. */
export function paint(previous: Frame, next: Frame, columns: number): string {
  const { cursor, rows: old } = previous;
  const pen: Pen = { out: "", ...cursor, style: "", bottom: old.length - 1, disputed: false };
  next.rows.forEach((row, at) => paintRow(pen, at, old[at] ?? [], row, columns));
  if (old.length > next.rows.length) {
    move(pen, next.rows.length, 0);
    pen.out += "\x1b[J";
  }
  move(pen, next.cursor.row, next.cursor.column);
  // A terminal that shows a grapheme wider than we count must not wrap the row.
  return pen.disputed ? `\x1b[?7l${pen.out}\x1b[?7h` : pen.out;
}

function paintRow(pen: Pen, at: number, old: CellRow, row: CellRow, columns: number): void {
  let same = 0;
  let column = 0;
  while (same < row.length && same < old.length && isSame(row[same]!, old[same]!)) {
    column += row[same++]!.width;
  }
  const oldWidth = column + widthOf(old.slice(same));
  const width = column + widthOf(row.slice(same));
  if (oldWidth - width > MAX_SHORTER) {
    // tmux rewraps a row at its old width unless it was erased from its start.
    move(pen, at, 0);
    pen.out += "\x1b[K";
    return writeCells(pen, at, row, 0, columns);
  }
  const isStart = same === row.length;
  if (isStart && width >= oldWidth && at <= pen.bottom) return;
  const end = width === oldWidth ? changedEnd(old, row, same) : row.length;
  writeCells(pen, at, row.slice(same, end), column, columns);
  if (width < oldWidth || isStart) {
    move(pen, at, width);
    if (width < oldWidth) pen.out += "\x1b[K";
  }
}

/** The end of the cells that differ, in rows of the same width whose first `same` cells are equal. */
function changedEnd(old: CellRow, row: CellRow, same: number): number {
  let end = row.length;
  let oldEnd = old.length;
  while (end > same && oldEnd > same && isSame(row[end - 1]!, old[oldEnd - 1]!)) end--, oldEnd--;
  // A cell that a terminal shows wider than we count may have covered the next one.
  const changed = [...row.slice(same, end), ...old.slice(same, oldEnd)];
  return changed.some(isDisputed) ? row.length : end;
}

const isDisputed = ({ text }: Cell) => text > "\x7f" && isWidthDisputed(text);

function writeCells(pen: Pen, at: number, cells: CellRow, column: number, columns: number): void {
  for (const cell of cells) {
    move(pen, at, column);
    if (cell.style !== pen.style) {
      pen.out += styleEnd(pen.style) + cell.style;
      pen.style = cell.style;
    }
    pen.out += cell.text;
    column += cell.width;
    const disputed = isDisputed(cell);
    pen.disputed ||= disputed;
    pen.column = column >= columns || disputed ? NaN : column;
  }
  pen.out += styleEnd(pen.style);
  pen.style = "";
}

/** A row that becomes shorter by more columns is written from its start. */
const MAX_SHORTER = 4;

const isSame = (a: Cell, b: Cell) =>
  a === b || a.text === b.text && a.style === b.style && a.width === b.width;
const repeat = (n: number) => n === 1 ? "" : `${n}`;

function move(pen: Pen, row: number, column: number): void {
  if (row > pen.bottom) {
    // Only a line feed in the last row adds one.
    if (pen.row !== pen.bottom) pen.out += `\x1b[${pen.bottom - pen.row}B`;
    pen.out += "\r" + "\n".repeat(row - pen.bottom);
    pen.column = 0;
    pen.bottom = row;
  } else if (row > pen.row) pen.out += `\x1b[${repeat(row - pen.row)}B`;
  else if (row < pen.row) pen.out += `\x1b[${repeat(pen.row - row)}A`;
  pen.row = row;
  if (column !== pen.column) {
    if (column === 0) pen.out += "\r";
    else if (column === pen.column - 1) pen.out += "\b";
    else pen.out += `\x1b[${column + 1}G`;
  }
  pen.column = column;
}

/** The output that erases `frame` and moves the cursor to its first row. */
export function erase({ cursor: { row } }: Frame): string {
  if (row === 0) return eraseBelow(0);
  // tmux saves rows that are erased from the top of the screen on: the first row is erased alone.
  return `${rowsUp(row)}\r\x1b[K\x1b[B\x1b[J\x1b[A`;
}

const rowsUp = (rows: number): string => rows > 0 ? `\x1b[${repeat(rows)}A` : "";

function eraseBelow(row: number): string {
  return `${rowsUp(row)}\r\x1b[J`;
}

/** The same after the width changed to `columns`. `reflows` is false for terminals that cut rows off. */
export function eraseResized(frame: Frame, columns: number, reflows: boolean): string {
  if (!reflows) return erase(frame);
  const { rows, cursor } = frame;
  const heights = rows.slice(0, cursor.row).map((row) => Math.ceil(widthOf(row) / columns) || 1);
  // A cursor behind the end of its row moves to the row's last column.
  const last = Math.max(0, widthOf(rows[cursor.row] ?? []) - 1);
  const within = Math.floor(Math.min(cursor.column, last) / columns);
  return eraseBelow(heights.reduce((sum, height) => sum + height, within));
}

export function leave(frame: Frame): string {
  const below = frame.rows.length - 1 - frame.cursor.row;
  return `${below > 0 ? `\x1b[${repeat(below)}B` : ""}\r\n`;
}
