/** A line of input being edited, as plain data, which `press.ts` changes key by key. @module */

import type { ViState } from "./vi_state.ts";
import {
  entryUnits,
  type LinePlace,
  type PastedRanges,
  pastedUnits,
  replaceUnits,
  type Unit,
  unitsText,
} from "../units.ts";

/** The visible part of a line. */
export interface Snapshot extends LinePlace {
  /** The entry of the history that is shown; `history.length` for what is being written. */
  readonly entry: number;
}

/** The text before a change, which undo goes back to. */
interface EditStep {
  readonly units: readonly Unit[];
  /** The position of the cursor after the undo; undefined where it stays. */
  readonly cursor: number | undefined;
  /** The text that an insertion put in: what is typed right behind it is a part of the step. */
  readonly typed?: { readonly from: number; readonly to: number; readonly bytes: number };
}

/** The kind of the key before: kills join, Alt-Y follows a yank, Up keeps its column. */
export type Did = "kill" | "yank" | "vertical" | "other";
/** Texts that were killed, newest last: Ctrl-Y brings one back. */
export type KillRing = readonly (readonly Unit[])[];

/** A line of input and all that its keys refer to. */
export interface LineState extends Snapshot {
  /** The texts entered before, oldest first. */
  readonly history: readonly string[];
  /** The ranges of those texts that were pasted. */
  readonly pasted: PastedRanges;
  /** Entries of the history (and the new one) as they were left when another was looked at. */
  readonly edited: ReadonlyMap<number, Pick<LineState, "units" | "undo">>;
  readonly kills: KillRing;
  /** The changes of the entry that is shown, oldest first. */
  readonly undo: readonly EditStep[];
  readonly did: Did;
  /** The column that Up and Down aim at, in units; meaningful after `"vertical"`. */
  readonly column: number;
  /** The last yank: how many units before the cursor it put in, and which entry of the kill ring. */
  readonly yanked: { readonly length: number; readonly kill: number };
  /** The query of the last search. */
  readonly lastQuery: string;
  /** Enter after a `\` begins a new line. */
  readonly multiline: boolean;
  /** The keys pressed so far of a sequence such as `ctrl-x ctrl-e`; empty for none. */
  readonly prefix: string;
  /** The state of vim mode; undefined in emacs mode. */
  readonly vi?: ViState | undefined;
}

/**
 * The effect of a key beside a change of the line: `"submit"` ends with the text, `"cancel"`
 * (Ctrl-C) and `"end"` (Ctrl-D at an empty line) without; `"clear"` clears the screen, `"suspend"`
 * stops the program, `"complete"` asks the completer, `"search-back"` and `"search-forward"` open a
 * search, `"editor"` opens the text in a program; `"bell"`: nothing could be done; `"ignored"`: the key means nothing here.
 */
export type LineEffect =
  | ("none" | "submit" | "cancel" | "end" | "clear" | "suspend" | "complete")
  | ("search-back" | "search-forward" | "editor" | "paste-image" | "bell" | "ignored");

/** The most steps that undo goes back; of a long text there are fewer, as each step keeps all of it. */
const MAX_UNDO = 500;
/** The most units that all steps together keep, and the steps that there are at least however long the text. */
const MAX_UNDO_UNITS = 1_000_000;
const MIN_UNDO = 20;
/** What is typed is undone in steps of at most this many bytes, as in GNU readline. */
const MAX_TYPED_BYTES = 20;

type LineStart = Partial<
  & Pick<LineState, "history" | "pasted" | "multiline" | "vi">
  & { text: string | readonly Unit[] }
>;

/** A line as it is before the first key: `text`, the cursor behind it. */
export function lineState(
  { history = [], pasted = new Map(), text = "", multiline = true, vi }: LineStart = {},
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
    prefix: "",
    vi,
  };
}

/** `state` with the kill ring of another line. */
export function withKills(state: LineState, kills: KillRing): LineState {
  if (state.kills === kills) return state;
  return { ...state, kills, yanked: { ...state.yanked, kill: kills.length - 1 } };
}

/** `state` after all of `history`; as it is while it shows an entry of its own history. */
export function withHistory(
  state: LineState,
  history: readonly string[],
  pasted: PastedRanges,
): LineState {
  if (state.entry < state.history.length) return state;
  return { ...state, history, pasted, entry: history.length, edited: new Map() };
}

/** Another entry of the history in the line, as it was left, the cursor behind it. */
export function withEntry(state: LineState, entry: number): LineState {
  if (entry === state.entry) return state;
  const { history, pasted, units: old, undo: oldUndo } = state;
  const edited = new Map(state.edited).set(state.entry, { units: old, undo: oldUndo });
  const text = history[entry] ?? "";
  const { units, undo } = edited.get(entry) ??
    { units: entryUnits(text, pasted.get(text)), undo: [] };
  return { ...state, edited, entry, units, undo, cursor: units.length };
}

/**
 * `state` with its units from `from` to `to` replaced, which undo takes back; the cursor is behind what
 * was inserted.
 */
export function withUnits(
  state: LineState,
  from: number,
  to: number,
  inserted: readonly Unit[],
): LineState {
  const next = { ...state, ...replaceUnits(state.units, from, to, inserted) };
  if (to > from) return withUndo(state, next, to);
  const text = unitsText(inserted);
  const last = state.undo.at(-1);
  const end = next.cursor;
  const isTyped = text.length === 1 && text < "\x80";
  if (isTyped && last?.typed?.to === from && last.typed.bytes < MAX_TYPED_BYTES) {
    const typed = { ...last.typed, to: end, bytes: last.typed.bytes + 1 };
    return { ...next, undo: [...state.undo.slice(0, -1), { ...last, typed }] };
  }
  const bytes = new TextEncoder().encode(text.slice(0, MAX_TYPED_BYTES)).length;
  return withUndo(state, next, from, { from, to: end, bytes });
}

/** The text of the line, large pastes whole. */
export function lineText(state: LineState): string {
  return unitsText(state.units);
}

/** `next` with one step to go back to `state`, after which the cursor is at `cursor`. */
export function withUndo(
  state: LineState,
  next: LineState,
  cursor: number | undefined,
  typed?: EditStep["typed"],
): LineState {
  const step = { units: state.units, cursor, ...typed && { typed } };
  const room = Math.max(MIN_UNDO, Math.floor(MAX_UNDO_UNITS / state.units.length));
  return { ...next, undo: [...state.undo.slice(1 - Math.min(MAX_UNDO, room)), step] };
}

/** `state` before its last change; undefined where there is none. */
export function undone(state: LineState): LineState | undefined {
  const last = state.undo.at(-1);
  if (last === undefined) return undefined;
  const { units, cursor = Math.min(state.cursor, units.length) } = last;
  return { ...state, units, cursor, undo: state.undo.slice(0, -1) };
}

/** `state` without its text, which undo brings back. */
export function cleared(state: LineState): LineState {
  const entry = state.history.length;
  const next = { ...state, units: [], cursor: 0, entry };
  return withUndo(state, next, state.units.length);
}
