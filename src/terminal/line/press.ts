/**
 * What a key makes of a line: `press(state, key)` gives the next state, and what the driver has to
 * do. Pure.
 *
 * @module
 */

import { COMMANDS } from "./edit_commands.ts";
import { chooseNext } from "./completion.ts";
import type { Key } from "./keys.ts";
import { type Effect, type LineState, withUndo } from "./state.ts";
import { searchKey } from "./search.ts";
import { pastedUnits, replaceUnits } from "../units.ts";
import { graphemes } from "../../text/width.ts";

/** A state and what is to be done. */
export interface Pressed {
  readonly state: LineState;
  readonly effect: Effect;
}

/** What `key` makes of `state`. */
export function press(state: LineState, key: Key): Pressed {
  if (key.type === "key" && key.name.startsWith("focus-")) return { state, effect: "ignored" };
  if (state.search !== undefined) {
    const searched = searchKey(state, key);
    if (searched.effect !== undefined) return { state: searched.state, effect: searched.effect };
    state = searched.state; // the search is over, and the key has its own meaning
  }
  if (key.type !== "key") return insertKey(state, key);
  const { name } = key;
  if (state.menu !== undefined && (name === "tab" || name === "shift-tab")) {
    return { state: chooseNext(state, name === "tab" ? 1 : -1), effect: "none" };
  }
  const [did, run] = COMMANDS[name] ?? ["other", () => "ignored" as const];
  const result = run(state);
  if (typeof result === "string") {
    return { state: { ...state, did: "other", menu: undefined }, effect: result };
  }
  const undone = name === "ctrl-_" || result.undo !== state.undo;
  const next = undone ? result : withUndo(state, result, did);
  return { state: { ...next, did, menu: undefined }, effect: "none" };
}

function insertKey(state: LineState, key: { type: "text" | "paste"; text: string }): Pressed {
  const units = key.type === "paste" ? pastedUnits(key.text) : graphemes(key.text);
  const next = { ...state, ...replaceUnits(state.units, state.cursor, state.cursor, units) };
  const did = key.type === "paste" ? "other" : "type";
  return { state: { ...withUndo(state, next, did), did, menu: undefined }, effect: "none" };
}
