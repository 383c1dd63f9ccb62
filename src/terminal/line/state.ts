/** A line of input being edited, as plain data, which `press.ts` changes key by key. @module */

import {
  type LinePlace,
  type PastedRanges,
  pastedUnits,
  replaceUnits,
  type Unit,
  unitsText,
} from "../units.ts";

/** The visible part of a line, which undo goes back to. */
export interface Snapshot extends LinePlace {
  /** The entry of the history that is shown; `history.length` for what is being written. */
  readonly entry: number;
}

/** The kind of the key before: kills join, Alt-Y follows a yank, Up keeps its column. */
export type Did = "type" | "erase" | "kill" | "yank" | "vertical" | "other";
/** Texts that were killed, newest last: Ctrl-Y brings one back. */
export type KillRing = readonly (readonly Unit[])[];

/** A line of input and all that its keys refer to. */
export interface LineState extends Snapshot {
  /** The texts entered before, oldest first. */
  readonly history: readonly string[];
  /** The ranges of those texts that were pasted. */
  readonly pasted: PastedRanges;
  /** Entries of the history (and the new one) as they were left when another was looked at. */
  readonly edited: ReadonlyMap<number, readonly Unit[]>;
  readonly kills: KillRing;
  readonly undo: readonly Snapshot[];
  readonly did: Did;
  /** The column that Up and Down aim at, in units; meaningful after `"vertical"`. */
  readonly column: number;
  /** The last yank: how many units before the cursor it put in, and which entry of the kill ring. */
  readonly yanked: { readonly length: number; readonly kill: number };
  /** The query of the last search. */
  readonly lastQuery: string;
  /** Enter after a `\` begins a new line. */
  readonly multiline: boolean;
}

/**
 * The effect of a key beside a change of the line: `"submit"` ends with the text, `"cancel"`
 * (Ctrl-C) and `"end"` (Ctrl-D at an empty line) without; `"clear"` clears the screen, `"suspend"`
 * stops the program, `"complete"` asks the completer, `"search-back"` and `"search-forward"` open a
 * search; `"bell"`: nothing could be done; `"ignored"`: the key means nothing here.
 */
export type LineEffect =
  | ("none" | "submit" | "cancel" | "end" | "clear" | "suspend" | "complete")
  | ("search-back" | "search-forward" | "bell" | "ignored");

/** The most steps that undo goes back. */
const MAX_UNDO = 200;

type LineStart = Partial<
  & Pick<LineState, "history" | "pasted" | "multiline">
  & { text: string | readonly Unit[] }
>;

/** A line as it is before the first key: `text`, the cursor behind it. */
export function lineState(
  { history = [], pasted = new Map(), text = "", multiline = true }: LineStart = {},
): LineState {
  const units = typeof text === "string" ? pastedUnits(text.replace(/\r\n?/g, "\n")) : text;
  return {
    units,
    cursor: units.length,
    history,
    pasted,
    entry: history.length,
    edited: new Map(),
    kills: [],
    undo: [],
    did: "other",
    column: 0,
    yanked: { length: 0, kill: -1 },
    lastQuery: "",
    multiline,
  };
}

/** `state` with the kill ring of another line. */
export function withKills(state: LineState, kills: KillRing): LineState {
  if (state.kills === kills) return state;
  return { ...state, kills, yanked: { length: 0, kill: kills.length - 1 } };
}

/** `state` after all of `history`; as it is while it shows an entry of its own history. */
export function withHistory(
  state: LineState,
  history: readonly string[],
  pasted: PastedRanges,
): LineState {
  if (state.entry < state.history.length) return state;
  const entry = history.length;
  const undo = state.undo.map((step) => ({ ...step, entry }));
  return { ...state, history, pasted, entry, edited: new Map(), undo };
}

/** `state` with its units from `from` to `to` replaced; the cursor is behind what was inserted. */
export function withUnits(
  state: LineState,
  from: number,
  to: number,
  inserted: readonly Unit[],
): LineState {
  return { ...state, ...replaceUnits(state.units, from, to, inserted) };
}

/** The text of the line, large pastes whole. */
export function lineText(state: LineState): string {
  return unitsText(state.units);
}

/** `next` with `state` to go back to, if the text changed; words typed or erased go back as one. */
export function withUndo(state: LineState, next: LineState, did: Did = "other"): LineState {
  if (next.units === state.units) return next;
  const beginsWord = next.units[next.cursor - 2] === " " && next.units[next.cursor - 1] !== " ";
  const goesOn = did === state.did && (did === "erase" || did === "type" && !beginsWord);
  if (goesOn) return next;
  const { units, cursor, entry } = state;
  return { ...next, undo: [...state.undo.slice(1 - MAX_UNDO), { units, cursor, entry }] };
}

/** `state` without its text, which undo brings back. */
export function cleared(state: LineState): LineState {
  return withUndo(state, { ...state, units: [], cursor: 0, entry: state.history.length });
}
