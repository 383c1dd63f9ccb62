import { bestFits } from "../../../text/fuzzy.ts";
import { graphemes } from "../../../text/width.ts";
import { wrappedParts } from "../../../text/wrap.ts";
import type { Key } from "../line/keys.ts";
import { cellsOf, styledRow, styledRows } from "../styled.ts";
import { BOLD, DIM } from "../style.ts";
import type { TerminalSize } from "../tty.ts";
import { barred, type CellRow, type Frame, widthOf } from "./frame.ts";
import {
  detailRows,
  isNarrowList,
  LIST_STEPS,
  listHeight,
  type ListRow,
  listRows,
  type ListStyle,
  markedRow,
  stepped,
} from "./list.ts";
import type { Modal, Outcome } from "./modal.ts";

interface ListItem<T> extends ListRow {
  value: T;
}

export interface ListOptions<T> extends Omit<ListStyle, "word"> {
  title: string;
  items: readonly ListItem<T>[];
  chosen?: number;
  hint?: string;
  /** True for a question that the user did not ask for: it has a bar at the left. */
  isBarred?: boolean;
  /** Further keys, by name: their results for the value of the selected row. */
  keys?: Readonly<Record<string, ((value: T) => T) | undefined>>;
  /** True if typed text closes the list and goes into the line, instead of narrowing the list. */
  passesText?: boolean;
}

const PAGE = 8;
const LIST_MOVES: Readonly<Record<string, number | undefined>> = {
  ...LIST_STEPS,
  pageup: -PAGE,
  pagedown: PAGE,
  home: -Infinity,
  end: Infinity,
};

/** A list that typing narrows; its result is the value of the selected row. */
export class ListModal<T> implements Modal<T> {
  #word = "";
  #items: readonly ListItem<T>[];
  #chosen: number;

  constructor(private readonly options: ListOptions<T>) {
    this.#items = options.items;
    this.#chosen = Math.min(options.chosen ?? 0, options.items.length - 1);
  }

  layout(size: TerminalSize): Frame {
    const inner = (size: TerminalSize) => this.#inner(size);
    return this.options.isBarred ? barred(inner, size, this.options.sgr) : inner(size);
  }

  #inner({ columns, rows }: TerminalSize): Frame {
    const { title, sgr, items: all, hint, passesText } = this.options;
    const dim = sgr(DIM);
    const head: CellRow[] = title.split("\n").flatMap((line, at) =>
      styledRows(`${at === 0 ? sgr(BOLD) : ""}${line}`, columns)
    );
    const isLong = all.length > listHeight(rows) - 3;
    if (isLong && this.#items.length > 0) {
      const count = cellsOf(`${this.#chosen + 1}/${this.#items.length}`, dim);
      const last = head.pop()!;
      const gap = columns - widthOf(last) - count.length;
      head.push(gap > 1 ? [...last, ...cellsOf(" ".repeat(gap), ""), ...count] : last);
    }
    const typed = this.#word === "" ? [] : cellsOf(`  ${this.#word}`, "");
    if (this.#word !== "") head.push(typed);
    const chosen = this.#items[this.#chosen];
    const below = detailRows(all, chosen, { columns, rows }, sgr);
    const filter = all.length < 2 || this.#isKeyed || passesText ? "" : " · type to filter";
    // The row in place of the items says what the keys do.
    const hints = rows > 8 && hint !== undefined && this.#items.length > 0
      ? wrappedParts(`${hint}${filter}`, columns - 2).split("\n")
      : [];
    const foot = [...below, ...hints.map((line) => styledRow(`${dim}  ${line}`, columns))];
    const room = Math.max(1, Math.min(listHeight(rows), rows - 1 - foot.length));
    const style = { ...this.options, word: this.#word, isNumbered: this.#isNumbered };
    const items = below.length > 0 && isNarrowList(all, columns)
      ? this.#items.map(({ detail: _, ...item }) => item)
      : this.#items;
    const list = items.length === 0
      ? [styledRow(`${dim}  no match · Esc clears`, columns)]
      : listRows(items, this.#chosen, { columns, rows: room }, style);
    const above = head.slice(-Math.max(0, rows - list.length - foot.length));
    const cursor = this.#word === ""
      ? { row: above.length + markedRow(list), column: 0 }
      : { row: above.length - 1, column: Math.min(widthOf(typed), columns - 1) };
    return { rows: [...above, ...list, ...foot], cursor };
  }

  unselect(): void {
    this.#chosen = -1;
  }

  press(key: Key): Outcome<T> {
    if (key.type !== "key") return this.#type(key.text);
    const own = this.options.keys?.[key.name];
    if (own !== undefined) {
      const item = this.#items[this.#chosen];
      return item === undefined ? "bell" : { done: own(item.value) };
    }
    const step = LIST_MOVES[key.name];
    if (step !== undefined) return this.#move(step);
    switch (key.name) {
      case "enter":
        // A word does not select a row of a list with letters.
        return this.#isKeyed && this.#word !== "" ? "bell" : this.#pick(this.#chosen);
      case "backspace":
      case "ctrl-h":
        return this.#narrow(graphemes(this.#word).slice(0, -1).join(""));
      case "ctrl-u":
        return this.#narrow("");
      case "escape":
      case "ctrl-g":
        if (this.#word !== "") return this.#narrow("");
        return { done: null };
      case "ctrl-c":
      case "ctrl-d":
        return { done: null };
      case "ctrl-z":
        return "suspend";
      case "ctrl-l":
        return "clear";
    }
    return "none";
  }

  get #isNumbered(): boolean {
    return this.options.isNumbered === true && this.#word === "";
  }

  /** True if every row has a letter: other typed text hides no rows. */
  get #isKeyed(): boolean {
    return this.options.items.every(({ key }) => key !== undefined);
  }

  #type(text: string): Outcome<T> {
    if (this.#isNumbered && /^[1-9]$/.test(text)) return this.#pick(Number(text) - 1);
    if (this.options.passesText) return "pass";
    const keyed = this.#word === "" ? this.#items.findIndex(({ key }) => key === text) : -1;
    if (keyed !== -1) return this.#pick(keyed);
    return this.#narrow(this.#word + text.replace(/\s+/g, " ").trimStart());
  }

  #narrow(word: string): Outcome<T> {
    const { items } = this.options;
    this.#word = word;
    const text = ({ label, detail = "" }: ListItem<T>) => `${label} ${detail}`;
    this.#items = word === "" || this.#isKeyed ? items : bestFits(word, items, text);
    this.#chosen = Math.min(0, this.#items.length - 1);
    return "none";
  }

  #move(step: number): Outcome<T> {
    if (this.#isKeyed) this.#word = "";
    this.#chosen = stepped(this.#chosen, step, this.#items.length, false);
    return "none";
  }

  #pick(index: number): Outcome<T> {
    const item = this.#items[index];
    return item === undefined ? "bell" : { done: item.value };
  }
}
