/** A list of rows of which one is selected: its moves and its layout. @module */

import { ACCENT, BOLD, DIM, REVERSE, type Sgr } from "../style.ts";
import { fittingLetters } from "../../../text/fuzzy.ts";
import { displayWidth } from "../../../text/width.ts";
import { brokenRow, cellsOf, styledRow } from "../styled.ts";
import type { TerminalSize } from "../tty.ts";
import { type Cell, type CellRow, widthOf } from "./frame.ts";

export interface ListRow {
  label: string;
  detail?: string | undefined;
  /** Lines below the list while the row is selected. */
  preview?: string | undefined;
  /** The heading above the first of the rows that have it. */
  group?: string | undefined;
  /** The letter that selects the row, shown in place of its digit. */
  key?: string;
}

export interface ListStyle {
  sgr: Sgr;
  /** True if rows start with the digit that selects them. */
  isNumbered?: boolean;
  word?: string;
}

const MAX_LIST_ROWS = 15;

export const listHeight = (rows: number): number => Math.min(Math.max(0, rows - 1), MAX_LIST_ROWS);

const MIN_DETAIL = 14;
/** In a list of so many columns, long labels leave this many to descriptions, for an address. */
const WIDE_LIST = 60;
const WIDE_DETAIL = 32;

/** The keys that select the next or the previous row of every list. */
export const LIST_STEPS: Readonly<Record<string, -1 | 1 | undefined>> = {
  "up": -1,
  "ctrl-p": -1,
  "shift-tab": -1,
  "down": 1,
  "ctrl-n": 1,
  "tab": 1,
};

/** The index `step` rows on; a single step may wrap around the ends. -1 selects no row. */
export function stepped(chosen: number, step: number, count: number, wraps = true): number {
  if (count === 0) return -1;
  if (!wraps || Math.abs(step) > 1) return Math.max(0, Math.min(count - 1, chosen + step));
  return chosen === -1 && step === -1 ? count - 1 : (chosen + step + count) % count;
}

const firstShown = (chosen: number, count: number, rows: number): number =>
  Math.max(0, Math.min(chosen - (rows >> 1), count - rows));

/** The index of the selected row in a list that is laid out. */
export const markedRow = (rows: readonly CellRow[]): number =>
  Math.max(0, rows.findIndex(([first]) => /[❯>]/.test(first?.text ?? "")));

const widest = (items: readonly ListRow[], part: "label" | "detail"): number =>
  Math.max(0, ...items.map((item) => displayWidth(item[part] ?? "")));

export function listRows(
  items: readonly ListRow[],
  chosen: number,
  { columns, rows }: { columns: number; rows: number },
  style: ListStyle,
): CellRow[] {
  const lines = items.flatMap((item, at) => {
    const { group } = item;
    return group === undefined || group === items[at - 1]?.group ? [at] : [group, at];
  });
  const first = firstShown(lines.indexOf(chosen), lines.length, rows);
  const shownLines = lines.slice(first, first + rows);
  const shown = shownLines.flatMap((line) => typeof line === "number" ? [items[line]!] : []);
  const front = style.isNumbered ? 2 + `${items.length}`.length + 2 : 2;
  const longest = widest(shown, "label");
  const room = Math.max(1, columns - front);
  const described = widest(shown, "detail");
  const least = room - 2 - Math.min(WIDE_DETAIL, described);
  const labels = room < WIDE_LIST ? longest : Math.min(longest, least);
  const hasDetails = described > 0 && room - labels - 2 >= Math.min(MIN_DETAIL, described);
  return shownLines.map((line, at) => {
    const more = at === 0 && first > 0
      ? "↑"
      : at === rows - 1 && first + rows < lines.length
      ? "↓"
      : " ";
    if (typeof line === "string") {
      return styledRow(`${style.sgr(BOLD | DIM)}${more} ${line}`, columns);
    }
    const item = items[line]!;
    const isChosen = line === chosen;
    const key = item.key ?? `${line + 1}`;
    const number = style.isNumbered ? key.padStart(`${items.length}`.length) : "";
    const filled = (row: Cell[]) => isChosen ? filledRow(row, columns, style) : row;
    const row = cells(`${isChosen ? "❯" : more} ${number && `${number}  `}`);
    const label = labelCells(item.label, style);
    row.push(...cut(label, hasDetails ? labels : room, isPath(item.label)));
    if (!hasDetails || !item.detail) return filled(row);
    row.push(...cells(" ".repeat(front + labels + 2 - widthOf(row))));
    const detail = cellsOf(item.detail, style.sgr(DIM));
    return filled([...row, ...cut(detail, columns - front - labels - 2)]);
  });
}

