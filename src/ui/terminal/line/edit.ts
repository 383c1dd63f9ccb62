/**
 * The actions on a line: `(state) -> state`, or an effect. Pure. Names and behaviour are those of GNU readline.
 * @module
 */

import { graphemes } from "../../../text/width.ts";
import {
  joinUnits,
  lineEndAfter,
  lineStartBefore,
  pastedUnits,
  replaceUnits,
  spacedWordStart,
  type Unit,
  unitsText,
  wordEnd,
  wordStart,
} from "../units.ts";
import type { ActionName } from "./actions.ts";
import {
  type KeyKind,
  type LineEffect,
  type LineState,
  undone,
  withEntry,
  withUndo,
  withUnits,
} from "./state.ts";

export type EditCommand = (state: LineState) => LineState | LineEffect;
type Position = (state: LineState) => number;
const MAX_KILLS = 60;

const moveTo = (to: Position) => (state: LineState) => ({ ...state, cursor: to(state) });

const eraseTo = (position: Position): EditCommand => (state) => {
  const { cursor } = state;
  const other = position(state);
  if (other === cursor) return "bell";
  return withUnits(state, Math.min(cursor, other), Math.max(cursor, other), []);
};

const killTo = (position: Position): EditCommand => (state) => {
  const { cursor, units, kills } = state;
  const other = position(state);
  const erased = eraseTo(position)(state);
  if (typeof erased === "string") return erased;
  const killed = units.slice(Math.min(cursor, other), Math.max(cursor, other));
  if (state.did !== "kill") return withKill(erased, killed);
  const last = kills.at(-1) ?? [];
  const whole = other < cursor ? joinUnits(killed, last) : joinUnits(last, killed);
  return withKill({ ...erased, kills: kills.slice(0, -1) }, whole);
};

export function withKill(state: LineState, killed: readonly Unit[]): LineState {
  const ring = state.kills.slice(1 - MAX_KILLS);
  return { ...state, kills: [...ring, killed], yanked: { ...state.yanked, kill: ring.length } };
}

export const toStart: Position = ({ units, cursor }) => lineStartBefore(units, cursor);
export const toEnd: Position = ({ units, cursor }) => lineEndAfter(units, cursor);
const before: Position = ({ cursor }) => Math.max(0, cursor - 1);
const after: Position = ({ units, cursor }) => Math.min(units.length, cursor + 1);
/** The end of the line; at the end, behind the line feed. */
const restOfText: Position = (state) => toEnd(state) === state.cursor ? after(state) : toEnd(state);
const startOfText: Position = (state) =>
  toStart(state) === state.cursor ? before(state) : toStart(state);

/** Enter: replaces a `\` at the end of the text by a new line, otherwise submits. */
const enterKey: EditCommand = (state) => {
  const { units, multiline } = state;
  if (!multiline || units.at(-1) !== "\\") return "submit";
  return withUnits(state, units.length - 1, units.length, ["\n"]);
};

/** Adds a new line; submits a text of one line, as Ctrl-J does in GNU readline. */
const newLine: EditCommand = (state) =>
  state.multiline ? withUnits(state, state.cursor, state.cursor, ["\n"]) : "submit";

const yank: EditCommand = (state) => {
  const kill = state.kills[state.yanked.kill];
  if (kill === undefined) return "bell";
  const next = withUnits(state, state.cursor, state.cursor, kill);
  return { ...next, yanked: { ...state.yanked, length: next.cursor - state.cursor } };
};

const yankPop: EditCommand = (state) => {
  const { cursor, kills, yanked } = state;
  if (state.did !== "yank") return "bell";
  const removed = withUnits(state, cursor - yanked.length, cursor, []);
  const kill = (yanked.kill - 1 + kills.length) % kills.length;
  return yank({ ...removed, yanked: { ...yanked, kill } });
};

/** Swaps the units around the cursor; at a line's end, the two before it. */
const transposeChars: EditCommand = (state) => {
  const { units, cursor } = state;
  const at = cursor === toEnd(state) ? cursor - 1 : cursor;
  if (at <= toStart(state)) return "bell";
  const swapped = joinUnits([units[at]!], [units[at - 1]!]);
  return withUndo(state, { ...state, ...replaceUnits(units, at - 1, at + 1, swapped) }, at);
};

