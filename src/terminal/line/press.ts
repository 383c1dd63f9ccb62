/**
 * A key pressed on a line: `press(state, key)` gives the next state, and an effect beyond it. Pure.
 *
 * @module
 */

import { EDIT_COMMANDS } from "./edit_commands.ts";
import type { Key } from "./keys.ts";
import { type LineEffect, type LineState, withUndo } from "./state.ts";
import { pastedUnits, replaceUnits } from "../units.ts";
import { graphemes } from "../../text/width.ts";

interface Pressed {
  readonly state: LineState;
  readonly effect: LineEffect;
}

export function press(state: LineState, key: Key): Pressed {
  if (key.type !== "key") return { state: inserted(state, key), effect: "none" };
  const [did, run] = EDIT_COMMANDS[key.name] ?? ["other", () => "ignored" as const];
  const result = run(state);
  if (typeof result === "string") return { state: { ...state, did: "other" }, effect: result };
  const undone = key.name === "ctrl-_" || result.undo !== state.undo;
  const next = undone ? result : withUndo(state, result, did);
  return { state: { ...next, did }, effect: "none" };
}

function inserted(state: LineState, key: { type: "text" | "paste"; text: string }): LineState {
  const units = key.type === "paste" ? pastedUnits(key.text) : graphemes(key.text);
  const next = { ...state, ...replaceUnits(state.units, state.cursor, state.cursor, units) };
  const did = key.type === "paste" ? "other" : "type";
  return { ...withUndo(state, next, did), did };
}
