/**
 * A key pressed on a line: `press(state, key)` gives the next state, and an effect beyond it. Pure.
 *
 * One table holds the command of each key. Names and behaviour are GNU readline's where it has them (its
 * manual, "Bindable Readline Commands"), with lines of a longer text in place of its one.
 *
 * @module
 */

import type { Key } from "./keys.ts";
import { type Did, type LineEffect, type LineState, withUndo } from "./state.ts";
import { graphemes } from "../../text/width.ts";
import {
  entryUnits,
  isSpace,
  joinUnits,
  lineEndAfter,
  lineStartBefore,
  pastedUnits,
  replaceUnits,
  type Unit,
  wordEnd,
  wordStart,
} from "../units.ts";

/** The next state, or an effect with the line unchanged. */
type EditCommand = (state: LineState) => LineState | LineEffect;

/** The most entries of the kill ring; the oldest are dropped. */
const MAX_KILLS = 60;

const moveTo = (position: (state: LineState) => number): EditCommand => (state) => {
  const cursor = position(state);
  return cursor === state.cursor ? state : { ...state, cursor };
};

/** Removes the text between the cursor and a position. */
const eraseTo = (position: (state: LineState) => number): EditCommand => (state) => {
  const { cursor, units } = state;
  const other = position(state);
  if (other === cursor) return "bell";
  return { ...state, ...replaceUnits(units, Math.min(cursor, other), Math.max(cursor, other), []) };
};

/** Moves the text between the cursor and a position to the kill ring; kills in a row make one. */
const killTo = (position: (state: LineState) => number): EditCommand => (state) => {
  const { cursor, units, kills } = state;
  const other = position(state);
  const erased = eraseTo(position)(state);
  if (typeof erased === "string") return erased;
  const killed = units.slice(Math.min(cursor, other), Math.max(cursor, other));
  const ring = state.did === "kill" ? kills.slice(0, -1) : kills.slice(1 - MAX_KILLS);
  const last = state.did === "kill" ? kills.at(-1) ?? [] : [];
  const whole = other < cursor ? joinUnits(killed, last) : joinUnits(last, killed);
  return { ...erased, kills: [...ring, whole], yanked: { length: 0, kill: ring.length } };
};

const toStart = ({ units, cursor }: LineState) => lineStartBefore(units, cursor);
const toEnd = ({ units, cursor }: LineState) => lineEndAfter(units, cursor);
const before = ({ cursor }: LineState) => Math.max(0, cursor - 1);
const after = ({ units, cursor }: LineState) => Math.min(units.length, cursor + 1);
const wordBefore = ({ units, cursor }: LineState) => wordStart(units, cursor);
const wordAfter = ({ units, cursor }: LineState) => wordEnd(units, cursor);
/** Kills up to the line's end; at the end, the line feed. */
const restOfText = (state: LineState) =>
  toEnd(state) === state.cursor ? after(state) : toEnd(state);
const startOfText = (state: LineState) =>
  toStart(state) === state.cursor ? before(state) : toStart(state);
const spacedWordBefore = ({ units, cursor }: LineState) => {
  while (cursor > 0 && isSpace(units[cursor - 1]!)) cursor--;
  while (cursor > 0 && !isSpace(units[cursor - 1]!)) cursor--;
  return cursor;
};

const insert = (text: string): EditCommand => (state) => ({
  ...state,
  ...replaceUnits(state.units, state.cursor, state.cursor, [text]),
});

/** Enter: at a `\` that ends the text a new line, else the end. */
const enterKey: EditCommand = (state) => {
  const { units, multiline } = state;
  if (!multiline || units.at(-1) !== "\\") return "submit";
  return { ...state, ...replaceUnits(units, units.length - 1, units.length, ["\n"]) };
};

/** A new line; where there is but one, the end, as Ctrl-J is in GNU readline. */
const newLine: EditCommand = (state) => state.multiline ? insert("\n")(state) : "submit";

const endOrDelete: EditCommand = (state) =>
  state.units.length === 0 ? "end" : eraseTo(after)(state);

const yank: EditCommand = (state) => state.kills.length === 0 ? "bell" : putKill(state, 0, 0);

/** Replaces the kill just put in by the one before it. */
const yankPop: EditCommand = (state) =>
  state.did === "yank" ? putKill(state, -1, state.yanked.length) : "bell";

function putKill(state: LineState, step: 0 | -1, instead: number): LineState {
  const { kills, units, cursor, yanked } = state;
  const kill = (yanked.kill + step + kills.length) % kills.length;
  const next = replaceUnits(units, cursor - instead, cursor, kills[kill]!);
  return { ...state, ...next, yanked: { length: next.cursor - cursor + instead, kill } };
}

/** Swaps the units around the cursor; at a line's end, the two before it. */
const transpose: EditCommand = (state) => {
  const { units, cursor } = state;
  const at = cursor === toEnd(state) ? cursor - 1 : cursor;
  if (at <= toStart(state)) return "bell";
  const swapped = joinUnits([units[at]!], [units[at - 1]!]);
  return { ...state, ...replaceUnits(units, at - 1, at + 1, swapped) };
};

