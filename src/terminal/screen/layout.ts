/**
 * How a line of input looks: `(state, columns) -> rows and cursor`. Pure.
 *
 * @module
 */

import type { Cell, Frame, Row } from "./frame.ts";
import type { LineState, Menu } from "../line/state.ts";
import type { Unit } from "../units.ts";
import { sanitizeProse } from "../../text/sanitize.ts";
import { displayWidth, graphemes, graphemeWidth } from "../../text/width.ts";

/** How and where a line is shown. */
export interface LayoutOptions {
  /** Before the text. */
  prompt: string;
  /** An SGR sequence for the prompt, or empty: no colours at all then. */
  color: string;
  /** The terminal's width. */
  columns: number;
  /** The most rows; of a longer text those around the cursor are shown. */
  maxRows: number;
  /** The `top` of the frame before: the text scrolls no more than it must. */
  top?: number | undefined;
}

/** The frame of a line. */
export interface LineFrame extends Frame {
  /** Which row of the whole text is the first one shown. */
  readonly top: number;
}

/** Stands before each line of a text but the first. */
const CONTINUATION = "  ...> ";
/** Tab stops are so many columns apart. */
export const TAB = 8;
/** Completions take at most so many rows. */
const MENU_ROWS = 6;

/** The cells of graphemes seen so far: text has few different ones, and each key lays out all. */
const known = new Map<string, readonly Cell[]>();
const MAX_KNOWN = 4096;

/** Lays out `state`, with the menu of its completions below. */
export function layoutLine(state: LineState, options: LayoutOptions): LineFrame {
  const { color, columns } = options;
  const dim = color && "\x1b[2m";
  const flow = startFlow(columns);
  put(flow, cellsOf(promptOf(state, options), color));
  let cursor = flow.next();
  state.units.forEach((unit, at) => {
    if (at === state.cursor) cursor = flow.next(unit);
    if (unit === "\n") {
      flow.newRow();
      put(flow, cellsOf(CONTINUATION, color));
    } else if (unit === "\t") {
      const width = Math.min(TAB - flow.next().column % TAB, columns - flow.next().column);
      flow.put({ text: " ".repeat(width), width, style: "" });
    } else if (typeof unit === "string") {
      put(flow, unitCells(unit));
    } else put(flow, cellsOf(unit.label, dim));
  });
  if (state.cursor === state.units.length) cursor = flow.next();
  const menu = state.menu ? menuRows(state.menu, columns, dim) : [];
  return window(flow.rows, cursor, menu, options);
}

/** The prompt, or what a search is about. */
function promptOf({ search }: LineState, { prompt }: LayoutOptions): string {
  if (search === undefined) return prompt;
  const name = `${search.failed ? "failed " : ""}${search.direction < 0 ? "reverse-" : ""}i-search`;
  return `(${name})'${search.query}': `;
}

/** Text as cells: what would drive the terminal, or not be seen, is shown by what stands for it. */
export function cellsOf(text: string, style: string): Cell[] {
  const shown = sanitizeProse(text).replace(/[\n\t]/g, (char) => char === "\n" ? "\u240a" : " ");
  return graphemes(shown).map((grapheme) => {
    const width = graphemeWidth(grapheme);
    // A mark without a letter gets a circle to stand on.
    return width > 0
      ? { text: grapheme, width, style }
      : { text: `\u25cc${grapheme}`, width: 1, style };
  });
}

function unitCells(unit: string): readonly Cell[] {
  let cells = known.get(unit);
  if (cells === undefined) {
    cells = cellsOf(unit, "");
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(unit, cells);
  }
  return cells;
}

/** Rows that fill up cell by cell. */
interface Flow {
  readonly rows: Cell[][];
  put(cell: Cell): void;
  newRow(): void;
  /** Where the next cell will be: on a new row if this one has no room for `unit`. */
  next(unit?: Unit): { row: number; column: number };
}

function startFlow(columns: number): Flow {
  const rows: Cell[][] = [[]];
  let column = 0;
  const newRow = () => {
    rows.push([]);
    column = 0;
  };
  return {
    rows,
    newRow,
    put(cell) {
      // On a terminal of one column nothing wide has room anywhere.
      if (cell.width > columns) cell = { ...cell, text: "?", width: 1 };
      if (column + cell.width > columns) newRow();
      rows.at(-1)!.push(cell);
      column += cell.width;
    },
    next(unit = "") {
      const wide = typeof unit === "string" && unit > "\x7f" && columns > 1 &&
        unitCells(unit)[0]?.width === 2;
      if (column + (wide ? 2 : 1) > columns) newRow();
      return { row: rows.length - 1, column };
    },
  };
}

function put(flow: Flow, cells: readonly Cell[]): void {
  for (const cell of cells) flow.put(cell);
}

/** The rows around the cursor, and the menu in what room is left. */
function window(
  rows: readonly Row[],
  cursor: { row: number; column: number },
  menu: readonly Row[],
  { maxRows, top = 0 }: LayoutOptions,
): LineFrame {
  const below = menu.slice(0, Math.max(0, maxRows - 1));
  const room = Math.max(1, maxRows - below.length);
  const last = Math.max(0, rows.length - room);
  const first = Math.min(last, cursor.row, Math.max(top, cursor.row - room + 1));
  return {
    rows: [...rows.slice(first, first + room), ...below],
    cursor: { row: cursor.row - first, column: cursor.column },
    top: first,
  };
}

/** The items side by side, the chosen one marked; those around it when there are too many. */
function menuRows({ items, chosen }: Menu, columns: number, dim: string): Row[] {
  const width = Math.min(columns, 2 + Math.max(...items.slice(0, 500).map(displayWidth)));
  const perRow = Math.max(1, Math.floor(columns / width));
  const total = Math.ceil(items.length / perRow);
  const at = Math.max(0, Math.floor(chosen / perRow));
  const first = Math.max(0, Math.min(at - MENU_ROWS + 1, total - MENU_ROWS));
  return Array.from({ length: Math.min(MENU_ROWS, total) }, (_, i) => {
    const from = (first + i) * perRow;
    return items.slice(from, from + perRow).flatMap((item, j) => {
      const style = from + j === chosen ? "\x1b[7m" : dim;
      return fit(cellsOf(item, style), width, style);
    });
  });
}

/** `cells` cut or filled to `width` columns, the last two of them free where there is room. */
function fit(cells: readonly Cell[], width: number, style: string): Cell[] {
  const fitted: Cell[] = [];
  let room = width - Math.min(2, width - 1);
  for (const cell of cells) {
    room -= cell.width;
    if (room < 0) {
      room += cell.width;
      break;
    }
    fitted.push(cell);
  }
  const free = room + Math.min(2, width - 1);
  if (free > 0) fitted.push({ text: " ".repeat(free), width: free, style: style && "" });
  return fitted;
}
