/** A line of input as a modal: the editor of messages, answers and the library's lines. @module */

import { brokenRow, rowsText } from "../styled.ts";
import { layoutLine, type LayoutOptions } from "./line_layout.ts";
import type { CellRow, Frame } from "../screen/frame.ts";
import type { Modal, Outcome } from "../screen/modal.ts";
import type { TerminalSize } from "../tty.ts";
import {
  type Completer,
  type Menu,
  menuFor,
  menuRows,
  nextMenu,
  type Offer,
  offeredText,
  putOffer,
  withCommonStart,
} from "./completion.ts";
import { entryUnits, keptRanges, textPartOf } from "../units.ts";
import type { Keymap } from "./actions.ts";
import { inserted } from "./edit.ts";
import type { Key } from "./keys.ts";
import { press } from "./press.ts";
import { SearchModal } from "./search.ts";
import { type KillRing, type LineState, lineText } from "./state.ts";
import { withKills, withUndo } from "./state.ts";

/** The prompt and the keys of a line. */
export interface LineModalOptions extends Pick<LayoutOptions, "prompt" | "color"> {
  /** Answers Tab, and offers what it marks so as it is typed; without one Tab rings the bell. */
  completer?: Completer | undefined;
  /** Called when rows changed without a key; without it nothing is offered as it is typed. */
  onChange?: (() => void) | undefined;
  unicode?: boolean;
  /** The SGR sequence of a list's chosen row (default: the terminal's own colour). */
  accent?: string | undefined;
  /** The kill ring that several lines share. */
  ring: { kills: KillRing };
  /** The meaning of keys (default: that of the table). */
  keymap?: Keymap | undefined;
  /** Has the text edited in a program; undefined where it stays as it is. */
  edit?: ((text: string) => Promise<string | undefined>) | undefined;
  /** The text that stands for a paste of images that were dropped; undefined for any other paste. */
  dropped?: ((paste: string) => string | undefined) | undefined;
  /** Writes the clipboard's image to a file; its path, or undefined where there is none. */
  pasteImage?: (() => Promise<string | undefined>) | undefined;
}

