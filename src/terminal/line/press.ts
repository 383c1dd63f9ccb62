/**
 * A key pressed on a line: `press(state, key)` gives the next state, and an effect beyond it. Pure.
 * Names and behaviour are GNU readline's where it has them (its manual, "Bindable Readline
 * Commands"), with lines of a longer text in place of its one. @module
 */

import type { Key } from "./keys.ts";
import { type Did, type LineEffect, type LineState, withUndo, withUnits } from "./state.ts";
import { graphemes } from "../../text/width.ts";
import { entryUnits, joinUnits, lineEndAfter, lineStartBefore, pastedUnits } from "../units.ts";
import { spacedWordStart, type Unit, wordEnd, wordStart } from "../units.ts";

/** The next state, or an effect with the line unchanged. */
type EditCommand = (state: LineState) => LineState | LineEffect;
/** A position in the line, as an index of its units. */
type Position = (state: LineState) => number;
/** The most entries of the kill ring; the oldest are dropped. */
const MAX_KILLS = 60;

const moveTo = (to: Position) => (state: LineState) => ({ ...state, cursor: to(state) });

/** Removes the text between the cursor and a position. */
const eraseTo = (position: Position): EditCommand => (state) => {
  const { cursor } = state;
  const other = position(state);
  if (other === cursor) return "bell";
  return withUnits(state, Math.min(cursor, other), Math.max(cursor, other), []);
};

