/** A line of input as a modal: the base of messages, answers and the library's lines. @module */

import { brokenRow, rowsText, styledRow } from "../styled.ts";
import { layoutLine, type LayoutOptions } from "./line_layout.ts";
import type { CellRow, Frame } from "../screen/frame.ts";
import type { Modal, Outcome } from "../screen/modal.ts";
import { DIM } from "../style.ts";
import type { TerminalSize } from "../tty.ts";
import {
  type Completer,
  type CompletionItem,
  insertItem,
  itemText,
  type Menu,
  menuFor,
  menuRows,
  nextMenu,
  withCommonStart,
} from "./completion.ts";
import { entryUnits, isFolded } from "../units.ts";
import { DEFAULT_KEYMAP, type Keymap, screenKey } from "./actions.ts";
import { inserted } from "./edit.ts";
import type { Key } from "./keys.ts";
import { press } from "./press.ts";
import { HistorySearch } from "./search.ts";
import { type KillRing, type LineState, lineText, withKills, withUndo } from "./state.ts";

export interface LineModalOptions extends Pick<LayoutOptions, "prompt" | "color" | "sgr"> {
  /** Completes text on Tab; without one, Tab rings the bell. */
  completer?: Completer | undefined;
  /** Called when rows change without a key; without it, no menu opens while text is typed. */
  onChange?: (() => void) | undefined;
  ring: { kills: KillRing };
  keymap?: Keymap | undefined;
  /** Edits the text in a program; resolves with undefined if it stays as it is. */
  edit?: ((text: string) => Promise<string | undefined>) | undefined;
  /** The text for a paste of dropped images; undefined for any other paste. */
  dropped?: ((paste: string) => string | undefined) | undefined;
  /** Saves the clipboard's image and resolves with its path, or undefined without an image. */
  pasteImage?: (() => Promise<string | undefined>) | undefined;
}

