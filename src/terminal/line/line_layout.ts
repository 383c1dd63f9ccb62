/** The layout of a line of input: `(state, columns) -> rows and cursor`. Pure. @module */

import type { Cell, Frame } from "../screen/frame.ts";
import { cellsOf, TAB_COLUMNS } from "../styled.ts";
import type { LineState } from "./state.ts";
import { isFolded, type Unit } from "../units.ts";

/** The look of a line, and its room. */
export interface LayoutOptions {
  /** Before the text. */
  prompt: string;
  /** An SGR sequence for the prompt, or empty: no colours at all then. */
  color: string;
  columns: number;
  /** The most rows; of a longer text those around the cursor are shown. */
  maxRows: number;
  /** The `top` of the frame before: the text scrolls no more than it must. */
  top?: number | undefined;
}

/** Stands before each line of a text but the first. */
const CONTINUATION = "  ...> ";
/** The cells of graphemes: text has few different ones, and each key lays out all of it. */
const cellCache = new Map<string, readonly Cell[]>();
const MAX_CACHED = 4096;
/** What was laid out last, and the rows that were full between two units: a key changes few of a long text. */
let known: { key: string; state: LineState; rows: Cell[][]; full: FullRow[] } | undefined;

/** The unit behind a full row, and the number of rows up to there. */
type FullRow = readonly [unit: number, rows: number];

/** Lays out `state`; of a longer text the rows around the cursor, from the `top`th on. */
export function layoutLine(
  state: LineState,
  { prompt, color, columns, maxRows, top = 0 }: LayoutOptions,
): Frame & { readonly top: number } {
  const dim = color && "\x1b[2m";
  const { units } = state;
  const key = `${columns} ${color} ${prompt}`;
  const flow = new Flow(columns);
  const full = known?.key === key ? sameRows(known, state) : [];
  const [start, count] = full.at(-1) ?? [0, 0];
  if (count > 0) flow.goOn(known!.rows.slice(0, count));
  else flow.putAll(cellsOf(prompt, color));
  let cursor: Frame["cursor"] | undefined;
  for (let at = start; at < units.length; at++) {
    const unit = units[at]!;
    if (flow.isFull && at > start) full.push([at, flow.rows.length]);
    if (at === state.cursor) cursor = flow.next(unit);
    if (unit === "\n") {
      flow.newRow();
      flow.putAll(cellsOf(CONTINUATION, color));
    } else if (unit === "\t") {
      const { column } = flow.next();
      const width = Math.min(TAB_COLUMNS - column % TAB_COLUMNS, columns - column);
      flow.put({ text: " ".repeat(width), width, style: "" });
    } else if (typeof unit === "string") {
      flow.putAll(unitCells(unit));
    } else flow.putAll(cellsOf(unit.label, isFolded(unit) ? dim : ""));
  }
  cursor ??= flow.next();
  const { rows } = flow;
  known = { key, state, rows, full };
  const last = Math.max(0, rows.length - maxRows);
  const first = Math.min(last, cursor.row, Math.max(top, cursor.row - maxRows + 1));
  return {
    rows: rows.slice(first, first + maxRows),
    cursor: { row: cursor.row - first, column: cursor.column },
    top: first,
  };
}

/** The full rows that `next` has in common with the state known, up to either's cursor, which may need a row. */
function sameRows({ state, full }: NonNullable<typeof known>, next: LineState): FullRow[] {
  const most = Math.min(state.cursor, next.cursor);
  let same = 0;
  while (same < most && state.units[same] === next.units[same]) same++;
  const end = full.findIndex(([unit]) => unit > same);
  return end < 0 ? full : full.slice(0, end);
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

class Flow {
  readonly rows: Cell[][] = [];
  #row: Cell[] = [];
  #column = 0;
  constructor(private readonly columns: number) {
    this.newRow();
  }

  /** Begins behind `rows`, which are full. */
  goOn(rows: Cell[][]): void {
    this.rows.length = 0;
    for (const row of rows) this.rows.push(row);
    this.#row = rows.at(-1)!;
    this.#column = this.columns;
  }

  get isFull(): boolean {
    return this.#column === this.columns;
  }

  put(cell: Cell): void {
    // On a terminal of one column no wide character has room anywhere.
    if (cell.width > this.columns) cell = { ...cell, text: "?", width: 1 };
    if (this.#column + cell.width > this.columns) this.newRow();
    this.#row.push(cell);
    this.#column += cell.width;
  }

  putAll(cells: readonly Cell[]): void {
    for (const cell of cells) this.put(cell);
  }

  newRow(): void {
    this.rows.push(this.#row = []);
    this.#column = 0;
  }

  /** The place of the next cell: on a new row if this one has no room for `unit`. */
  next(unit: Unit = ""): { row: number; column: number } {
    const isWide = typeof unit === "string" && unitCells(unit)[0]?.width === 2;
    if (this.#column + (isWide ? 2 : 1) > this.columns) this.newRow();
    return { row: this.rows.length - 1, column: this.#column };
  }
}