/** Moves the text between the cursor and a position to the kill ring; kills in a row make one. */
const killTo = (position: Position): EditCommand => (state) => {
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

const toStart: Position = ({ units, cursor }) => lineStartBefore(units, cursor);
const toEnd: Position = ({ units, cursor }) => lineEndAfter(units, cursor);
const before: Position = ({ cursor }) => Math.max(0, cursor - 1);
const after: Position = ({ units, cursor }) => Math.min(units.length, cursor + 1);
/** Kills up to the line's end; at the end, the line feed. */
const restOfText: Position = (state) => toEnd(state) === state.cursor ? after(state) : toEnd(state);
const startOfText: Position = (state) =>
  toStart(state) === state.cursor ? before(state) : toStart(state);

/** Enter: at a `\` that ends the text a new line, else the end. */
const enterKey: EditCommand = (state) => {
  const { units, multiline } = state;
  if (!multiline || units.at(-1) !== "\\") return "submit";
  return withUnits(state, units.length - 1, units.length, ["\n"]);
};

/** A new line; where there is but one, the end, as Ctrl-J is in GNU readline. */
const newLine: EditCommand = (state) =>
  state.multiline ? withUnits(state, state.cursor, state.cursor, ["\n"]) : "submit";

const yank: EditCommand = (state) => state.kills.length === 0 ? "bell" : putKill(state, 0, 0);
/** Replaces the kill just put in by the one before it. */
const yankPop: EditCommand = (state) =>
  state.did === "yank" ? putKill(state, -1, state.yanked.length) : "bell";

function putKill(state: LineState, step: 0 | -1, instead: number): LineState {
  const { kills, cursor, yanked } = state;
  const kill = (yanked.kill + step + kills.length) % kills.length;
  const next = withUnits(state, cursor - instead, cursor, kills[kill]!);
  return { ...next, yanked: { length: next.cursor - cursor + instead, kill } };
}

/** Swaps the units around the cursor; at a line's end, the two before it. */
const transpose: EditCommand = (state) => {
  const { units, cursor } = state;
  const at = cursor === toEnd(state) ? cursor - 1 : cursor;
  if (at <= toStart(state)) return "bell";
  return withUnits(state, at - 1, at + 1, joinUnits([units[at]!], [units[at - 1]!]));
};

/** Changes the case of the word behind the cursor, and goes to its end. */
const recase = (change: (word: string) => string): EditCommand => (state) => {
  const { units, cursor } = state;
  const to = wordEnd(state);
  if (to === cursor) return "bell";
  const changed: Unit[] = [];
  let word = "";
  for (const unit of units.slice(cursor, to)) {
    if (typeof unit === "string") word += unit;
    else {
      changed.push(...graphemes(change(word)), unit);
      word = "";
    }
  }
  return withUnits(state, cursor, to, [...changed, ...graphemes(change(word))]);
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
  const [from, to] = [toStart(state), toEnd(state)];
  if (step < 0 ? from === 0 : to === units.length) return showEntry(state, state.entry + step);
  const column = state.did === "vertical" ? state.column : cursor - from;
  const line = step < 0 ? lineStartBefore(units, from - 1) : to + 1;
  return { ...state, column, cursor: Math.min(line + column, lineEndAfter(units, line)) };
};

/** Shows an entry of the history, and keeps the edits of the one before. */
function showEntry(state: LineState, entry: number): LineState | LineEffect {
  const { history, pasted, units } = state;
  if (entry < 0 || entry > history.length) return "bell";
  if (entry === state.entry) return state;
  const edited = new Map(state.edited).set(state.entry, units);
  const text = history[entry] ?? "";
  const next = edited.get(entry) ?? entryUnits(text, pasted.get(text));
  const column = next.length - lineStartBefore(next, next.length);
  return { ...state, edited, entry, units: next, cursor: next.length, column };
}

/** The names of keys, separated by spaces, their command or effect, and its kind. */
const KEY_ROWS: readonly [keys: string, command: EditCommand | LineEffect, did?: Did][] = [
  ["enter", enterKey],
  ["alt-enter shift-enter ctrl-enter ctrl-j", newLine, "type"],
  ["tab", "complete"],
  ["ctrl-c", "cancel"],
  ["ctrl-d", (state) => state.units.length === 0 ? "end" : eraseTo(after)(state)],
  ["ctrl-l", "clear"],
  ["ctrl-z", "suspend"],
  ["ctrl-r", "search-back"],
  ["ctrl-s", "search-forward"],
  ["left ctrl-b", moveTo(before)],
  ["right ctrl-f", moveTo(after)],
  ["home ctrl-a", moveTo(toStart)],
  ["end ctrl-e", moveTo(toEnd)],
  ["ctrl-home", moveTo(() => 0)],
  ["ctrl-end", moveTo(({ units }) => units.length)],
  ["alt-b alt-left ctrl-left", moveTo(wordStart)],
  ["alt-f alt-right ctrl-right", moveTo(wordEnd)],
  ["up ctrl-p", vertical(-1), "vertical"],
  ["down ctrl-n", vertical(1), "vertical"],
  ["alt-<", (state) => showEntry(state, 0)],
  ["alt->", (state) => showEntry(state, state.history.length)],
  ["backspace shift-backspace ctrl-h", eraseTo(before), "erase"],
  ["delete", eraseTo(after), "erase"],
  ["ctrl-k", killTo(restOfText), "kill"],
  ["ctrl-u", killTo(startOfText), "kill"],
  ["ctrl-w", killTo(spacedWordStart), "kill"],
  ["alt-d alt-delete ctrl-delete", killTo(wordEnd), "kill"],
  ["alt-backspace ctrl-backspace", killTo(wordStart), "kill"],
  ["ctrl-y", yank, "yank"],
  ["alt-y", yankPop, "yank"],
  ["ctrl-t", transpose],
  ["alt-u", recase((word) => word.toUpperCase())],
  ["alt-l", recase((word) => word.toLowerCase())],
  ["alt-c", recase(capitalize)],
  ["ctrl-_", undo],
];

const EDIT_COMMANDS = new Map(
  KEY_ROWS.flatMap(([keys, command, did = "other"]) =>
    keys.split(" ").map((key) => [key, { command, did }] as const)
  ),
);

export function press(state: LineState, key: Key): { state: LineState; effect: LineEffect } {
  if (key.type !== "key") return { state: inserted(state, key), effect: "none" };
  const { command, did } = EDIT_COMMANDS.get(key.name) ?? { command: "ignored", did: "other" };
  const result = typeof command === "string" ? command : command(state);
  if (typeof result === "string") return { state: { ...state, did: "other" }, effect: result };
  const next = result.undo === state.undo ? withUndo(state, result, did) : result;
  return { state: { ...next, did }, effect: "none" };
}

function inserted(state: LineState, key: { type: "text" | "paste"; text: string }): LineState {
  const isPaste = key.type === "paste";
  const units = isPaste ? pastedUnits(key.text) : graphemes(key.text);
  const did = isPaste ? "other" : "type";
  return { ...withUndo(state, withUnits(state, state.cursor, state.cursor, units), did), did };
}
