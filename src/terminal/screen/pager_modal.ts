/** A long text on the whole screen: scrolled and searched, laid out where it is looked at. @module */

import { graphemes } from "../../text/width.ts";
import type { Key } from "../line/keys.ts";
import { BOLD, DIM, ownStyle, REVERSE } from "../style.ts";
import { cellsOf, styledRow } from "../styled.ts";
import type { TerminalSize } from "../tty.ts";
import type { Cell, CellRow, Frame } from "./frame.ts";
import type { Modal, Outcome } from "./modal.ts";
import { type PagerBlock, type PagerPlace, PagerText } from "./pager_text.ts";

interface PagerOptions {
  title: string;
  hasStyles: boolean;
  unicode: boolean;
  /** The text as it is now: it may grow at its end while it is shown. */
  blocks: () => readonly PagerBlock[];
}

/** The longest text that is looked for, in characters. */
const MAX_QUERY = 200;
/** The width from which on the last row names all keys. */
const MIN_ALL_KEYS = 64;

/** Rows to go by, of a screen that shows `page` of them. */
const STEPS: Readonly<Record<string, (page: number) => number>> = {
  "up": () => -1,
  "k": () => -1,
  "ctrl-p": () => -1,
  "down": () => 1,
  "j": () => 1,
  "ctrl-n": () => 1,
  "enter": () => 1,
  "pageup": (page) => -page,
  "b": (page) => -page,
  "ctrl-b": (page) => -page,
  "pagedown": (page) => page,
  " ": (page) => page,
  "f": (page) => page,
  "ctrl-f": (page) => page,
  "u": (page) => -Math.ceil(page / 2),
  "ctrl-u": (page) => -Math.ceil(page / 2),
  "d": (page) => Math.ceil(page / 2),
  "ctrl-d": (page) => Math.ceil(page / 2),
  "home": () => -Infinity,
  "g": () => -Infinity,
  "end": () => Infinity,
  "G": () => Infinity,
};
const LEAVING: readonly string[] = ["q", "escape", "ctrl-o", "ctrl-c", "ctrl-g"];

/**
 * A pager; it begins at a block that is to be seen, else at the end of its text, and stays there while that
 * grows.
 */
export class PagerModal implements Modal<void> {
  readonly isFullScreen = true;
  readonly #text: PagerText;
  /** The text that is being typed behind `/`. */
  #typed: string | undefined;
  #query = "";
  /** The match that was gone to; undefined where there is none. */
  #match: PagerPlace | undefined;
  /** The rows of text that the screen had when it was laid out last. */
  #page = 1;

  constructor(private readonly options: PagerOptions) {
    this.#text = new PagerText(options.blocks);
  }

  layout({ columns, rows }: TerminalSize): Frame {
    this.#page = Math.max(1, rows - 1);
    const shown = this.#text.page(columns, this.#page);
    const drawn: CellRow[] = shown.map(({ row, at }) => this.#highlighted(row, at));
    while (drawn.length < this.#page) drawn.push([]);
    const status = this.#status(columns);
    const typing = { row: rows - 1, column: Math.min(status.length, columns - 1) };
    const found = shown.findIndex(({ at }) => isSameRow(at, this.#match));
    const cursor = this.#typed !== undefined || found === -1
      ? typing
      : { row: found, column: columnOf(shown[found]!.row, this.#match!.cell) };
    return { rows: [...drawn, status].slice(-rows), cursor };
  }

  press(key: Key): Outcome<void> {
    if (key.type === "key") return this.#pressKey(key.name);
    if (this.#typed !== undefined) return this.#type(this.#typed + key.text);
    if (key.type === "paste") return "none";
    const [first = "", ...rest] = graphemes(key.text);
    const outcome = this.#pressKey(first);
    if (rest.length === 0 || outcome !== "none") return outcome;
    return this.press({ type: "text", text: rest.join("") });
  }

  #pressKey(name: string): Outcome<void> {
    if (name === "ctrl-z") return "suspend";
    if (name === "ctrl-l") return "clear";
    if (this.#typed !== undefined) return this.#editSearch(this.#typed, name);
    if (LEAVING.includes(name)) return { done: null };
    if (name === "/") return this.#type("");
    if (name === "n") return this.#findNext(1);
    if (name === "N") return this.#findNext(-1);
    const step = STEPS[name];
    if (step !== undefined) this.#text.go(step(Math.max(1, this.#page - 1)));
    return "none";
  }

  #type(text: string): Outcome<void> {
    this.#typed = text.replace(/\s+/g, " ").slice(0, MAX_QUERY).toWellFormed();
    return "none";
  }

  #editSearch(typed: string, name: string): Outcome<void> {
    switch (name) {
      case "backspace":
      case "ctrl-h":
        if (typed === "") return this.#endTyping();
        return this.#type(graphemes(typed).slice(0, -1).join(""));
      case "ctrl-u":
        return this.#type("");
      case "escape":
      case "ctrl-c":
      case "ctrl-g":
      case "ctrl-o":
        return this.#endTyping();
      case "enter":
        this.#endTyping();
        if (typed.trim() !== "") this.#query = typed;
        this.#match = undefined;
        return this.#query === "" ? "none" : this.#show(this.#text.nearest(this.#query));
    }
    return "none";
  }

  #endTyping(): Outcome<void> {
    this.#typed = undefined;
    return "none";
  }

  #findNext(direction: 1 | -1): Outcome<void> {
    if (this.#query === "") return this.#type("");
    return this.#show(this.#text.next(this.#query, direction, this.#match));
  }

  #show(match: PagerPlace | undefined): Outcome<void> {
    this.#match = match;
    if (match === undefined) return "bell";
    this.#text.show(match);
    return "none";
  }

  #highlighted(row: CellRow, at: PagerPlace): CellRow {
    if (this.#query === "" || !this.options.hasStyles) return row;
    const ranges = this.#text.matchesOf(this.#query, at);
    if (ranges.length === 0) return row;
    const marked: Cell[] = [...row];
    for (const { from, to, isFirst } of ranges) {
      const isNow = isFirst && isSameRow(at, this.#match) && from === this.#match?.cell;
      const style = ownStyle(isNow ? REVERSE | BOLD : REVERSE);
      for (let cell = from; cell < to; cell++) marked[cell] = { ...row[cell]!, style };
    }
    return marked;
  }

  /** The last row. */
  #status(columns: number): CellRow {
    const { title, hasStyles, unicode } = this.options;
    if (this.#typed !== undefined) {
      const typed = cellsOf(`/${this.#typed}`, "");
      return typed.slice(-Math.max(1, columns - 1));
    }
    const isWide = columns >= MIN_ALL_KEYS;
    const searched = this.#query === ""
      ? ["/ searches"]
      : this.#match === undefined
      ? [`no match: ${this.#query}`]
      : isWide
      ? [`n next, N before: ${this.#query}`]
      : ["n next, N before"];
    const parts = [...isWide ? [title] : [], this.#text.where(), ...searched, "q leaves"];
    const text = parts.join(unicode ? " · " : " - ");
    return styledRow(`${hasStyles ? ownStyle(DIM) : ""}${text}`, columns);
  }
}

const isSameRow = (a: PagerPlace, b: PagerPlace | undefined) =>
  a.block === b?.block && a.row === b.row;

const columnOf = (row: CellRow, cell: number) =>
  row.slice(0, cell).reduce((sum, { width }) => sum + width, 0);