export abstract class LineModal<T, Options extends LineModalOptions = LineModalOptions>
  implements Modal<T> {
  search: HistorySearch | undefined;
  #menu: Menu | undefined;
  /** The start of the word whose menu was closed by Escape, or -1. */
  #dismissed = -1;
  #top = 0;
  constructor(public state: LineState, protected readonly options: Options) {}

  layout(size: TerminalSize): Frame {
    return this.search ? this.#layoutAs(this.search.prompt, size) : this.layoutLine(size);
  }

  protected layoutLine(size: TerminalSize): Frame {
    const below = this.rowsBelow(size);
    const line = this.#layoutAs(this.options.prompt, { ...size, rows: size.rows - below.length });
    return { rows: [...line.rows, ...below], cursor: line.cursor };
  }

  protected rowsBelow(size: TerminalSize): CellRow[] {
    const { sgr, keymap, edit } = this.options;
    if (this.#menu) return menuRows(this.#menu, size, { sgr });
    const key = edit && screenKey(keymap ?? DEFAULT_KEYMAP, "editor");
    if (!key || size.rows < 2 || !this.state.units.some(isFolded)) return [];
    return [styledRow(`${sgr(DIM)}  ${key} opens the paste in $EDITOR`, size.columns)];
  }

  #layoutAs(prompt: string, { columns, rows }: TerminalSize): Frame {
    const options = { ...this.options, prompt, columns, maxRows: rows, top: this.#top };
    const frame = layoutLine(this.state, options);
    this.#top = frame.top;
    return frame;
  }

  press(key: Key): Outcome<T> {
    return this.search?.press(key) ? "none" : this.pressLine(key);
  }

  protected pressLine(key: Key): Outcome<T> {
    if (this.state.units.length <= this.#dismissed) this.#dismissed = -1;
    const chosen = this.#menu && this.#pressMenu(this.#menu, key);
    if (chosen !== undefined) return chosen;
    const isTyping = key.type === "text" && this.state.vi?.mode !== "command" ||
      /^(backspace|ctrl-h|ctrl-w)$/.test(key.name ?? "");
    // Typing narrows the menu: it stays open until the next one is ready.
    if (!isTyping) this.#menu = undefined;
    const outcome = this.#edited(key);
    if (isTyping && this.options.onChange) this.#offer(this.options.onChange);
    return outcome;
  }

  get hasMenu(): boolean {
    return this.#menu !== undefined;
  }

  #edited(key: Key): Outcome<T> {
    const dropped = key.type === "paste" ? this.options.dropped?.(key.text) : undefined;
    if (dropped !== undefined) return this.#putTyped(dropped);
    const { ring, keymap } = this.options;
    const { state, effect } = press(withKills(this.state, ring.kills), key, keymap);
    this.state = state;
    ring.kills = state.kills;
    switch (effect) {
      case "submit":
      case "cancel":
      case "end":
        return this.leave(effect);
      case "complete":
        return { later: this.#complete() };
      case "search-back":
      case "search-forward":
        this.search = new HistorySearch(this, effect === "search-back" ? -1 : 1);
        return "none";
      case "editor":
        return { later: this.#edit() };
      case "paste-image":
        return { later: this.#pasteImage() };
      case "ignored":
        return "none";
    }
    return effect;
  }

  #putTyped(text: string): Outcome<T> {
    this.state = { ...inserted(this.state, { type: "text", text }), did: "other" };
    return "none";
  }

  async #pasteImage(): Promise<Outcome<T>> {
    const path = await this.options.pasteImage?.();
    if (path === undefined) return "bell";
    return this.#putTyped(/\s/.test(path) ? `@"${path}" ` : `@${path} `);
  }

  protected abstract leave(how: "submit" | "cancel" | "end"): Outcome<T>;

  whole(columns: number, state = this.state): Frame {
    const finished = { ...state, cursor: state.units.length };
    return layoutLine(finished, { ...this.options, columns, maxRows: Infinity });
  }

  wholeText(columns: number, state = this.state): string {
    const { rows } = this.whole(Infinity, state);
    return rowsText(rows.flatMap((row) => brokenRow(row, columns)));
  }

  async #edit(): Promise<Outcome<T>> {
    const before = this.state;
    const text = await this.options.edit?.(lineText(before));
    if (text === undefined) return this.options.edit ? "none" : "bell";
    if (text === lineText(before)) return "none";
    // If a part was pasted, all but the start of the edited text is inert.
    const isPasted = before.units.some((unit) => typeof unit !== "string");
    const from = typeof before.units[0] === "string" ? 1 : 0;
    const units = entryUnits({ text, pasted: isPasted ? [[from, text.length]] : [] });
    const next = { ...before, units, cursor: units.length };
    this.state = withUndo(before, next, before.units.length);
    return "none";
  }

  async #complete(): Promise<Outcome<T>> {
    const { completer } = this.options;
    const menu = completer && await menuFor(completer, this.state);
    if (menu === undefined) return "bell";
    this.state = withCommonStart(this.state, menu);
    const { units } = this.state;
    this.#menu = menu.items.length > 1 ? { ...menu, chosen: -1, units, isTyped: false } : undefined;
    return "none";
  }

  /** Opens the menu of the text that is being typed; it grows while more items are found. */
  async #offer(onChange: () => void): Promise<void> {
    const { completer } = this.options;
    const { units } = this.state;
    let menu = completer && await menuFor(completer, this.state);
    if (this.state.units !== units) return;
    const before = this.#menu;
    if (menu?.from !== this.#dismissed) this.#dismissed = -1;
    const isOpen = this.#dismissed === -1;
    this.#menu = isOpen && isNews(menu) ? menu : undefined;
    if (this.#menu !== before) onChange();
    while (isOpen && menu) {
      const shown = this.#menu;
      menu = await nextMenu(menu, this.state);
      if (menu === undefined || this.state.units !== units || this.#menu !== shown) return;
      this.#menu = isNews(menu) ? menu : undefined;
      onChange();
    }
  }

  /** The outcome of a key for the menu; undefined if the key is for the line. */
  #pressMenu(menu: Menu, key: Key): Outcome<T> | undefined {
    if (menu.units !== this.state.units && key.name !== "escape") return undefined;
    switch (key.name) {
      case "escape":
        this.#menu = undefined;
        this.#dismissed = menu.from;
        return "none";
      case "tab":
        if (!menu.isTyped || menu.isPut) return this.#put(menu, 1);
        // The selected row was not inserted yet.
        [this.state] = insertItem(this.state, menu, 0);
        this.#menu = undefined;
        return "none";
      case "down":
      case "ctrl-n":
        return this.#put(menu, 1);
      case "shift-tab":
      case "up":
      case "ctrl-p":
        return this.#put(menu, -1);
      case "enter":
        return menu.isTyped ? this.#enter(menu) : undefined;
    }
  }

  #put(menu: Menu, step: -1 | 0 | 1): Outcome<T> {
    [this.state, this.#menu] = insertItem(this.state, menu, step);
    return "none";
  }

  /** Enter: inserts the selected row, and submits the line if it is complete. */
  #enter(menu: Menu): Outcome<T> | undefined {
    const item = menu.items[menu.chosen];
    this.#menu = undefined;
    if (item === undefined || isTypedWhole(item, menu)) return undefined;
    if (!menu.isPut) [this.state] = insertItem(this.state, menu, 0);
    return item.isOpen ? "none" : this.leave("submit");
  }
}

/** A line whose result is its text. */
export class TextLine extends LineModal<string> {
  protected override leave(how: "submit" | "cancel" | "end"): Outcome<string> {
    return { done: how === "submit" ? lineText(this.state) : null };
  }
}

/** True for a menu that opens while text is typed, and that offers more than that text. */
const isNews = (menu: Menu | undefined): boolean =>
  menu?.isTyped === true && !(menu.items.length === 1 && isTypedWhole(menu.items[0]!, menu));

/** True if all of the row is typed already and the line can be submitted. */
const isTypedWhole = (item: CompletionItem, { typed }: Menu): boolean =>
  item.isUnfinished !== true && itemText(item).trim() === typed;
