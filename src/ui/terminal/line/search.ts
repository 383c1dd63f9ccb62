/** Incremental search in the history of a line: Ctrl-R backwards, Ctrl-S forwards. @module */

import { entryText, entryUnits, unitsText } from "../units.ts";
import { graphemes } from "../../../text/width.ts";
import type { Key } from "./keys.ts";
import { type LineState, type Snapshot, withEntry, withUndo } from "./state.ts";

interface SearchedLine {
  state: LineState;
  search: HistorySearch | undefined;
}

/** A search in the history of a line, which shows the found entry in place of the text. */
export class HistorySearch {
  /** The line before the search, for Ctrl-G and for a query that gets shorter. */
  readonly #from: Snapshot;
  #query = "";
  #failed = false;

  /** @param direction -1 searches older entries, 1 newer ones. */
  constructor(private readonly line: SearchedLine, private direction: -1 | 1) {
    const { units, cursor, entry } = line.state;
    this.#from = { units, cursor, entry };
  }

  get prompt(): string {
    const name = `${this.direction === -1 ? "reverse-" : ""}i-search`;
    return `(${this.#failed ? "failed " : ""}${name})'${this.#query}': `;
  }

  /** Returns false for a key that ends the search and is for the line. */
  press(key: Key): boolean {
    const { state } = this.line;
    if (key.type === "text") return this.#find(state, this.#query + key.text, 0);
    const start = { ...state, ...this.#from };
    switch (key.name) {
      case "ctrl-r":
        return this.#next(-1);
      case "ctrl-s":
        return this.#next(1);
      case "backspace":
      case "ctrl-h":
        return this.#find(start, graphemes(this.#query).slice(0, -1).join(""), 0);
      case "ctrl-g":
        return this.#end(start);
      case "escape":
        return this.#end(this.#found());
    }
    this.#end(this.#found());
    return false;
  }

  /** Finds the next entry; without a query, for the query of the previous search. */
  #next(direction: -1 | 1): true {
    const { state } = this.line;
    this.direction = direction;
    return this.#query === ""
      ? this.#find(state, state.lastQuery, 0)
      : this.#find(state, this.#query, direction);
  }

  /** Searches from the entry that `state` shows; with `step` 0, this entry counts, too. */
  #find(state: LineState, query: string, step: -1 | 0 | 1): true {
    this.#query = query;
    const found = query === "" ? {} : findEntry(state, query, step, this.direction);
    this.#failed = found === undefined;
    this.line.state = { ...state, ...found };
    return true;
  }

  #found(): LineState {
    const { units, cursor, entry, ...state } = this.line.state;
    const edited = withEntry({ ...state, ...this.#from }, entry);
    const next = { ...edited, cursor, lastQuery: this.#query || state.lastQuery };
    const isSame = unitsText(units) === unitsText(edited.units);
    return isSame ? next : withUndo(edited, { ...next, units }, undefined);
  }

  #end(state: LineState): true {
    this.line.state = state;
    this.line.search = undefined;
    return true;
  }
}

function findEntry(
  { history, entry: from }: LineState,
  query: string,
  step: -1 | 0 | 1,
  direction: -1 | 1,
): Snapshot | undefined {
  // A query without capitals matches both cases.
  const fold = (text: string) => query === query.toLowerCase() ? text.toLowerCase() : text;
  for (let entry = from + step; entry >= 0 && entry <= history.length; entry += direction) {
    const one = history[entry];
    const text = one && entryText(one);
    if (!one || !text || step !== 0 && text === entryText(history[from] ?? "")) continue;
    const at = fold(text).indexOf(query);
    if (at === -1) continue;
    const units = entryUnits(one);
    const cursor = graphemes(text.slice(0, at)).length;
    return { entry, units, cursor: Math.min(cursor, units.length) };
  }
  return undefined;
}
