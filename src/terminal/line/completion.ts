/** Completion: the items that a completer offers, in the line; several of them as a menu. @module */

import type { CellRow, Frame } from "../screen/frame.ts";
import { cellsOf } from "../styled.ts";
import type { Modal, Outcome } from "../screen/modal.ts";
import type { TerminalSize } from "../tty.ts";
import { unitsText } from "../units.ts";
import { displayWidth, graphemes } from "../../text/width.ts";
import type { Key } from "./keys.ts";
import { type LineState, withUndo, withUnits } from "./state.ts";

/** Texts that could stand before the cursor. */
export interface Completion {
  /** The number of characters (UTF-16) before the cursor that are replaced. */
  replace: number;
  /** The texts in their place, best first. */
  items: readonly string[];
}

/** Offers completions of the text before the cursor. */
export type Completer = (
  before: string,
  after: string,
) => Completion | undefined | Promise<Completion | undefined>;

/** Several completions of a line, one of which may be in it. */
interface Menu {
  readonly items: readonly string[];
  /** The index of the item in the line; -1 for none yet. */
  readonly chosen: number;
  /** The position in the line where the item begins. */
  readonly from: number;
}

/**
 * The line with the beginning that all items have in common, or the only item; a menu of several.
 * Undefined when `completer` offers nothing, or fails.
 */
export async function completeWith(
  completer: Completer | undefined,
  state: LineState,
): Promise<{ state: LineState; menu: Menu | undefined } | undefined> {
  const { units, cursor } = state;
  try {
    const [before, after] = [unitsText(units.slice(0, cursor)), unitsText(units.slice(cursor))];
    const { items, replace } = await completer?.(before, after) ?? { items: [], replace: 0 };
    if (items.length === 0) return undefined;
    let from = cursor;
    for (let left = replace; left > 0 && from > 0; from--) {
      left -= unitsText([units[from - 1]!]).length;
    }
    const typed = unitsText(units.slice(from, cursor));
    const common = commonStart(items);
    // A completer may match in other ways than by the beginning.
    const fits = common.length >= typed.length || items.length === 1;
    const next = fits ? withUnits(state, from, cursor, graphemes(common)) : state;
    const menu = items.length > 1 ? { items, chosen: -1, from } : undefined;
    return { state: withUndo(state, next), menu };
  } catch {
    return undefined; // whatever is wrong with it, the text is safe
  }
}

/** The longest beginning that all have, in whole graphemes. */
function commonStart(items: readonly string[]): string {
  let common = graphemes(items[0]!);
  for (const item of items) {
    const other = graphemes(item);
    const same = common.findIndex((unit, at) => unit !== other[at]);
    if (same >= 0) common = common.slice(0, same);
  }
  return common.join("");
}

/** The items of a completion below the line: Tab and Shift-Tab choose, other keys are the line's. */
export class MenuModal implements Modal<void> {
  /** @param dim An SGR sequence for items that are not chosen, or empty. */
  constructor(
    private readonly line: { state: LineState } & Pick<Modal, "layout">,
    private menu: Menu,
    private readonly dim: string,
  ) {}

  layout({ columns, rows }: TerminalSize): Frame {
    const menu = menuRows(this.menu, columns, this.dim).slice(0, Math.max(0, rows - 1));
    const line = this.line.layout({ columns, rows: rows - menu.length });
    return { rows: [...line.rows, ...menu], cursor: line.cursor };
  }

  press(key: Key): Outcome<void> {
    if (key.name === "escape") return { done: null };
    if (key.name !== "tab" && key.name !== "shift-tab") return "pass";
    this.#choose(key.name === "tab" ? 1 : -1);
    return "none";
  }

  /** Puts the next item into the line. */
  #choose(step: -1 | 1): void {
    const { items, chosen, from } = this.menu;
    const { state } = this.line;
    const isFirst = chosen < 0;
    const index = ((isFirst && step < 0 ? 0 : chosen) + step + items.length) % items.length;
    const next = withUnits(state, from, state.cursor, graphemes(items[index]!));
    // However many are looked at, undo goes back to before the first.
    this.line.state = isFirst ? withUndo(state, next) : next;
    this.menu = { items, chosen: index, from };
  }
}

/** The most rows of a menu. */
const MENU_ROWS = 6;
/** The width of the columns is that of the widest of the first items, of this many. */
const MEASURED_ITEMS = 500;

/** The items side by side, the chosen one marked; those around it when there are too many. */
function menuRows({ items, chosen }: Menu, columns: number, dim: string): CellRow[] {
  const widest = Math.max(...items.slice(0, MEASURED_ITEMS).map(displayWidth));
  const width = Math.min(columns, 2 + widest);
  const perRow = Math.max(1, Math.floor(columns / width));
  const total = Math.ceil(items.length / perRow);
  const at = Math.max(0, Math.floor(chosen / perRow));
  const first = Math.max(0, Math.min(at - MENU_ROWS + 1, total - MENU_ROWS));
  return Array.from({ length: Math.min(MENU_ROWS, total) }, (_, i) => {
    const from = (first + i) * perRow;
    return items.slice(from, from + perRow).flatMap((item, j) =>
      itemCells(item, width, from + j === chosen ? "\x1b[7m" : dim)
    );
  });
}

/** `item` cut or filled to `width` columns, the last two of them free where there is room. */
function itemCells(item: string, width: number, style: string): CellRow {
  const cells = [];
  const gap = Math.min(2, width - 1);
  let room = width - gap;
  for (const cell of cellsOf(item, style)) {
    if (cell.width > room) break;
    room -= cell.width;
    cells.push(cell);
  }
  const free = room + gap;
  if (free > 0) cells.push({ text: " ".repeat(free), width: free, style: style && "" });
  return cells;
}