/** Changes the case of the word behind the cursor, and goes to its end. */
const recase = (change: (word: string) => string): EditCommand => (state) => {
  const { units, cursor } = state;
  const to = wordEnd(units, cursor);
  if (to === cursor) return "bell";
  const changed: Unit[] = [];
  let word = "";
  const flush = () => {
    changed.push(...graphemes(change(word)));
    word = "";
  };
  for (const unit of units.slice(cursor, to)) {
    if (typeof unit === "string") word += unit;
    else flush(), changed.push(unit);
  }
  flush();
  return { ...state, ...replaceUnits(units, cursor, to, changed) };
};

/** Begins with a capital from the first letter or digit on; signs before it stay. */
const capitalize = (word: string) =>
  word.toLowerCase().replace(/[\p{L}\p{N}]/u, (first) => first.toUpperCase());

const undo: EditCommand = (state) => {
  const last = state.undo.at(-1);
  return last === undefined ? "bell" : { ...state, ...last, undo: state.undo.slice(0, -1) };
};

/** Moves a line up or down within the text; from its first or last, through the history. */
const vertical = (step: -1 | 1): EditCommand => (state) => {
  const { units, cursor } = state;
  const from = lineStartBefore(units, cursor);
  const to = lineEndAfter(units, cursor);
  if (step < 0 ? from === 0 : to === units.length) return showEntry(state, state.entry + step);
  const column = state.did === "vertical" ? state.column : cursor - from;
  const line = step < 0 ? lineStartBefore(units, from - 1) : to + 1;
  return { ...state, column, cursor: Math.min(line + column, lineEndAfter(units, line)) };
};

/** Shows an entry of the history, and keeps the edits of the one before. */
function showEntry(state: LineState, entry: number): LineState | LineEffect {
  const { history, units } = state;
  if (entry < 0 || entry > history.length) return "bell";
  if (entry === state.entry) return state;
  const edited = new Map(state.edited).set(state.entry, units);
  const next = edited.get(entry) ?? entryUnits(history[entry] ?? "");
  const column = next.length - lineStartBefore(next, next.length);
  return { ...state, edited, entry, units: next, cursor: next.length, column };
}

const does = (effect: LineEffect): EditCommand => () => effect;

/** The commands of keys, by the names of the keys, and the kind of each. */
const EDIT_COMMANDS: Readonly<Record<string, readonly [Did, EditCommand]>> = {
  "enter": ["other", enterKey],
  "alt-enter": ["type", newLine],
  "shift-enter": ["type", newLine],
  "ctrl-enter": ["type", newLine],
  "ctrl-j": ["type", newLine],
  "tab": ["other", does("complete")],
  "ctrl-c": ["other", does("cancel")],
  "ctrl-d": ["other", endOrDelete],
  "ctrl-l": ["other", does("clear")],
  "ctrl-z": ["other", does("suspend")],
  "ctrl-r": ["other", does("search-back")],
  "ctrl-s": ["other", does("search-forward")],

  "left": ["other", moveTo(before)],
  "ctrl-b": ["other", moveTo(before)],
  "right": ["other", moveTo(after)],
  "ctrl-f": ["other", moveTo(after)],
  "home": ["other", moveTo(toStart)],
  "ctrl-a": ["other", moveTo(toStart)],
  "end": ["other", moveTo(toEnd)],
  "ctrl-e": ["other", moveTo(toEnd)],
  "ctrl-home": ["other", moveTo(() => 0)],
  "ctrl-end": ["other", moveTo(({ units }) => units.length)],
  "alt-b": ["other", moveTo(wordBefore)],
  "alt-left": ["other", moveTo(wordBefore)],
  "ctrl-left": ["other", moveTo(wordBefore)],
  "alt-f": ["other", moveTo(wordAfter)],
  "alt-right": ["other", moveTo(wordAfter)],
  "ctrl-right": ["other", moveTo(wordAfter)],

  "up": ["vertical", vertical(-1)],
  "ctrl-p": ["vertical", vertical(-1)],
  "down": ["vertical", vertical(1)],
  "ctrl-n": ["vertical", vertical(1)],
  "alt-<": ["other", (state) => showEntry(state, 0)],
  "alt->": ["other", (state) => showEntry(state, state.history.length)],

  "backspace": ["erase", eraseTo(before)],
  "shift-backspace": ["erase", eraseTo(before)],
  "ctrl-h": ["erase", eraseTo(before)],
  "delete": ["erase", eraseTo(after)],
  "ctrl-k": ["kill", killTo(restOfText)],
  "ctrl-u": ["kill", killTo(startOfText)],
  "ctrl-w": ["kill", killTo(spacedWordBefore)],
  "alt-d": ["kill", killTo(wordAfter)],
  "alt-delete": ["kill", killTo(wordAfter)],
  "ctrl-delete": ["kill", killTo(wordAfter)],
  "alt-backspace": ["kill", killTo(wordBefore)],
  "ctrl-backspace": ["kill", killTo(wordBefore)],
  "ctrl-y": ["yank", yank],
  "alt-y": ["yank", yankPop],
  "ctrl-t": ["other", transpose],
  "alt-u": ["other", recase((word) => word.toUpperCase())],
  "alt-l": ["other", recase((word) => word.toLowerCase())],
  "alt-c": ["other", recase(capitalize)],
  "ctrl-_": ["other", undo],
};

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
