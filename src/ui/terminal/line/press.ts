/** A key pressed on a line: `press(state, key)` returns the next state and an effect. Pure. @module */

import { type ActionName, DEFAULT_KEYMAP, type Keymap } from "./actions.ts";
import { type EditCommand, EDITS, inserted } from "./edit.ts";
import type { Key } from "./keys.ts";
import type { KeyKind, LineEffect, LineState } from "./state.ts";
import { leaveInsertion, ontoText, pressCommand, withInsertedKey } from "./vi.ts";

interface Pressed {
  state: LineState;
  effect: LineEffect;
}

export function press(state: LineState, key: Key, keymap: Keymap = DEFAULT_KEYMAP): Pressed {
  const { vi, prefix } = state;
  if (prefix !== "") {
    return pressNamed({ ...state, prefix: "" }, `${prefix} ${key.name ?? ""}`, keymap);
  }
  if (vi === undefined) {
    if (key.type === "key") return pressNamed(state, key.name, keymap);
    return { state: { ...inserted(state, key), did: "other" }, effect: "none" };
  }
  if (key.type === "key") {
    // Alt and a character send the same bytes as Escape and a character.
    if (key.char !== undefined && !keymap.bindings.has(key.name)) {
      const left = press(state, { type: "key", name: "escape" }, keymap).state;
      return press(left, { type: "text", text: key.char }, keymap);
    }
    if (key.name === "escape" && isEscapable(state)) {
      return { state: { ...leaveInsertion(state), did: "other" }, effect: "none" };
    }
    const pressed = pressNamed({ ...state, vi: { ...vi, typed: "" } }, key.name, keymap);
    const next = ontoText(pressed.state);
    return { ...pressed, state: pressed.effect === "none" ? withInsertedKey(next, key) : next };
  }
  if (key.type === "paste" || vi.mode === "insert") {
    const next = { ...inserted(state, key), did: "other" } as const;
    return { state: withInsertedKey(ontoText(next), key), effect: "none" };
  }
  return Array.from(key.text).reduce(
    (pressed: Pressed, char) => pressChar(pressed.state, char, keymap),
    { state, effect: "none" },
  );
}

/** Presses a character in command mode, unless the character before it started an insertion. */
function pressChar(state: LineState, char: string, keymap: Keymap): Pressed {
  const { vi } = state;
  if (vi?.mode !== "command") return press(state, { type: "text", text: char }, keymap);
  return pressCommand({ ...state, vi }, char, (line, key) => press(line, key, keymap).state);
}

export function isEscapable({ vi, prefix }: LineState): boolean {
  return prefix !== "" || vi !== undefined && (vi.mode !== "command" || vi.typed !== "");
}

function pressNamed(state: LineState, name: string, keymap: Keymap): Pressed {
  if (keymap.prefixes.has(name)) return { state: { ...state, prefix: name }, effect: "none" };
  const action = keymap.bindings.get(name);
  if (action === undefined) {
    return { state: { ...state, did: "other" }, effect: name.includes(" ") ? "bell" : "ignored" };
  }
  const edit: typeof EDITS[ActionName] = EDITS[action];
  const [command, did]: [EditCommand | LineEffect, KeyKind] = Array.isArray(edit)
    ? edit
    : [edit, "other"];
  const result = typeof command === "string" ? command : command(state);
  return typeof result === "string"
    ? { state: { ...state, did: "other" }, effect: result }
    : { state: { ...result, did }, effect: "none" };
}
