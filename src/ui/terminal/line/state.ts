/** A line of input that is being edited, as plain data, which `press.ts` changes key by key. @module */

import {
  entryUnits,
  type HistoryEntry,
  type LinePlace,
  pastedUnits,
  replaceUnits,
  type Unit,
  unitsText,
} from "../units.ts";
import type { Key } from "./keys.ts";

export interface Snapshot extends LinePlace {
  /** The index of the history entry that is shown; `history.length` for the new text. */
  readonly entry: number;
}

interface EditStep {
  readonly units: readonly Unit[];
  /** The cursor after the undo; undefined if it does not move. */
  readonly cursor: number | undefined;
  /** The insertion that this step undoes: text typed right behind it joins the step. */
  readonly typed?: { readonly from: number; readonly to: number; readonly bytes: number };
}

/** The kind of the previous key: kills join, Alt-Y follows a yank, Up remembers its column. */
export type KeyKind = "kill" | "yank" | "vertical" | "other";
export type KillRing = readonly (readonly Unit[])[];

export interface LineState extends Snapshot {
  readonly history: readonly HistoryEntry[];
  /** Entries as they were edited before another one was shown. */
  readonly edited: ReadonlyMap<number, Pick<LineState, "units" | "undo">>;
  readonly kills: KillRing;
  /** The changes of the entry that is shown, oldest first. */
  readonly undo: readonly EditStep[];
  readonly did: KeyKind;
  /** The column, in units, that Up and Down return to; valid after `"vertical"`. */
  readonly column: number;
  /** The last yank: the number of units, and the index in the kill ring. */
  readonly yanked: { readonly length: number; readonly kill: number };
  readonly lastQuery: string;
  /** True if Enter after a `\` adds a new line. */
  readonly multiline: boolean;
  /** The first key of an unfinished sequence such as `ctrl-x ctrl-e`, or empty. */
  readonly prefix: string;
  readonly vi?: ViState | undefined;
}

/** What `.`, `;` and `,` repeat; it outlives the line. */
interface ViMemory {
  /** The last change with its count, such as `2dw`, or empty. */
  readonly command: string;
  /** The keys of the insertion that the change started, without Escape. */
  readonly keys: readonly Key[];
  /** The last search for a character, such as `fx`, or empty. */
  readonly find: string;
}

export interface ViState {
  readonly mode: "insert" | "command";
  /** The keys of an unfinished command, such as `2d`. */
  readonly typed: string;
  /** The insertion: its entry, the undo steps before it, and if `.` repeats it. */
  readonly session: { readonly from: number; readonly entry: number; readonly isRepeated: boolean };
  readonly memory: ViMemory;
}

/** The vim state of a new line; `entry` is the number of history entries. */
export function viStart(
  entry: number,
  memory: ViMemory = { command: "", keys: [], find: "" },
): ViState {
  return { mode: "insert", typed: "", session: { from: 0, entry, isRepeated: false }, memory };
}

/**
 * The effect of a key beside a change of the line. `"cancel"` is Ctrl-C, `"end"` Ctrl-D; `"ignored"`: the key has no
 * action.
 */
export type LineEffect =
  | ("none" | "submit" | "cancel" | "end" | "clear" | "suspend" | "complete")
  | ("search-back" | "search-forward" | "editor" | "paste-image" | "bell" | "ignored");

const MAX_UNDO = 500;
/** Each step stores the whole text: a long text has fewer steps, but not fewer than the minimum. */
const MAX_UNDO_UNITS = 1_000_000;
const MIN_UNDO = 20;
/** One undo removes at most this many typed bytes, as in GNU readline. */
const MAX_TYPED_BYTES = 20;

type LineStart = Partial<
  & Pick<LineState, "history" | "multiline" | "vi">
  & { text: string | readonly Unit[] }
>;

export function lineState(
  { history = [], text = "", multiline = true, vi }: LineStart = {},
): LineState {
  const units = typeof text === "string" ? pastedUnits(text.replace(/\r\n?/g, "\n")) : text;
  return {
    units,
    cursor: units.length,
    history,
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

export function withKills(state: LineState, kills: KillRing): LineState {
  if (state.kills === kills) return state;
  return { ...state, kills, yanked: { ...state.yanked, kill: kills.length - 1 } };
}

/** `state` with a newer history; unchanged while it shows an entry of the old one. */
export function withHistory(state: LineState, history: readonly HistoryEntry[]): LineState {
  if (state.entry < state.history.length) return state;
  return { ...state, history, entry: history.length, edited: new Map() };
}

/** Shows another entry of the history, with its earlier edits, the cursor at its end. */
export function withEntry(state: LineState, entry: number): LineState {
  if (entry === state.entry) return state;
  const { history, units: old, undo: oldUndo } = state;
  const edited = new Map(state.edited).set(state.entry, { units: old, undo: oldUndo });
  const { units, undo } = edited.get(entry) ??
    { units: entryUnits(history[entry] ?? ""), undo: [] };
  return { ...state, edited, entry, units, undo, cursor: units.length };
}

/** Replaces the units from `from` to `to`, as one step of undo. */
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

export function lineText(state: LineState): string {
  return unitsText(state.units);
}

/** `next` with one more step, which undo takes back to `state` and `cursor`. */
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

export function undone(state: LineState): LineState | undefined {
  const last = state.undo.at(-1);
  if (last === undefined) return undefined;
  const { units, cursor = Math.min(state.cursor, units.length) } = last;
  return { ...state, units, cursor, undo: state.undo.slice(0, -1) };
}

export function cleared(state: LineState): LineState {
  const entry = state.history.length;
  const next = { ...state, units: [], cursor: 0, entry };
  return withUndo(state, next, state.units.length);
}