/** A line of input; the results of its keys are left to {@linkcode LineModal.leave}. */
export abstract class LineModal<T, Options extends LineModalOptions = LineModalOptions>
  implements Modal<T> {
  /** The search that is open on the line. */
  search: SearchModal | undefined;
  #menu: Menu | undefined;
  /** Where a menu was closed by Escape: it stays closed for the word that begins there. */
  #dismissed = -1;
  /** The first row of the text that is shown. */
  #top = 0;
  constructor(public state: LineState, protected readonly options: Options) {}

  layout(size: TerminalSize): Frame {
    const below = this.rowsBelow(size);
    const line = this.layoutAs(this.options.prompt, { ...size, rows: size.rows - below.length });
    return { rows: [...line.rows, ...below], cursor: line.cursor };
  }

  /** The rows below the line: those of its menu. */
  protected rowsBelow(size: TerminalSize): CellRow[] {
    const { color, accent, unicode = true } = this.options;
    return this.#menu
      ? menuRows(this.#menu, size, { hasStyles: color !== "", accent, unicode })
      : [];
  }

  /** The rows with another prompt. */
  layoutAs(prompt: string, { columns, rows }: TerminalSize): Frame {
    const { color } = this.options;
    const frame = layoutLine(this.state, { prompt, color, columns, maxRows: rows, top: this.#top });
    this.#top = frame.top;
    return frame;
  }

  press(key: Key): Outcome<T> {
    if (this.state.units.length <= this.#dismissed) this.#dismissed = -1;
    const chosen = this.#menu && this.#pressMenu(this.#menu, key);
    if (chosen !== undefined) return chosen;
    const isTyping = key.type === "text" && this.state.vi?.mode !== "command" ||
      /^(backspace|ctrl-h|ctrl-w)$/.test(key.name ?? "");
    // What is typed narrows it: it stays until the next one is there.
    if (!isTyping) this.#menu = undefined;
    const outcome = this.#pressLine(key);
    if (isTyping && this.options.onChange) this.#offer(this.options.onChange);
    return outcome;
  }

  /** True while a menu is open below the line. */
  get hasMenu(): boolean {
    return this.#menu !== undefined;
  }

  #pressLine(key: Key): Outcome<T> {
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
        return { push: this.search = new SearchModal(this, effect === "search-back" ? -1 : 1) };
      case "editor":
        return { later: this.#edit() };
      case "paste-image":
        return { later: this.#pasteImage() };
      case "ignored":
        return "none";
    }
    return effect;
  }

  /** Puts `text` in as if it had been typed, in any mode. */
  #putTyped(text: string): Outcome<T> {
    this.state = { ...inserted(this.state, { type: "text", text }), did: "other" };
    return "none";
  }

  async #pasteImage(): Promise<Outcome<T>> {
    const path = await this.options.pasteImage?.();
    if (path === undefined) return "bell";
    return this.#putTyped(/\s/.test(path) ? `@"${path}" ` : `@${path} `);
  }

  /** Enter, Ctrl-C, or Ctrl-D at an empty line was pressed. */
  protected abstract leave(how: "submit" | "cancel" | "end"): Outcome<T>;

  /** All rows of a line, as it goes into the scrollback of a terminal of `columns`. */
  whole(columns: number, state = this.state): Frame {
    const finished = { ...state, cursor: state.units.length };
    return layoutLine(finished, { ...this.options, columns, maxRows: Infinity });
  }

  /** The same as text, broken at spaces. */
  wholeText(columns: number, state = this.state): string {
    const { rows } = this.whole(Infinity, state);
    return rowsText(rows.flatMap((row) => brokenRow(row, columns)));
  }

  /** Takes the text back from a program; the line stays where it gives none. */
  async #edit(): Promise<Outcome<T>> {
    const before = this.state;
    const text = await this.options.edit?.(lineText(before));
    if (text === undefined) return this.options.edit ? "none" : "bell";
    if (text === lineText(before)) return "none";
    // What was pasted stays known as that, as far as it is still there.
    const units = entryUnits(text, keptRanges(textPartOf(before.units), text));
    const next = { ...before, units, cursor: units.length };
    this.state = withUndo(before, next, before.units.length);
    return "none";
  }

  async #complete(): Promise<Outcome<T>> {
    const { completer } = this.options;
    const menu = completer && await menuFor(completer, this.state);
    if (menu === undefined) return "bell";
    this.state = withCommonStart(this.state, menu);
    this.#menu = menu.items.length > 1 ? { ...menu, chosen: -1, isTyped: false } : undefined;
    return "none";
  }

  /** Opens a menu of what is offered as it is typed, once that is known; it grows while more is found. */
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

  /** The outcome of a key for the menu; undefined where it is for the line. */
  #pressMenu(menu: Menu, key: Key): Outcome<T> | undefined {
    switch (key.name) {
      case "escape":
        this.#menu = undefined;
        this.#dismissed = menu.from;
        return "none";
      case "tab":
        if (!menu.isTyped || menu.isPut) return this.#put(menu, 1);
        // The row that is marked has not been put in yet; it is what was wanted.
        [this.state] = putOffer(this.state, menu, 0);
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
    [this.state, this.#menu] = putOffer(this.state, menu, step);
    return "none";
  }

  /** Enter: the chosen row goes into the line, and the line is sent where nothing more belongs in it. */
  #enter(menu: Menu): Outcome<T> | undefined {
    const item = menu.items[menu.chosen];
    this.#menu = undefined;
    if (item === undefined || isTypedWhole(item, menu)) return undefined;
    if (!menu.isPut) [this.state] = putOffer(this.state, menu, 0);
    return item.isOpen ? "none" : this.leave("submit");
  }
}

/** True for a menu that is offered as it is typed, unless it only repeats what is typed. */
const isNews = (menu: Menu | undefined): boolean =>
  menu?.isTyped === true && !(menu.items.length === 1 && isTypedWhole(menu.items[0]!, menu));

/** True where the row is typed already, and nothing more belongs behind it. */
const isTypedWhole = (item: Offer, { typed }: Menu): boolean =>
  item.isUnfinished !== true && offeredText(item).trim() === typed;
