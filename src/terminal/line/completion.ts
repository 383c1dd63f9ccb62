/** Completion: the texts that could stand before the cursor, as a list below the line. @module */

import { listHeight, type ListLook, listRows, stepped } from "../screen/list.ts";
import type { CellRow } from "../screen/frame.ts";
import type { TerminalSize } from "../tty.ts";
import { unitsText } from "../units.ts";
import { graphemes } from "../../text/width.ts";
import { type LineState, withUnits } from "./state.ts";

/** A text that could stand before the cursor, as the list shows it. */
export interface Offer {
  /** The text of its row. */
  label: string;
  /** What it means, in a few words. */
  detail?: string | undefined;
  /** The text that is put in (default: the label). */
  text?: string;
  /** True where Enter only puts it in, as more is to be typed. */
  isOpen?: boolean;
  /** True where Enter behind all of the text does not send it, either, but puts in what is missing. */
  isUnfinished?: boolean;
}

/** Texts that could stand before the cursor. */
export interface Completion {
  /** The number of characters (UTF-16) before the cursor that are replaced. */
  replace: number;
  /** The texts in their place, best first. */
  items: readonly (string | Offer)[];
  /** True where the list opens as the text is typed, with its first row chosen. */
  isTyped?: boolean;
  /** Resolves with a fuller one, or with undefined where there will be none; asked for while the list is open. */
  more?: () => Promise<Completion | undefined>;
}

/**
 * Offers completions of the text before the cursor. Of more than 1024 characters it is given those
 * next to the cursor, with an ellipsis for those before them.
 */
export type Completer = (
  before: string,
  after: string,
) => Completion | undefined | Promise<Completion | undefined>;

/** Several completions of a line, one of which may be in it. */
export interface Menu {
  readonly items: readonly Offer[];
  /** The index of the chosen item; -1 for none yet. */
  readonly chosen: number;
  /** The position in the line where the item begins. */
  readonly from: number;
  /** The text there when the menu opened. */
  readonly typed: string;
  readonly isTyped: boolean;
  /** True once an item was put into the line. */
  readonly isPut: boolean;
  readonly more?: Completion["more"];
}

/** The most characters on each side of the cursor that a completer is given. */
const MAX_CHARS = 1024;

/** The menu of what `completer` offers for a line; undefined when it offers nothing, or fails. */
export async function menuFor(completer: Completer, state: LineState): Promise<Menu | undefined> {
  const { units, cursor } = state;
  const after = unitsText(units.slice(cursor, cursor + MAX_CHARS));
  return await menuOf(() => completer(textBefore(state), after.slice(0, MAX_CHARS)), state);
}

/** The text before the cursor, of a long one its end: each key asks for it. */
function textBefore({ units, cursor }: LineState): string {
  let from = cursor;
  for (let chars = 0; from > 0 && chars <= MAX_CHARS;) chars += unitsText([units[--from]!]).length;
  const text = unitsText(units.slice(from, cursor));
  return text.length > MAX_CHARS ? `…${text.slice(-MAX_CHARS)}` : text;
}

/** The fuller menu that comes behind `menu` for the same line. */
export async function nextMenu({ more }: Menu, state: LineState): Promise<Menu | undefined> {
  return more && await menuOf(more, state);
}

async function menuOf(
  complete: () => ReturnType<Completer>,
  { units, cursor }: LineState,
): Promise<Menu | undefined> {
  try {
    const found = await complete();
    if (!found || found.items.length === 0) return undefined;
    const { items, replace, isTyped = false, more } = found;
    let from = cursor;
    for (let left = replace; left > 0 && from > 0; from--) {
      left -= unitsText([units[from - 1]!]).length;
    }
    return {
      items: items.map((item) => typeof item === "string" ? { label: item } : item),
      chosen: isTyped ? 0 : -1,
      from,
      typed: unitsText(units.slice(from, cursor)),
      isTyped,
      isPut: false,
      more,
    };
  } catch {
    return undefined; // whatever is wrong with it, the text is safe
  }
}

export const offeredText = ({ text, label }: Offer): string => text ?? label;

/** The line with the beginning that all items have in common, or with the only item. */
export function withCommonStart(state: LineState, { items, from, typed }: Menu): LineState {
  const common = commonStart(items.map(offeredText));
  // A completer may match in other ways than by the beginning.
  if (common.length < typed.length && items.length > 1) return state;
  return withUnits(state, from, state.cursor, graphemes(common));
}

/** The longest beginning that all have, in whole graphemes. */
function commonStart(items: readonly string[]): string {
  let common = graphemes(items[0]!);
  for (const item of items) {
    const other = graphemes(item);
    const same = common.findIndex((unit, at) => unit !== other[at]);
    if (same !== -1) common = common.slice(0, same);
  }
  return common.join("");
}

/** The line and the menu after an item was put in; `step` 0 puts in the chosen one. */
export function putOffer(state: LineState, menu: Menu, step: -1 | 0 | 1): [LineState, Menu] {
  const { items, from, isPut } = menu;
  const chosen = stepped(menu.chosen, step, items.length);
  const next = withUnits(state, from, state.cursor, graphemes(offeredText(items[chosen]!)));
  // However many are looked at, undo goes back to before the first.
  return [isPut ? { ...next, undo: state.undo } : next, { ...menu, chosen, isPut: true }];
}

/** The rows of a menu below a line. */
export function menuRows(
  { items, chosen, typed }: Menu,
  { columns, rows }: TerminalSize,
  look: ListLook,
): CellRow[] {
  const most = listHeight(rows);
  // The signs in front say what kind of thing is named.
  const word = typed.replace(/^[/@"]+/, "");
  return listRows(items, chosen, { columns, rows: most }, { ...look, word });
}
