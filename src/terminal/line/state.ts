/**
 * A line of input being edited, as plain data. `press.ts` says what a key makes of it, `layout.ts`
 * how it is shown.
 *
 * @module
 */

import { pastedUnits, textOf, type Unit } from "../units.ts";

/** What undo and an abandoned search go back to. */
export interface Snapshot {
  readonly units: readonly Unit[];
  readonly cursor: number;
  /** The entry of the history that is shown; `history.length` for what is being written. */
  readonly entry: number;
}

/** What the key before was for: kills join, Alt-Y follows a yank, Up keeps its column. */
export type Did = "type" | "erase" | "kill" | "yank" | "vertical" | "other";

/** A search in the history under way. */
export interface Search {
  readonly query: string;
  /** -1 towards older entries, 1 towards newer ones. */
  readonly direction: -1 | 1;
  /** True when nothing (more) was found. */
  readonly failed: boolean;
  /** Where it began, for Ctrl-G and for a query that gets shorter. */
  readonly from: Snapshot;
}

/** Several completions, one of which may be in the line. */
export interface Menu {
  readonly items: readonly string[];
  /** Which item is in the line; -1 for none yet. */
  readonly chosen: number;
  /** Where in the line the item begins. */
  readonly from: number;
}

/** A line of input and all that its keys refer to. */
export interface LineState extends Snapshot {
  /** What was entered before, oldest first. */
  readonly history: readonly string[];
  /** Entries of the history (and the new one) as they were left when another was looked at. */
  readonly edited: ReadonlyMap<number, readonly Unit[]>;
  /** What was killed, newest last. */
  readonly kills: readonly (readonly Unit[])[];
  readonly undo: readonly Snapshot[];
  readonly did: Did;
  /** The column that Up and Down aim at, in units; meaningful after `"vertical"`. */
  readonly column: number;
  /** What the last yank put in: how many units before the cursor; and which kill comes next. */
  readonly yanked: { readonly length: number; readonly kill: number };
  readonly search: Search | undefined;
  /** What was last searched for. */
  readonly lastQuery: string;
  readonly menu: Menu | undefined;
  /** Enter after a `\` begins a new line. */
  readonly multiline: boolean;
}

/**
 * What the driver does after a key: `"submit"` ends with the text, `"cancel"` (Ctrl-C) and `"end"`
 * (Ctrl-D at an empty line) without; `"clear"` clears the screen, `"suspend"` stops the program,
 * `"complete"` asks the completer, `"bell"` says that nothing could be done, `"ignored"` that the
 * key means nothing here.
 */
export type Effect =
  | "none"
  | "submit"
  | "cancel"
  | "end"
  | "clear"
  | "suspend"
  | "complete"
  | "bell"
  | "ignored";

/** What a new line starts with. */
export interface LineOptions {
  /** What was entered before, oldest first. */
  history?: readonly string[] | undefined;
  /** Text that is there already; the cursor is behind it. */
  text?: string | undefined;
  /** The kill ring of the line before. */
  kills?: LineState["kills"] | undefined;
  /** Whether Enter after a `\` begins a new line; true when left out. */
  multiline?: boolean | undefined;
}

/** Undo goes back so many steps. */
const MAX_UNDO = 200;

/** A line as it is before the first key. */
export function lineState(options: LineOptions = {}): LineState {
  const { history = [], text = "", kills = [], multiline = true } = options;
  const units = pastedUnits(text.replace(/\r\n?/g, "\n"));
  return {
    units,
    cursor: units.length,
    history,
    entry: history.length,
    edited: new Map(),
    kills,
    undo: [],
    did: "other",
    column: 0,
    yanked: { length: 0, kill: kills.length - 1 },
    search: undefined,
    lastQuery: "",
    menu: undefined,
    multiline,
  };
}

/** `state` after all of `history`; as it is while it shows an entry of its own history. */
export function withHistory(state: LineState, history: readonly string[]): LineState {
  if (state.entry < state.history.length || state.search !== undefined) return state;
  const entry = history.length;
  const undo = state.undo.map((step) => ({ ...step, entry }));
  return { ...state, history, entry, edited: new Map(), undo };
}

/** The text of the line, large pastes whole. */
export function lineText(state: LineState): string {
  return textOf(state.units);
}

/** `next` with `state` to go back to, if the text changed; words typed or erased go back as one. */
export function withUndo(state: LineState, next: LineState, did: Did = "other"): LineState {
  if (next.units === state.units) return next;
  const goesOn = did === state.did && (did === "erase" || did === "type" && !beginsWord(next));
  if (goesOn && state.undo.length > 0) return next;
  const { units, cursor, entry } = state;
  return { ...next, undo: [...state.undo.slice(1 - MAX_UNDO), { units, cursor, entry }] };
}

/** `state` without its text, which undo brings back. */
export function cleared(state: LineState): LineState {
  return withUndo(state, { ...state, units: [], cursor: 0, entry: state.history.length });
}

/** `state` as it goes into the scrollback: all of the text, nothing of searches and menus. */
export function finished(state: LineState): LineState {
  return { ...state, cursor: state.units.length, search: undefined, menu: undefined };
}

function beginsWord({ units, cursor }: LineState): boolean {
  return units[cursor - 2] === " " && units[cursor - 1] !== " ";
}
