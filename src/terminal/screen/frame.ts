/**
 * The rows that change in place, as data, and the shortest output from one frame to the next, for
 * one write. Sources: ECMA-48 (CUU, CUD, CHA, ED, EL, SGR), xterm's ctlseqs (DECAWM). @module
 */

import { isWidthDisputed } from "../../text/width.ts";
import { styleEnd } from "../style.ts";

/** One grapheme on the screen. */
export interface Cell {
  /** Printable; a blank of several columns has as many spaces. */
  readonly text: string;
  readonly width: number;
  /** An SGR sequence, such as `\x1b[2m`, and the beginning of a link behind it; empty for the default. */
  readonly style: string;
}

/** A row of the screen, at most as wide as it. */
export type CellRow = readonly Cell[];

/** The rows that change in place, and where among them the cursor is (both from 0). */
export interface Frame {
  readonly rows: readonly CellRow[];
  readonly cursor: { readonly row: number; readonly column: number };
  /** True where the rows are the whole screen: they are shown on the alternate one. */
  readonly isFullScreen?: true;
  /** The title of the terminal's window, safe to show; left out, it is not changed. */
  readonly title?: string | undefined;
}

/** Nothing yet, the cursor at the beginning of an empty row. */
export const EMPTY_FRAME: Frame = { rows: [[]], cursor: { row: 0, column: 0 } };

/** The columns that cells take. */
export const widthOf = (row: CellRow) => row.reduce((sum, { width }) => sum + width, 0);

/** The cursor of a terminal, and the output that moved it. */
interface Pen {
  out: string;
  row: number;
  /** NaN after a cell whose width terminals do not agree on, and behind the last column. */
  column: number;
  style: string;
  /** The last row that exists so far. */
  bottom: number;
  /** True once a cell was written whose width terminals do not agree on. */
  disputed: boolean;
}

/**
 * The output after which a terminal of `columns` that shows `previous` shows `next`. New rows are
 * made by line feeds, so they may scroll the screen.
 */
export function paint(previous: Frame, next: Frame, columns: number): string {
  const { cursor, rows: old } = previous;
  const pen: Pen = { out: "", ...cursor, style: "", bottom: old.length - 1, disputed: false };
  next.rows.forEach((row, at) => paintRow(pen, at, old[at] ?? [], row, columns));
  if (old.length > next.rows.length) {
    move(pen, next.rows.length, 0);
    pen.out += "\x1b[J";
  }
  move(pen, next.cursor.row, next.cursor.column);
  // A terminal that takes a grapheme for wider than we do must not wrap the row for it.
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
    // tmux takes a row for as wide as it was until it is erased from its beginning, and breaks it so when it
    // becomes narrower.
    move(pen, at, 0);
    pen.out += "\x1b[K";
    return writeCells(pen, at, row, 0, columns);
  }
  // Cells at the end that did not change are left, if they did not move.
  let end = row.length;
  if (width === oldWidth) {
    for (let oldEnd = old.length; end > same; end--, oldEnd--) {
      if (!isSame(row[end - 1]!, old[oldEnd - 1]!)) break;
    }
  }
  if (same === end && width >= oldWidth && at <= pen.bottom) return;
  writeCells(pen, at, row.slice(same, end), column, columns);
  if (width < oldWidth || same === end) {
    move(pen, at, width);
    if (width < oldWidth) pen.out += "\x1b[K";
  }
}

function writeCells(pen: Pen, at: number, cells: CellRow, column: number, columns: number): void {
  for (const cell of cells) {
    move(pen, at, column);
    if (cell.style !== pen.style) {
      pen.out += styleEnd(pen.style) + cell.style;
      pen.style = cell.style;
    }
    pen.out += cell.text;
    column += cell.width;
    const disputed = cell.text > "\x7f" && isWidthDisputed(cell.text);
    pen.disputed ||= disputed;
    pen.column = column >= columns || disputed ? NaN : column;
  }
  pen.out += styleEnd(pen.style);
  pen.style = "";
}

/** A row that becomes shorter by more columns is written from its beginning. */
const MAX_SHORTER = 4;

const isSame = (a: Cell, b: Cell) =>
  a === b || a.text === b.text && a.style === b.style && a.width === b.width;
const repeat = (n: number) => n === 1 ? "" : `${n}`;

function move(pen: Pen, row: number, column: number): void {
  if (row > pen.bottom) {
    // Only a line feed makes a row, and only at the last one.
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

/** The output that takes `frame` off the screen; the cursor is then where its first row was. */
export function erase({ cursor: { row } }: Frame): string {
  if (row === 0) return eraseBelow(0);
  // tmux keeps in its history what is erased from the top of the screen on: the first row goes by itself.
  return `${rowsUp(row)}\r\x1b[K\x1b[B\x1b[J\x1b[A`;
}

const rowsUp = (rows: number): string => rows > 0 ? `\x1b[${repeat(rows)}A` : "";

/** Erases from `row` rows above the cursor on. */
function eraseBelow(row: number): string {
  return `${rowsUp(row)}\r\x1b[J`;
}

/**
 * The same after the terminal's width became `columns`. Most terminals break the rows that have
 * become too long; `reflows` is false for those that cut them off.
 */
export function eraseResized(frame: Frame, columns: number, reflows: boolean): string {
  if (!reflows) return erase(frame);
  const { rows, cursor } = frame;
  const heights = rows.slice(0, cursor.row).map((row) => Math.ceil(widthOf(row) / columns) || 1);
  // A cursor behind the end of its row goes no further than the row's last column.
  const last = Math.max(0, widthOf(rows[cursor.row] ?? []) - 1);
  const within = Math.floor(Math.min(cursor.column, last) / columns);
  return eraseBelow(heights.reduce((sum, height) => sum + height, within));
}

/** The output that leaves `frame` on the screen and goes on below it. */
export function leave(frame: Frame): string {
  const below = frame.rows.length - 1 - frame.cursor.row;
  return `${below > 0 ? `\x1b[${repeat(below)}B` : ""}\r\n`;
}
