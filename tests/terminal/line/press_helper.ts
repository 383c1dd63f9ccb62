/**
 * Runs keys, given as a terminal sends them, on a line.
 *
 * @module
 */

import { type Key, keyDecoder } from "../../../src/terminal/line/keys.ts";
import {
  type Effect,
  type LineState,
  lineState,
  lineText,
} from "../../../src/terminal/line/state.ts";
import { press } from "../../../src/terminal/line/press.ts";
import { textOf } from "../../../src/terminal/units.ts";

/** Presses `keys` one after the other, as a person does; what the driver would have been told, but for `"none"`. */
export function pressAll(
  keys: string,
  state: LineState = lineState(),
): { state: LineState; effects: Effect[] } {
  const decoder = keyDecoder();
  const decoded = [...decoder.push(new TextEncoder().encode(keys)), ...decoder.flush()];
  const all = decoded.flatMap((key): Key[] =>
    key.type === "text" ? Array.from(key.text, (text) => ({ type: "text", text })) : [key]
  );
  const effects: Effect[] = [];
  for (const key of all) {
    const pressed = press(state, key);
    state = pressed.state;
    if (pressed.effect !== "none") effects.push(pressed.effect);
  }
  return { state, effects };
}

/** The text with `|` where the cursor is. */
export function shown(state: LineState): string {
  const before = textOf(state.units.slice(0, state.cursor));
  return `${before}|${lineText(state).slice(before.length)}`;
}
