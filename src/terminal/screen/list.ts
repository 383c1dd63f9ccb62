/** A list of rows of which one is chosen: its state, its moves, and the rows that show it. @module */

import { ACCENT, BOLD, DIM, ownStyle } from "../style.ts";
import { fittingLetters } from "../../text/fuzzy.ts";
import { displayWidth } from "../../text/width.ts";
import { cellsOf } from "../styled.ts";
import { type Cell, type CellRow, widthOf } from "./frame.ts";

/** A row of a list: what is chosen, and what it means. */
export interface ListRow {
  label: string;
  detail?: string | undefined;
}

export interface ListLook {
  /** False where the terminal has no colours: the chosen row has its mark alone. */
  hasStyles: boolean;
  /** The SGR sequence of the chosen row, with {@linkcode hasStyles} (default: the terminal's own colour). */
  accent?: string | undefined;
  unicode: boolean;
  /** Rows begin with the digit that picks them. */
  isNumbered?: boolean;
  /** The word that was typed: its letters are shown bold. */
  word?: string;
}

/** At most this share of the screen's rows is a list's, and no fewer than these. */
const SHARE = 3;
const MIN_ROWS = 6;

/** The most rows that a list takes of a screen. */
export const listHeight = (rows: number): number =>
  Math.min(Math.max(0, rows - 1), Math.max(MIN_ROWS, Math.floor(rows / SHARE)));

/** The least columns that a description needs to say anything. */
const MIN_DETAIL = 14;
/** The most columns that descriptions keep in a wide list, however long labels are: an address with its port fits. */
export const WIDE_LIST = 60;
const WIDE_DETAIL = 32;

/** The keys that choose the next row, or the one before, in every list. */
export const LIST_STEPS: Readonly<Record<string, -1 | 1 | undefined>> = {
  "up": -1,
  "ctrl-p": -1,
  "shift-tab": -1,
  "down": 1,
  "ctrl-n": 1,
  "tab": 1,
};

/** The index after `step` rows, round the ends for a single step, if it `wraps`; -1 (none) is before the first. */
export function stepped(chosen: number, step: number, count: number, wraps = true): number {
  if (count === 0) return -1;
  if (!wraps || Math.abs(step) > 1) return Math.max(0, Math.min(count - 1, chosen + step));
  return chosen === -1 && step === -1 ? count - 1 : (chosen + step + count) % count;
}

/** The index of the first item that a list of `rows` rows shows. */
export const firstShown = (chosen: number, count: number, rows: number): number =>
  Math.max(0, Math.min(chosen - (rows >> 1), count - rows));

/** At most `rows` rows of the list, around the chosen one, each of at most `columns`. */
export function listRows(
  items: readonly ListRow[],
  chosen: number,
  { columns, rows }: { columns: number; rows: number },
  look: ListLook,
): CellRow[] {
  const first = firstShown(chosen, items.length, rows);
  const shown = items.slice(first, first + rows);
  const front = look.isNumbered ? 2 + `${items.length}`.length + 2 : 2;
  const longest = Math.max(0, ...shown.map(({ label }) => displayWidth(label)));
  const room = Math.max(1, columns - front);
  const described = Math.max(0, ...shown.map(({ detail = "" }) => displayWidth(detail)));
  const kept = room - 2 - Math.min(WIDE_DETAIL, described);
  const widest = room < WIDE_LIST ? longest : Math.min(longest, kept);
  const hasDetails = described > 0 && room - widest - 2 >= Math.min(MIN_DETAIL, described);
  const [up, down] = look.unicode ? "↑↓" : "^v";
  return shown.map((item, at) => {
    const isChosen = first + at === chosen;
    const more = at === 0 && first > 0
      ? up
      : at === rows - 1 && first + rows < items.length
      ? down
      : " ";
    const number = look.isNumbered ? `${first + at + 1}`.padStart(`${items.length}`.length) : "";
    const row = cells(`${isChosen ? look.unicode ? "❯" : ">" : more} ${number && `${number}  `}`);
    const label = labelCells(item.label, isChosen, look);
    row.push(...cut(label, hasDetails ? widest : room, look.unicode, isPath(item.label)));
    if (!hasDetails || !item.detail) return row;
    row.push(...cells(" ".repeat(front + widest + 2 - widthOf(row))));
    const detail = cellsOf(item.detail, look.hasStyles ? ownStyle(DIM) : "");
    return [...row, ...cut(detail, columns - front - widest - 2, look.unicode)];
  });
}

/** True for a path, an address or a model's name such as `hf.co/a/b:Q4`: its end says as much as its beginning. */
const isPath = (label: string): boolean => /^\S*[/:]\S*$/.test(label);

const cells = (text: string): Cell[] => cellsOf(text, "");

function labelCells(label: string, isChosen: boolean, look: ListLook): Cell[] {
  const { hasStyles, accent = ownStyle(ACCENT), word = "" } = look;
  if (!hasStyles) return cells(label);
  const bold = new Set(fittingLetters(word, label));
  let at = 0;
  // What cannot be shown as it is becomes longer: the letters behind it are not marked.
  const isPlain = cells(label).map(({ text }) => text).join("") === label;
  return cellsOf(label, isChosen ? accent : "").map((cell) => {
    const isBold = isPlain && bold.has(at);
    at += cell.text.length;
    return isBold ? { ...cell, style: `${cell.style}${ownStyle(BOLD)}` } : cell;
  });
}

/** `row` in at most `columns`, with an ellipsis where it is cut: at its end, or with `keepsEnd` in the middle. */
function cut(row: Cell[], columns: number, unicode: boolean, keepsEnd = false): Cell[] {
  if (widthOf(row) <= columns) return row;
  const end = keepsEnd ? firstCells(row.toReversed(), (columns - 1) >> 1).reverse() : [];
  const kept = firstCells(row, columns - 1 - widthOf(end));
  return [...kept, { text: unicode ? "…" : "~", width: 1, style: "" }, ...end];
}

/** The first cells of `row` that fit into `columns`. */
function firstCells(row: readonly Cell[], columns: number): Cell[] {
  let room = columns;
  const over = row.findIndex(({ width }) => (room -= width) < 0);
  return row.slice(0, over < 0 ? row.length : over);
}
