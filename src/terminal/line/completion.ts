/**
 * Completion: what a completer offers, put into the line.
 *
 * @module
 */

import { type LineState, withUndo } from "./state.ts";
import { replaceUnits, textOf, type Unit } from "../units.ts";
import { graphemes } from "../../text/width.ts";

/** What could stand before the cursor. */
export interface Completion {
  /** How many characters (UTF-16) before the cursor are replaced. */
  replace: number;
  /** What with, best first. */
  items: readonly string[];
}

/** Offers completions of the text before the cursor. */
export type Completer = (
  before: string,
  after: string,
) => Completion | undefined | Promise<Completion | undefined>;

/** The line as `completer` completes it; undefined when it offers nothing, or fails. */
export async function completeWith(
  completer: Completer | undefined,
  state: LineState,
): Promise<LineState | undefined> {
  const { units, cursor } = state;
  try {
    const [before, after] = [textOf(units.slice(0, cursor)), textOf(units.slice(cursor))];
    return complete(state, await completer?.(before, after));
  } catch {
    return undefined; // whatever is wrong with it, the text is safe
  }
}

/**
 * Puts in what all items have in common, or the only one; opens the menu when there are several.
 * Undefined when there is nothing to put in or to choose from.
 */
export function complete(
  state: LineState,
  completion: Completion | undefined,
): LineState | undefined {
  const { items, replace } = completion ?? { items: [], replace: 0 };
  if (items.length === 0) return undefined;
  let from = state.cursor;
  for (let left = replace; left > 0 && from > 0; from--) {
    left -= textOf([state.units[from - 1]!]).length;
  }
  const typed = textOf(state.units.slice(from, state.cursor));
  const common = commonStart(items);
  // A completer may match in other ways than by the beginning.
  const next = common.length >= typed.length || items.length === 1
    ? put(state, from, graphemes(common))
    : state;
  const menu = items.length > 1 ? { items, chosen: -1, from } : undefined;
  return { ...withUndo(state, next), menu };
}

/** Puts the next item of the menu into the line. */
export function chooseNext(state: LineState, step: -1 | 1): LineState {
  const menu = state.menu!;
  const { length } = menu.items;
  const chosen = menu.chosen < 0
    ? (step > 0 ? 0 : length - 1)
    : (menu.chosen + step + length) % length;
  const next = put(state, menu.from, graphemes(menu.items[chosen]!));
  // However many are looked at, undo goes back to before the first.
  return { ...(menu.chosen < 0 ? withUndo(state, next) : next), menu: { ...menu, chosen } };
}

function put(state: LineState, from: number, units: readonly Unit[]): LineState {
  return { ...state, ...replaceUnits(state.units, from, state.cursor, units) };
}

/** The longest beginning that all have, in whole graphemes. */
function commonStart(items: readonly string[]): string {
  const first = graphemes(items[0]!);
  let length = first.length;
  for (const item of items) {
    const other = graphemes(item);
    let same = 0;
    while (same < length && other[same] === first[same]) same++;
    length = same;
  }
  return first.slice(0, length).join("");
}
