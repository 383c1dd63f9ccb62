/** Incremental search in the history of a line: Ctrl-R backwards, Ctrl-S forwards. @module */

import type { Frame } from "../screen/frame.ts";
import type { Modal, Outcome } from "../screen/modal.ts";
import type { TerminalSize } from "../tty.ts";
import { entryUnits, unitsText } from "../units.ts";
import { graphemes } from "../../text/width.ts";
import type { Key } from "./keys.ts";
import { type LineState, type Snapshot, withEntry, withUndo } from "./state.ts";

interface SearchedLine {
  state: LineState;
  /** The search that is open; undefined once it ends. */
  search: SearchModal | undefined;
  layoutAs(prompt: string, size: TerminalSize): Frame;
}

/** A search in the history of a line, which shows the entry found in place of its text. */
export class SearchModal implements Modal<void> {
  /** The line where the search began, for Ctrl-G and for a query that gets shorter. */
  readonly #from: Snapshot;
  #query = "";
  /** True when nothing (more) was found. */
  #failed = false;

  /** @param direction -1 towards older entries, 1 towards newer ones. */
  constructor(private readonly line: SearchedLine, private direction: -1 | 1) {
    const { units, cursor, entry } = line.state;
    this.#from = { units, cursor, entry };
  }

  layout(size: TerminalSize): Frame {
    const name = `${this.#failed ? "failed " : ""}${
      this.direction === -1 ? "reverse-" : ""
    }i-search`;
    return this.line.layoutAs(`(${name})'${this.#query}': `, size);
  }

  press(key: Key): Outcome<void> {
    const { state } = this.line;
    if (key.type === "text") return this.#find(state, this.#query + key.text, 0);
    const began = { ...state, ...this.#from };
    switch (key.name) {
      case "ctrl-r":
        return this.#next(-1);
      case "ctrl-s":
        return this.#next(1);
      case "backspace":
      case "ctrl-h":
        return this.#find(began, graphemes(this.#query).slice(0, -1).join(""), 0);
      case "ctrl-g":
        return this.#end(began);
      case "escape":
        return this.#end(this.#found());
    }
    this.#end(this.#found());
    return "pass";
  }

  /** Looks for the next entry; with no query yet, for that of the search before. */
  #next(direction: -1 | 1): Outcome<void> {
    const { state } = this.line;
    this.direction = direction;
    return this.#query === ""
      ? this.#find(state, state.lastQuery, 0)
      : this.#find(state, this.#query, direction);
  }

  /** Looks on from the entry that `state` shows; `step` 0 looks at that one, too. */
  #find(state: LineState, query: string, step: -1 | 0 | 1): Outcome<void> {
    this.#query = query;
    const found = query === "" ? {} : findEntry(state, query, step, this.direction);
    this.#failed = found === undefined;
    this.line.state = { ...state, ...found };
    return "none";
  }

  /** The line with the entry found, whose own changes undo takes back. */
  #found(): LineState {
    const { units, cursor, entry, ...state } = this.line.state;
    const began = withEntry({ ...state, ...this.#from }, entry);
    const next = { ...began, cursor, lastQuery: this.#query || state.lastQuery };
    const isAsLeft = unitsText(units) === unitsText(began.units);
    return isAsLeft ? next : withUndo(began, { ...next, units }, undefined);
  }

  #end(state: LineState): Outcome<void> {
    this.line.state = state;
    this.line.search = undefined;
    return { done: null };
  }
}

/** The entry found, from `state.entry + step` on; undefined when there is none. */
function findEntry(
  { history, pasted, entry: from }: LineState,
  query: string,
  step: -1 | 0 | 1,
  direction: -1 | 1,
): Snapshot | undefined {
  // Capitals are looked for as such; without any, case does not matter.
  const fold = (text: string) => query === query.toLowerCase() ? text.toLowerCase() : text;
  for (let entry = from + step; entry >= 0 && entry <= history.length; entry += direction) {
    const text = history[entry];
    if (text === undefined || step !== 0 && text === history[from]) continue;
    const at = fold(text).indexOf(query);
    if (at === -1) continue;
    const units = entryUnits(text, pasted.get(text));
    const cursor = graphemes(text.slice(0, at)).length;
    return { entry, units, cursor: Math.min(cursor, units.length) };
  }
  return undefined;
}