const transposeWords: EditCommand = (state) => {
  const { units } = state;
  const end = wordEnd(state);
  const start = wordStart({ units, cursor: end });
  const first = wordStart({ units, cursor: start });
  const firstEnd = wordEnd({ units, cursor: first });
  if (start <= firstEnd) return "bell"; // there is no word before
  const swapped = joinUnits(
    joinUnits(units.slice(start, end), units.slice(firstEnd, start)),
    units.slice(first, firstEnd),
  );
  return withUndo(state, { ...state, ...replaceUnits(units, first, end, swapped) }, end);
};

/** Changes the case of the word behind the cursor and moves to its end. */
const recase = (change: (word: string) => string): EditCommand => (state) => {
  const { units, cursor } = state;
  const to = wordEnd(state);
  const word = units.slice(cursor, to);
  if (to === cursor || word.some((unit) => typeof unit !== "string")) return "bell";
  return withUnits(state, cursor, to, graphemes(change(unitsText(word))));
};

const capitalize = (word: string) =>
  word.toLowerCase().replace(/[\p{L}\p{N}]/u, (first) => first.toUpperCase());

/** Moves a line up or down; from the first or last line, through the history. */
const vertical = (step: -1 | 1): EditCommand => (state) => {
  const { units, cursor } = state;
  const [from, to] = [toStart(state), toEnd(state)];
  if (step === -1 ? from === 0 : to === units.length) return showEntry(state, state.entry + step);
  const column = state.did === "vertical" ? state.column : cursor - from;
  const line = step === -1 ? lineStartBefore(units, from - 1) : to + 1;
  return { ...state, column, cursor: Math.min(line + column, lineEndAfter(units, line)) };
};

function showEntry(state: LineState, entry: number): LineState | LineEffect {
  if (entry < 0 || entry > state.history.length) return "bell";
  const next = withEntry(state, entry);
  return { ...next, column: next.cursor - toStart(next) };
}

/** The command or the effect of each action; in a pair, with the kind that the next key reads. */
export const EDITS = {
  "submit": enterKey,
  "newline": newLine,
  "complete": "complete",
  "cancel": "cancel",
  "stop": "ignored",
  "delete-char-or-leave": (state) => state.units.length === 0 ? "end" : eraseTo(after)(state),
  "editor": "editor",
  "paste-image": "paste-image",
  "transcript": "ignored",
  "next-mode": "ignored",
  "tasks": "ignored",
  "clear-screen": "clear",
  "suspend": "suspend",
  "search-back": "search-back",
  "search-forward": "search-forward",
  "backward-char": moveTo(before),
  "forward-char": moveTo(after),
  "beginning-of-line": moveTo(toStart),
  "end-of-line": moveTo(toEnd),
  "beginning-of-text": moveTo(() => 0),
  "end-of-text": moveTo(({ units }) => units.length),
  "backward-word": moveTo(wordStart),
  "forward-word": moveTo(wordEnd),
  "previous-line": [vertical(-1), "vertical"],
  "next-line": [vertical(1), "vertical"],
  "beginning-of-history": (state) => showEntry(state, 0),
  "end-of-history": (state) => showEntry(state, state.history.length),
  "backward-delete-char": eraseTo(before),
  "delete-char": eraseTo(after),
  "kill-line": [killTo(restOfText), "kill"],
  "kill-to-start": [killTo(startOfText), "kill"],
  "kill-spaced-word": [killTo(spacedWordStart), "kill"],
  "kill-word": [killTo(wordEnd), "kill"],
  "backward-kill-word": [killTo(wordStart), "kill"],
  "yank": [yank, "yank"],
  "yank-pop": [yankPop, "yank"],
  "transpose-chars": transposeChars,
  "transpose-words": transposeWords,
  "upcase-word": recase((word) => word.toUpperCase()),
  "downcase-word": recase((word) => word.toLowerCase()),
  "capitalize-word": recase(capitalize),
  "undo": (state) => undone(state) ?? "bell",
} satisfies Readonly<Record<ActionName, EditCommand | LineEffect | [EditCommand, KeyKind]>>;

export function inserted(
  state: LineState,
  { type, text }: { type: "text" | "paste"; text: string },
): LineState {
  const units = type === "paste" ? pastedUnits(text) : graphemes(text);
  return withUnits(state, state.cursor, state.cursor, units);
}
