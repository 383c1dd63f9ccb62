/** The layout of a line of input: `(state, columns) -> rows and cursor`. Pure. @module */

import { type Cell, type CellRow, type Frame, widthOf } from "../screen/frame.ts";
import { brokenRow, cellsOf, TAB_COLUMNS } from "../styled.ts";
import { ACCENT, BOLD, type Sgr } from "../style.ts";
import type { LineState } from "./state.ts";
import { isFolded } from "../units.ts";

export interface LayoutOptions {
  prompt: string;
  sgr: Sgr;
  /** The SGR sequence of the prompt (default: bold, in the accent colour). */
  color?: string;
  columns: number;
  /** A longer text is cut to the rows around the cursor. */
  maxRows: number;
  /** The `top` of the previous frame, so that the text scrolls as little as possible. */
  top?: number | undefined;
}

const CONTINUATION = "  ";
/** In fewer columns, the rows of a wrapped line are not indented. */
const MIN_INDENT_COLUMNS = 20;
/** Every key lays out the whole text, which has few different graphemes. */
const cellCache = new Map<string, readonly Cell[]>();
const MAX_CACHED = 4096;

/** Lays out `state`, wrapped at spaces; `top` is the first row that is shown. */
export function layoutLine(
  state: LineState,
  { prompt, sgr, color = sgr(BOLD | ACCENT), columns, maxRows, top = 0 }: LayoutOptions,
): Frame & { readonly top: number } {
  const { units } = state;
  const rows: CellRow[] = [];
  let line = cellsOf(prompt, color);
  let cursorRow = Infinity;
  for (let at = 0; at <= units.length && rows.length <= cursorRow + maxRows; at++) {
    const unit = units[at] ?? "\n";
    if (at === state.cursor) {
      cursorRow = rows.length;
      line.push(CURSOR);
    }
    if (unit === "\n") {
      rows.push(...wrappedLine(line, columns));
      line = cellsOf(CONTINUATION, "");
    } else if (unit === "\t") {
      const width = TAB_COLUMNS - widthOf(line) % TAB_COLUMNS;
      line.push({ text: " ".repeat(width), width, style: "" });
    } else if (typeof unit === "string") line.push(...unitCells(unit));
    else line.push(...cellsOf(unit.label, isFolded(unit) ? sgr(ACCENT) : ""));
  }
  const row = rows.findIndex((cells) => cells.includes(CURSOR));
  const before = rows[row]!.slice(0, rows[row]!.indexOf(CURSOR));
  const last = Math.max(0, rows.length - maxRows);
  const first = Math.min(last, row, Math.max(top, row - maxRows + 1));
  return {
    rows: rows.slice(first, first + maxRows).map((row) => row.filter((cell) => cell !== CURSOR)),
    cursor: { row: row - first, column: Math.min(widthOf(before), columns - 1) },
    top: first,
  };
}

/** The rows of one line. A cursor behind a full row is in the next one. */
function wrappedLine(line: CellRow, columns: number): CellRow[] {
  const indent = cellsOf(columns < MIN_INDENT_COLUMNS ? "" : CONTINUATION, "");
  const fit = (cell: Cell) => cell.width > columns ? { ...cell, text: "?", width: 1 } : cell;
  const rows = brokenRow(line.map(fit), columns, indent);
  const full = rows.findIndex((row, at) =>
    row.at(-1) === CURSOR && (at < rows.length - 1 || widthOf(row) >= columns)
  );
  if (full === -1) return rows;
  const [row, next = indent] = rows.slice(full);
  const moved = [row!.slice(0, -1), next.toSpliced(indent.length, 0, CURSOR)];
  return [...rows.slice(0, full), ...moved, ...rows.slice(full + 2)];
}

function unitCells(unit: string): readonly Cell[] {
  let cells = cellCache.get(unit);
  if (cells === undefined) {
    cells = cellsOf(unit, "");
    if (cellCache.size >= MAX_CACHED) cellCache.clear();
    cellCache.set(unit, cells);
  }
  return cells;
}

const CURSOR: Cell = { text: "", width: 0, style: "" };
