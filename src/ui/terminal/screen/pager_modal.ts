/** A long text on the whole screen, which a user scrolls and searches. @module */

import { graphemes } from "../../../text/width.ts";
import type { Key } from "../line/keys.ts";
import { BOLD, DIM, REVERSE, type Sgr } from "../style.ts";
import { cellsOf, styledRow } from "../styled.ts";
import type { TerminalSize } from "../tty.ts";
import { type Cell, type CellRow, type Frame, widthOf } from "./frame.ts";
import type { Modal, Outcome } from "./modal.ts";
import { type PagerBlock, type PagerPlace, PagerText } from "./pager_text.ts";

interface PagerOptions {
  title: string;
  sgr: Sgr;
  blocks: () => readonly PagerBlock[];
}

const MAX_QUERY = 200;
/** In fewer columns, the last row does not name all keys. */
const MIN_ALL_KEYS = 64;

const STEPS: readonly (readonly [keys: string, step: (page: number) => number])[] = [
  ["up k ctrl-p", () => -1],
  ["down j ctrl-n enter", () => 1],
  ["pageup b ctrl-b", (page) => -page],
  ["pagedown space f ctrl-f", (page) => page],
  ["u ctrl-u", (page) => -Math.ceil(page / 2)],
  ["d ctrl-d", (page) => Math.ceil(page / 2)],
  ["home g", () => -Infinity],
  ["end G", () => Infinity],
];
const CLOSING: readonly string[] = ["q", "escape", "ctrl-o", "ctrl-c", "ctrl-g"];

/** Opens at the first block that has to be seen, or at the end, where it stays while the text grows. */
export class PagerModal implements Modal<void> {
  readonly isFullScreen = true;
  readonly #text: PagerText;
  #typed: string | undefined;
  #query = "";
  #match: PagerPlace | undefined;
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
      : { row: found, column: widthOf(shown[found]!.row.slice(0, this.#match!.cell)) };
    return { rows: [...drawn, status].slice(-rows), cursor };
  }

  press(key: Key): Outcome<void> {
    if (key.type === "key") return this.#pressKey(key.name);
    if (this.#typed !== undefined) return this.#type(this.#typed + key.text);
    if (key.type === "paste") return "none";
    const [first = "", ...rest] = graphemes(key.text);
    const outcome = this.#pressKey(first === " " ? "space" : first);
    if (rest.length === 0 || outcome !== "none") return outcome;
    return this.press({ type: "text", text: rest.join("") });
  }

  #pressKey(name: string): Outcome<void> {
    if (name === "ctrl-z") return "suspend";
    if (name === "ctrl-l") return "clear";
    if (this.#typed !== undefined) return this.#editSearch(this.#typed, name);
    if (CLOSING.includes(name)) return { done: null };
    if (name === "/") return this.#type("");
    if (name === "n") return this.#findNext(1);
    if (name === "N") return this.#findNext(-1);
    const step = STEPS.find(([keys]) => keys.split(" ").includes(name))?.[1];
    if (step !== undefined) this.#text.go(step(Math.max(1, this.#page - 1)));
    return "none";
  }

  #type(text: string): Outcome<void> {
    this.#typed = text.replace(/\s+/g, " ").slice(0, MAX_QUERY).toWellFormed();
    return "none";
  }

  #editSearch(typed: string, name: string): Outcome<void> {
    if (name === "ctrl-u") return this.#type("");
    if (/^(backspace|ctrl-h)$/.test(name) && typed !== "") {
      return this.#type(graphemes(typed).slice(0, -1).join(""));
    }
    if (!/^(backspace|ctrl-[hcgo]|escape|enter)$/.test(name)) return "none";
    this.#typed = undefined;
    if (name !== "enter") return "none";
    if (typed.trim() !== "") this.#query = typed;
    this.#match = undefined;
    return this.#query === "" ? "none" : this.#show(this.#text.nearest(this.#query));
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
    if (this.#query === "") return row;
    const marked: Cell[] = [...row];
    for (const { from, to, isFirst } of this.#text.matchesOf(this.#query, at)) {
      const isNow = isFirst && isSameRow(at, this.#match) && from === this.#match?.cell;
      const style = this.options.sgr(isNow ? REVERSE | BOLD : REVERSE);
      for (let cell = from; cell < to; cell++) marked[cell] = { ...row[cell]!, style };
    }
    return marked;
  }

  #status(columns: number): CellRow {
    const { title, sgr } = this.options;
    if (this.#typed !== undefined) {
      const typed = cellsOf(`/${this.#typed}`, "");
      return typed.slice(-Math.max(1, columns - 1));
    }
    const isWide = columns >= MIN_ALL_KEYS;
    const search = this.#query === ""
      ? "/ searches"
      : this.#match === undefined
      ? `no match: ${this.#query}`
      : `n next, N previous${isWide ? `: ${this.#query}` : ""}`;
    const parts = [...isWide ? [title] : [], this.#text.where(), search, "q closes"];
    return styledRow(`${sgr(DIM)}${parts.join(" · ")}`, columns);
  }
}

const isSameRow = (a: PagerPlace, b: PagerPlace | undefined) =>
  a.block === b?.block && a.row === b.row;
