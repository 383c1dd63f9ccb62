/** Completion of the text before the cursor, with a menu below the line. @module */

import { detailRows, listHeight, listRows, type ListStyle, stepped } from "../screen/list.ts";
import type { CellRow } from "../screen/frame.ts";
import { DIM } from "../style.ts";
import type { TerminalSize } from "../tty.ts";
import { styledRow } from "../styled.ts";
import { unitsText } from "../units.ts";
import { graphemes } from "../../../text/width.ts";
import { type LineState, withUnits } from "./state.ts";

/** A text that could be inserted before the cursor. */
export interface CompletionItem {
  /** The text of its row. */
  label: string;
  /** A short description. */
  detail?: string | undefined;
  /** The heading of its group; shown while nothing else is typed. */
  group?: string | undefined;
  /** The inserted text (default: the label). */
  text?: string;
  /** True if Enter inserts it without submitting, because more has to be typed. */
  isOpen?: boolean;
  /** True if Enter does not submit it even when all of it is typed. */
  isUnfinished?: boolean;
}

/** The texts that could be inserted before the cursor. */
export interface Completion {
  /** The number of characters (UTF-16) before the cursor that an item replaces. */
  replace: number;
  /** Best first. */
  items: readonly (string | CompletionItem)[];
  /** True if the menu opens while the text is typed, with its first row selected. */
  isTyped?: boolean;
  /** Resolves with a longer completion, or undefined; called while the menu is open. */
  loadMore?: () => Promise<Completion | undefined>;
}

/** Completes the text before the cursor, of which it receives at most 1024 characters on each side. */
export type Completer = (
  before: string,
  after: string,
) => Completion | undefined | Promise<Completion | undefined>;

export interface Menu {
  readonly items: readonly CompletionItem[];
  readonly chosen: number;
  /** The position in the line where items are inserted. */
  readonly from: number;
  /** The text that an item replaces. */
  readonly typed: string;
  /** The line that it belongs to; keys of one read may change the line before the next menu is ready. */
  readonly units: LineState["units"];
  /** True if it opened while the text was typed. */
  readonly isTyped: boolean;
  /** True once an item is in the line. */
  readonly isPut: boolean;
  readonly loadMore?: Completion["loadMore"];
}

const MAX_CHARS = 1024;

/** Returns the menu of a line; undefined if `completer` has no items or fails. */
export async function menuFor(completer: Completer, state: LineState): Promise<Menu | undefined> {
  const { units, cursor } = state;
  const after = unitsText(units.slice(cursor, cursor + MAX_CHARS));
  return await menuOf(() => completer(textBefore(state), after.slice(0, MAX_CHARS)), state);
}

function textBefore({ units, cursor }: LineState): string {
  let from = cursor;
  for (let chars = 0; from > 0 && chars <= MAX_CHARS;) chars += unitsText([units[--from]!]).length;
  const text = unitsText(units.slice(from, cursor));
  return text.length > MAX_CHARS ? `…${text.slice(-MAX_CHARS)}` : text;
}

export async function nextMenu({ loadMore }: Menu, state: LineState): Promise<Menu | undefined> {
  return loadMore && await menuOf(loadMore, state);
}

async function menuOf(
  complete: () => ReturnType<Completer>,
  { units, cursor }: LineState,
): Promise<Menu | undefined> {
  try {
    const found = await complete();
    if (!found || found.items.length === 0) return undefined;
    const { items, replace, isTyped = false, loadMore } = found;
    let from = cursor;
    for (let left = replace; left > 0 && from > 0; from--) {
      left -= unitsText([units[from - 1]!]).length;
    }
    return {
      items: items.map((item) => typeof item === "string" ? { label: item } : item),
      chosen: isTyped ? 0 : -1,
      from,
      typed: unitsText(units.slice(from, cursor)),
      units,
      isTyped,
      isPut: false,
      loadMore,
    };
  } catch {
    return undefined;
  }
}

export const itemText = ({ text, label }: CompletionItem): string => text ?? label;

export function withCommonStart(state: LineState, { items, from, typed }: Menu): LineState {
  const common = commonStart(items.map(itemText));
  // A completer may match letters within its items.
  if (common.length < typed.length && items.length > 1) return state;
  return withUnits(state, from, state.cursor, graphemes(common));
}

function commonStart(items: readonly string[]): string {
  let common = graphemes(items[0]!);
  for (const item of items) {
    const other = graphemes(item);
    const same = common.findIndex((unit, at) => unit !== other[at]);
    if (same !== -1) common = common.slice(0, same);
  }
  return common.join("");
}

export function insertItem(state: LineState, menu: Menu, step: -1 | 0 | 1): [LineState, Menu] {
  const { items, from, isPut } = menu;
  const chosen = stepped(menu.chosen, step, items.length);
  const next = withUnits(state, from, state.cursor, graphemes(itemText(items[chosen]!)));
  // One undo removes all items that were tried.
  return [isPut ? { ...next, undo: state.undo } : next, {
    ...menu,
    chosen,
    units: next.units,
    isPut: true,
  }];
}

export function menuRows(
  { items, chosen, typed, isTyped }: Menu,
  { columns, rows }: TerminalSize,
  style: ListStyle,
): CellRow[] {
  // The sign in front is not a part of the name.
  const word = typed.replace(/^[/@"]+/, "");
  const shown = word === "" ? items : items.map(({ group: _, ...item }) => item);
  const below = detailRows(items, items[chosen], { columns, rows }, style.sgr);
  const height = listHeight(rows - below.length);
  const list = listRows(shown, chosen, { columns, rows: height }, { ...style, word });
  const keys = items[chosen]?.isOpen ? "Tab or Enter inserts" : "Tab inserts · Enter runs it";
  const counted = list.length < items.length && `${chosen + 1}/${items.length}`;
  const hint = [counted, isTyped && keys].filter(Boolean).join(" · ");
  if (hint === "" || list.length + 1 >= rows) return [...list, ...below];
  return [...list, ...below, styledRow(`${style.sgr(DIM)}  ${hint}`, columns)];
}
