/** The layout of a line of input: `(state, columns) -> rows and cursor`. Pure. @module */

import { type Cell, type Frame, widthOf } from "../screen/frame.ts";
import { cellsOf, TAB_COLUMNS } from "../styled.ts";
import type { LineState } from "./state.ts";
import { isFolded } from "../units.ts";

export interface LayoutOptions {
  prompt: string;
  /** An SGR sequence for the prompt; empty for a layout without colours. */
  color: string;
  columns: number;
  /** A longer text is cut to the rows around the cursor. */
  maxRows: number;
  /** The `top` of the previous frame, so that the text scrolls as little as possible. */
  top?: number | undefined;
}

/** The indentation of all rows but the first. */
const CONTINUATION = "  ";
/** In fewer columns, the rows of a wrapped line are not indented. */
const MIN_INDENT_COLUMNS = 20;
/** Every key lays out the whole text, which has few different graphemes. */
const cellCache = new Map<string, readonly Cell[]>();
const MAX_CACHED = 4096;

/** Lays out `state`, wrapped at spaces; `top` is the first row that is shown. */
export function layoutLine(
  state: LineState,
  { prompt, color, columns, maxRows, top = 0 }: LayoutOptions,
): Frame & { readonly top: number } {
  const dim = color && "\x1b[2m";
  const { units } = state;
  const flow = new Flow(columns, state.cursor, cellsOf(CONTINUATION, color));
  flow.putAll(cellsOf(prompt, color), -1);
  for (let at = 0; at < units.length; at++) {
    // Rows further below the cursor are not shown.
    if (at > state.cursor && flow.rows.length > flow.markedRow + maxRows + 1) break;
    const unit = units[at]!;
    if (unit === "\n") {
      if (at === state.cursor) flow.markNext();
      flow.newLine();
    } else if (unit === "\t") flow.putTab(at);
    else if (typeof unit === "string") flow.putAll(unitCells(unit), at);
    else flow.putAll(cellsOf(unit.label, isFolded(unit) ? dim : ""), at);
  }
  if (state.cursor >= units.length) flow.markNext();
  const { rows, cursor } = flow;
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

/** Fills rows with cells, and marks the cell of the cursor. */
class Flow {
  readonly rows: Cell[][] = [];
  #row: Cell[] = [];
  /** The units whose first cell is the cell of the row; otherwise -1. */
  #units: number[] = [];
  #column = 0;
  /** The position behind the last blank, where the row may be broken. */
  #gap = { cell: 0, column: 0 };
  #mark = { row: 0, cell: 0 };
  /** The cells before the rest of a wrapped line. */
  readonly #indent: readonly Cell[];

  /** `marked`: the unit at the cursor. `lineStart`: the cells before all lines but the first. */
  constructor(
    private readonly columns: number,
    private readonly marked: number,
    private readonly lineStart: readonly Cell[],
  ) {
    this.#indent = columns < MIN_INDENT_COLUMNS ? [] : cellsOf(CONTINUATION, "");
    this.#newRow();
  }

  get cursor(): { row: number; column: number } {
    const { row, cell } = this.#mark;
    const column = widthOf(this.rows[row]!.slice(0, cell));
    return { row, column: Math.min(column, this.columns - 1) };
  }

  /** The row of the cursor, if it was reached. */
  get markedRow(): number {
    return this.#mark.row;
  }

  putAll(cells: readonly Cell[], unit: number): void {
    for (let at = 0; at < cells.length; at++) this.put(cells[at]!, at === 0 ? unit : -1);
  }

  putTab(unit: number): void {
    const column = this.#column % this.columns;
    const width = Math.min(TAB_COLUMNS - column % TAB_COLUMNS, this.columns - column);
    this.put({ text: " ".repeat(width), width, style: "" }, unit);
  }

  put(cell: Cell, unit: number): void {
    // A wide character does not fit a terminal of one column.
    if (cell.width > this.columns) cell = { ...cell, text: "?", width: 1 };
    const isBlank = cell.text === " " || cell.text.trim() === "";
    const isOver = this.#column + cell.width > this.columns;
    if (isOver && isBlank && this.columns > 2) {
      // It ends the row without a column of its own.
      if (unit === this.marked) this.#mark = { row: this.rows.length - 1, cell: this.#row.length };
      this.#gap = { cell: this.#row.length, column: this.#column };
      return;
    }
    if (isOver) this.#breakRow();
    if (unit === this.marked) this.#mark = { row: this.rows.length - 1, cell: this.#row.length };
    this.#row.push(cell);
    this.#units.push(unit);
    this.#column += cell.width;
    if (isBlank) this.#gap = { cell: this.#row.length, column: this.#column };
  }

  newLine(): void {
    this.#newRow();
    this.putAll(this.lineStart, -1);
  }

  #newRow(): void {
    this.rows.push(this.#row = []);
    this.#units = [];
    this.#column = 0;
    this.#gap = { cell: 0, column: 0 };
  }

  /** Puts the cursor behind all cells, on a new row if this one is full. */
  markNext(): void {
    if (this.#column >= this.columns) this.#wrapRow();
    this.#mark = { row: this.rows.length - 1, cell: this.#row.length };
  }

  /** Starts a new row with the current word; breaks a long word. */
  #breakRow(): void {
    const { cell, column } = this.#gap;
    const at = column > this.columns / 2 ? cell : this.#row.length;
    const [word, units] = [this.#row.splice(at), this.#units.splice(at)];
    const { row } = this.#mark;
    if (row === this.rows.length - 1 && this.#mark.cell >= at && units.includes(this.marked)) {
      this.#mark = { row: row + 1, cell: this.#mark.cell - at + this.#indent.length };
    }
    this.#wrapRow();
    this.#row.push(...word);
    this.#units.push(...units);
    this.#column += widthOf(word);
  }

  #wrapRow(): void {
    this.#newRow();
    this.#row.push(...this.#indent);
    this.#units.push(...this.#indent.map(() => -1));
    this.#column = widthOf(this.#indent);
  }
}
