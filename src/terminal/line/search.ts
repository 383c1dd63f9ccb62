/**
 * Incremental search in the history: Ctrl-R backwards, Ctrl-S forwards.
 *
 * @module
 */

import type { Key } from "./keys.ts";
import type { Effect, LineState, Search } from "./state.ts";
import { entryUnits } from "../units.ts";
import { graphemes } from "../../text/width.ts";

/** Begins a search at what is shown. */
export function startSearch(state: LineState, direction: -1 | 1): LineState {
  const { units, cursor, entry } = state;
  return {
    ...state,
    search: { query: "", direction, failed: false, from: { units, cursor, entry } },
  };
}

/** What a key does in a search; without `effect` it ended the search and is still to be pressed. */
export function searchKey(state: LineState, key: Key): { state: LineState; effect?: Effect } {
  const search = state.search!;
  if (key.type === "text") {
    return { state: find(state, { ...search, query: search.query + key.text }, 0), effect: "none" };
  }
  switch (key.type === "key" ? key.name : "") {
    case "ctrl-r":
    case "ctrl-s": {
      const direction = key.type === "key" && key.name === "ctrl-r" ? -1 : 1;
      const query = search.query || state.lastQuery;
      const step = search.query === "" ? 0 : direction;
      return { state: find(state, { ...search, query, direction }, step), effect: "none" };
    }
    case "backspace":
    case "ctrl-h": {
      const query = graphemes(search.query).slice(0, -1).join("");
      const again = { ...state, ...search.from };
      return { state: find(again, { ...search, query }, 0), effect: "none" };
    }
    case "ctrl-g":
      return { state: { ...state, ...search.from, search: undefined }, effect: "none" };
    case "escape":
      return { state: ended(state), effect: "none" };
  }
  return { state: ended(state) };
}

/** The search is over; what it found is there, and undo leads back to what was there before. */
function ended(state: LineState): LineState {
  const { query, from } = state.search!;
  const undo = state.units === from.units ? state.undo : [...state.undo, from];
  const edited = state.entry === from.entry
    ? state.edited
    : new Map(state.edited).set(from.entry, from.units);
  return { ...state, search: undefined, lastQuery: query || state.lastQuery, undo, edited };
}

/** Looks on from the entry shown; `step` 0 looks at that one, too. */
function find(state: LineState, search: Search, step: -1 | 0 | 1): LineState {
  const { query, direction } = search;
  if (query === "") return { ...state, search: { ...search, failed: false } };
  const { history } = state;
  // Capitals are looked for as such; without any, case does not matter.
  const fold = (text: string) => query === query.toLowerCase() ? text.toLowerCase() : text;
  const shown = history[state.entry];
  for (let entry = state.entry + step; entry >= 0 && entry <= history.length; entry += direction) {
    const text = history[entry];
    if (text === undefined || step !== 0 && text === shown) continue;
    const at = fold(text).indexOf(query);
    if (at < 0) continue;
    const units = entryUnits(text);
    const cursor = graphemes(text.slice(0, at)).length;
    return {
      ...state,
      entry,
      units,
      cursor: Math.min(cursor, units.length),
      search: { ...search, failed: false },
    };
  }
  return { ...state, search: { ...search, failed: true } };
}
