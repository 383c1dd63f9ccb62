/** The layout of a line of input: `(state, columns) -> rows and cursor`. Pure. @module */

import { type Cell, type Frame, widthOf } from "../screen/frame.ts";
import { cellsOf, TAB_COLUMNS } from "../styled.ts";
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
  const flow = new Flow(columns);
  flow.put(cellsOf(prompt, color));
  let cursorRow = Infinity;
  for (let at = 0; at <= units.length; at++) {
    const unit = units[at] ?? "\n";
    if (at === state.cursor) {
      if (unit === "\n") flow.wrapFull();
      flow.put([CURSOR]);
      cursorRow = flow.rows.length;
    }
    if (at === units.length || flow.rows.length > cursorRow + maxRows + 1) break;
    if (unit === "\n") {
      flow.startRow([]);
      flow.put(cellsOf(CONTINUATION, ""));
    } else if (unit === "\t") flow.putTab();
    else if (typeof unit === "string") flow.put(unitCells(unit));
    else flow.put(cellsOf(unit.label, isFolded(unit) ? sgr(ACCENT) : ""));
  }
  const { rows } = flow;
  const cursor = flow.removeCursor();
  const last = Math.max(0, rows.length - maxRows);
  const first = Math.min(last, cursor.row, Math.max(top, cursor.row - maxRows + 1));
  return {
    rows: rows.slice(first, first + maxRows),
    cursor: { row: cursor.row - first, column: cursor.column },
    top: first,
  };
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

class Flow {
  readonly rows: Cell[][] = [];
  #row: Cell[] = [];
  #column = 0;
  /** The number of cells up to the last blank, behind which the row may be broken. */
  #gap = 0;
  readonly #indent: readonly Cell[];

  constructor(private readonly columns: number) {
    this.#indent = columns < MIN_INDENT_COLUMNS ? [] : cellsOf(CONTINUATION, "");
    this.startRow([]);
  }

  put(cells: readonly Cell[]): void {
    for (let cell of cells) {
      if (cell.width > this.columns) cell = { ...cell, text: "?", width: 1 };
      const isBlank = cell.text === " " || cell.text !== "" && cell.text.trim() === "";
      if (this.#column + cell.width > this.columns) {
        if (isBlank && this.columns > 2) {
          // It ends the row without a column of its own.
          this.#gap = this.#row.length;
          continue;
        }
        this.#breakRow();
      }
      this.#row.push(cell);
      this.#column += cell.width;
      if (isBlank) this.#gap = this.#row.length;
    }
  }

  putTab(): void {
    const column = this.#column % this.columns;
    const width = Math.min(TAB_COLUMNS - column % TAB_COLUMNS, this.columns - column);
    this.put([{ text: " ".repeat(width), width, style: "" }]);
  }

  startRow(cells: readonly Cell[]): void {
    this.rows.push(this.#row = [...cells]);
    this.#column = widthOf(cells);
    this.#gap = 0;
  }

  wrapFull(): void {
    if (this.#column >= this.columns) this.startRow(this.#indent);
  }

  #breakRow(): void {
    const row = this.#row;
    const isLong = widthOf(row.slice(0, this.#gap)) <= this.columns / 2;
    const at = isLong ? row.length - (row.at(-1) === CURSOR ? 1 : 0) : this.#gap;
    this.startRow([...this.#indent, ...row.splice(at)]);
  }

  removeCursor(): { row: number; column: number } {
    const row = this.rows.findIndex((cells) => cells.includes(CURSOR));
    const cells = this.rows[row]!;
    const before = cells.slice(0, cells.indexOf(CURSOR));
    this.rows[row] = cells.filter((cell) => cell !== CURSOR);
    return { row, column: Math.min(widthOf(before), this.columns - 1) };
  }
}