const SIDE_COLUMNS = 7;
const DETAIL_MARGIN = "    ";
const MAX_DETAIL_ROWS = 3;
const MIN_DETAIL_ROWS = 14;

/** True if the rows of a list have no room for their descriptions. */
export function isNarrowList(items: readonly ListRow[], columns: number): boolean {
  const details = widest(items, "detail");
  return columns < WIDE_LIST && details > 0 &&
    widest(items, "label") + details + SIDE_COLUMNS > columns;
}

/** The description in a narrow list, and the preview, of the selected row: always as high. */
export function detailRows(
  items: readonly ListRow[],
  chosen: ListRow | undefined,
  { columns, rows }: TerminalSize,
  sgr: Sgr,
): CellRow[] {
  if (rows < MIN_DETAIL_ROWS) return [];
  const isNarrow = isNarrowList(items, columns);
  const room = columns - DETAIL_MARGIN.length;
  const cellsOfLine = (line: string) => cellsOf(line, sgr(DIM));
  const details = ({ detail = "" }: ListRow) =>
    isNarrow ? brokenRow(cellsOfLine(detail), room).slice(0, MAX_DETAIL_ROWS) : [];
  const previews = ({ preview = "" }: ListRow) => preview === "" ? [] : preview.split("\n");
  const most = (rowsOf: (item: ListRow) => readonly unknown[]) =>
    Math.max(0, ...items.map((item) => rowsOf(item).length));
  const shown = chosen
    ? [...details(chosen), ...previews(chosen).map((line) => cut([...cellsOfLine(line)], room))]
    : [];
  return Array.from({ length: most(details) + most(previews) }, (_, at) => {
    const row = shown[at];
    return row ? [...cells(DETAIL_MARGIN), ...row] : [];
  });
}

function filledRow(row: readonly Cell[], columns: number, { sgr }: ListStyle): Cell[] {
  const style = sgr(ACCENT | REVERSE);
  const bold = sgr(BOLD);
  if (style === "") return [...row];
  const rest = cellsOf(" ".repeat(Math.max(0, columns - widthOf(row))), "");
  return [...row, ...rest].map((cell) => {
    return { ...cell, style: cell.style.includes(bold) ? style + bold : style };
  });
}

/** True for paths, addresses and names such as `hf.co/a/b:Q4`, whose end is as important as their start. */
const isPath = (label: string): boolean => /^\S*[/:]\S*$/.test(label);

const cells = (text: string): Cell[] => cellsOf(text, "");

function labelCells(label: string, { sgr, word = "" }: ListStyle): Cell[] {
  const bold = new Set(fittingLetters(word, label));
  let at = 0;
  // Escaped characters are longer than in the label: then no letters are marked.
  const isPlain = cells(label).map(({ text }) => text).join("") === label;
  return cells(label).map((cell) => {
    const isBold = isPlain && bold.has(at);
    at += cell.text.length;
    return isBold ? { ...cell, style: sgr(BOLD) } : cell;
  });
}

/** Cuts `row` at its end, or with `keepsEnd` in the middle, and adds an ellipsis. */
function cut(row: Cell[], columns: number, keepsEnd = false): Cell[] {
  if (widthOf(row) <= columns) return row;
  const end = keepsEnd ? firstCells(row.toReversed(), (columns - 1) >> 1).reverse() : [];
  const start = firstCells(row, columns - 1 - widthOf(end));
  return [...start, { text: "…", width: 1, style: "" }, ...end];
}

function firstCells(row: readonly Cell[], columns: number): Cell[] {
  let room = columns;
  const over = row.findIndex(({ width }) => (room -= width) < 0);
  return row.slice(0, over < 0 ? row.length : over);
}
