/**
 * Vim mode: the commands of GNU readline's vi mode, with lines of a longer text in place of its one, and
 * `o` and `O`. `(state, key) -> state`, or an effect beyond it. Pure. @module
 */

import { lineEndAfter, replaceUnits, type Unit } from "../units.ts";
import { EDITS, toEnd, toStart, withKill, yank } from "./edit.ts";
import type { Key } from "./keys.ts";
import { type LineEffect, type LineState, undone, withUndo, withUnits } from "./state.ts";
import { MOTIONS } from "./vi_motions.ts";
import type { ViMemory, ViMode, ViState } from "./vi_state.ts";

/** A line in vim mode. */
type ViLine = LineState & { readonly vi: ViState };
type Result = LineState | LineEffect;
type Operator = "d" | "c" | "y";
type ViCommand = (state: ViLine, count: number, char: string) => Result;

/** The most that a count counts. */
const MAX_COUNT = 999;
/** A command: a count, an operator, a count of its motion, and the rest. */
const VI_COMMAND = /^((?:[1-9]\d*)?)([dcy]?)((?:[1-9]\d*)?)([^]*)$/;

const withVi = (state: LineState, more: Partial<ViState>): LineState =>
  state.vi === undefined ? state : { ...state, vi: { ...state.vi, ...more } };
const remember = (state: ViLine, more: Partial<ViMemory>): ViLine => ({
  ...state,
  vi: { ...state.vi, memory: { ...state.vi.memory, ...more } },
});

/** In command mode the cursor is on a character, not behind the last one. */
export function ontoText(state: LineState): LineState {
  const { cursor, vi } = state;
  const isBehind = vi?.mode === "command" && cursor === toEnd(state) && cursor > toStart(state);
  return isBehind ? { ...state, cursor: cursor - 1 } : state;
}

/** A character in command mode. */
export function pressCommand(
  state: LineState,
  char: string,
): { state: LineState; effect: LineEffect } {
  const { vi } = state;
  if (vi === undefined) return { state, effect: "ignored" };
  const typed = vi.typed + char;
  const [, first = "", operator = "", second = "", rest = ""] = VI_COMMAND.exec(typed) ?? [];
  const isOpen = rest === "" || /^[fFtT]$/.test(rest) || operator === "" && rest === "r";
  if (isOpen) return { state: withVi(state, { typed }), effect: "none" };
  const line: ViLine = { ...state, vi: { ...vi, typed: "" } };
  const isCounted = first + second !== "";
  const count = Math.min(MAX_COUNT, Number(first || 1) * Number(second || 1));
  let result: Result;
  if (operator !== "") result = operate(found(line, rest), operator as Operator, rest[0]!, count);
  else if (rest === ".") result = redo(line, count, isCounted);
  else if (MOTIONS.has(rest[0]!)) result = moveBy(found(line, rest), rest[0]!, count);
  else result = run(line, rest[0]!, count, rest.slice(1));
  if (typeof result === "string") return { state: { ...line, did: "other" }, effect: result };
  const did = "jk+-".includes(rest[0]!) ? "vertical" : "other";
  return { state: ontoText({ ...result, did }), effect: "none" };
}

/** Remembers the character of `fX`, so that it can be looked for. */
function found(state: ViLine, rest: string): ViLine {
  return /^[fFtT]/.test(rest) ? remember(state, { find: rest[0]!, target: rest.slice(1) }) : state;
}

function moveBy(state: ViLine, motion: string, count: number): Result {
  const { units, cursor: from, vi: { memory } } = state;
  const cursor = MOTIONS.get(motion)!({ units, from, count, isOperator: false, memory });
  return { ...state, cursor };
}

/** A command that is neither a motion nor an operator; a change is remembered for `.`. */
function run(state: ViLine, key: string, count: number, char: string): Result {
  const command = VI_COMMANDS.get(key);
  if (command === undefined) return "bell";
  if (!"xXpPr~".includes(key)) return command(state, count, char);
  // As in readline, one that could do nothing is remembered as well.
  const replacement = key === "r" ? { replacement: char } : {};
  const last = remember(state, { command: key, count, ...replacement });
  const result = command(last, count, char);
  return result === "bell" ? last : result;
}

/** The range that an operator is for; undefined where the motion leads nowhere. */
function rangeOf(
  state: ViLine,
  operator: Operator,
  motion: string,
  count: number,
): [from: number, to: number] | undefined {
  const { units, cursor: start, vi: { memory } } = state;
  if (motion === operator) return linesFrom(state, count, operator);
  const motionTo = MOTIONS.get(motion);
  if (motionTo === undefined) return undefined;
  const place = { units, from: start, count, isOperator: true, memory };
  let target = Math.min(units.length, motionTo(place));
  const isWord = motion === "w" || motion === "W";
  const isBlank = (at: number) => typeof units[at] === "string" && /^\s/u.test(units[at]);
  if (isWord && target > start) {
    // A word's deletion ends with its line.
    const end = lineEndAfter(units, start);
    if (end > start && target > end) target = end;
    // `cw` leaves the space behind the word, as `ce` does.
    if (operator === "c" && target < units.length && !isBlank(target)) target--;
    if (operator === "c") {
      while (target > start && isBlank(target)) target--;
      if (target === start) target++;
      else if (target < units.length - 1 && !isBlank(target)) target++;
    }
  }
  const [from, to] = target < start ? [target, start] : [start, target];
  const isInclusive = "eEft;,".includes(motion) && from >= start && to > from;
  return [from, isInclusive ? Math.min(units.length, to + 1) : to];
}

/** The lines of `dd`; with what separates them from others, where there are any. */
function linesFrom(state: ViLine, count: number, operator: Operator): [number, number] {
  const { units } = state;
  const from = toStart(state);
  let to = toEnd(state);
  for (; count > 1 && to < units.length; count--) to = lineEndAfter(units, to + 1);
  if (operator === "c") return [from, to];
  return to < units.length ? [from, to + 1] : [from, to];
}

/** `d`, `c` or `y` and a motion; `command` is the key that is remembered. */
function operate(
  state: ViLine,
  operator: Operator,
  motion: string,
  count: number,
  command: string = operator,
): Result {
  const last = remember(state, { command, motion, count });
  const range = rangeOf(state, operator, motion, count);
  if (range === undefined) return "bell";
  const [from, to] = range;
  const { units, cursor } = last;
  if (operator === "c") {
    if (from === to && "fFtT;,".includes(motion)) return last;
    return startInsertion(killed(last, from, to), command, last.undo.length, { motion, count });
  }
  if (from === to) return last;
  if (operator === "y") return { ...withKill(last, units.slice(from, to)), cursor };
  return motion === operator ? withoutLines(last, from, to) : killed(last, from, to);
}

/** `state` without whole lines; of the last ones, what separates them from the line above goes too. */
function withoutLines(state: ViLine, from: number, to: number): LineState {
  const isLast = to === state.units.length && from > 0;
  const next = killed(state, isLast ? from - 1 : from, to);
  return { ...next, cursor: toStart(next) };
}

/** `state` without the units from `from` to `to`, which `p` puts in. */
function killed(state: LineState, from: number, to: number): LineState {
  if (from >= to) return { ...state, cursor: from };
  return withKill(withUnits(state, from, to, []), state.units.slice(from, to));
}

/** Another mode, until Escape, for the command `key`; its changes are one step from `from` on. */
function startInsertion(
  state: LineState,
  key: string,
  from = state.undo.length,
  { mode = "insert", ...last }: { mode?: ViMode } & Partial<ViMemory> = {},
): LineState {
  const { vi, entry } = state;
  if (vi === undefined) return state;
  const memory = { ...vi.memory, command: key, count: 1, ...last };
  return { ...state, vi: { ...vi, mode, memory, replaced: 0, session: { key, from, entry } } };
}

/** Escape: an unfinished command is dropped; an insertion ends, and can be undone as one. */
export function leaveInsertion(state: LineState): LineState {
  const { vi, undo, units, entry } = state;
  if (vi === undefined || vi.mode === "command") {
    return { ...withVi(state, { typed: "" }), prefix: "" };
  }
  const cursor = Math.max(toStart(state), state.cursor - 1);
  const { session: { from, entry: began }, replaced, isBegun, mode } = vi;
  let { inserted } = vi.memory;
  if (mode === "replace") {
    if (replaced > 0) inserted = units.slice(Math.max(0, cursor + 1 - replaced), cursor + 1);
  } else if (isBegun || undo.length > 0) inserted = lastTyped(state);
  const first = undo[from];
  const step = first ? { units: first.units, cursor: first.cursor } : { units, cursor: undefined };
  const steps = !isBegun ? [] : began === entry ? [...undo.slice(0, from), step] : undo;
  const memory = { ...vi.memory, inserted };
  const next = { ...vi, mode: "command", typed: "", isBegun: true, replaced: 0, memory } as const;
  return { ...state, cursor, undo: steps, vi: next };
}

/** The text that was typed last in an insertion, up to another change. */
function lastTyped({ units, undo, vi }: LineState): readonly Unit[] {
  const { from = 0, key = "" } = vi?.session ?? {};
  const last = undo.length > from ? undo.at(-1)!.typed : undefined;
  if (last === undefined) return [];
  let start = last.from;
  for (let at = undo.length - 2; at >= from && undo[at]!.typed?.to === start; at--) {
    start = undo[at]!.typed!.from;
  }
  // The new line of `o` is not typed.
  return units.slice(key === "o" ? start + 1 : start, last.to);
}

/** A key in replace mode; undefined where it is for another one. */
export function pressReplacing(
  state: LineState,
  key: Key,
): { state: LineState; effect: LineEffect } | undefined {
  const { vi, units, cursor } = state;
  if (vi?.mode !== "replace") return undefined;
  if (key.type === "text") {
    const next = Array.from(key.text).reduce<LineState>((line, char) => {
      const to = line.cursor < toEnd(line) ? line.cursor + 1 : line.cursor;
      const replaced = { ...line, ...replaceUnits(line.units, line.cursor, to, [char]) };
      const counted = withVi(replaced, { replaced: (line.vi?.replaced ?? 0) + 1 });
      return withUndo(line, counted, line.cursor);
    }, state);
    return { state: next, effect: "none" };
  }
  if (key.name !== "backspace" && key.name !== "ctrl-h") return undefined;
  const before = vi.replaced > 0 ? undone(state) : undefined;
  if (before === undefined) return { state, effect: "bell" };
  const isStill = before.cursor === cursor && before.units.length === units.length;
  const at = isStill ? Math.max(0, cursor - 1) : before.cursor;
  const next = withVi({ ...before, cursor: at }, { replaced: vi.replaced - 1 });
  return { state: next, effect: "none" };
}

/** `.`: the last change again, with its own count or another one. */
function redo(state: ViLine, given: number, isCounted: boolean): Result {
  const { command, motion, inserted, replacement } = state.vi.memory;
  const count = isCounted ? given : state.vi.memory.count;
  if (inserted.length > 0 && "iIaAoOR".includes(command)) return insertAgain(state, given);
  if ("cC".includes(command)) return changeAgain(state, motion, count);
  if ("dD".includes(command)) return operate(state, "d", motion, count, command);
  if ("yY".includes(command)) return operate(state, "y", motion, count, command);
  return run(state, command, count, replacement);
}

function insertAgain(state: ViLine, count: number): Result {
  const { command, inserted } = state.vi.memory;
  const start = VI_COMMANDS.get(command)!(state, 1, "");
  if (typeof start === "string") return start;
  const text = Array.from({ length: count }, () => inserted).flat();
  let next: LineState;
  if (command === "R") {
    const { units, cursor } = state;
    const first = Math.min(toEnd(state), cursor + inserted.length);
    const to = Math.min(toEnd(state), cursor + text.length);
    next = withUndo(state, { ...state, ...replaceUnits(units, cursor, to, text) }, first);
  } else {
    const done = withUnits(start, start.cursor, start.cursor, text);
    const step = start.undo.length > state.undo.length ? start.undo.at(-1)! : undefined;
    const { cursor } = step ?? start;
    next = withUndo(state, { ...done, undo: state.undo }, cursor);
  }
  // The memory and the mode are as they were.
  return { ...next, vi: state.vi, cursor: Math.max(toStart(next), next.cursor - 1) };
}

function changeAgain(state: ViLine, motion: string, count: number): Result {
  const range = rangeOf(state, "c", motion, count);
  if (range === undefined) return "bell";
  const [from, to] = range;
  const { units, vi: { memory } } = state;
  const last = remember(state, { count });
  return withUndo(last, { ...last, ...replaceUnits(units, from, to, memory.inserted) }, to);
}

/** Goes a line up or down, and through the history, whose entries are shown from their beginning. */
const steps = (name: "previous-line" | "next-line"): ViCommand => (state, count) => {
  const [edit] = EDITS[name];
  let line: LineState = state;
  for (let left = count; left > 0; left--) {
    const next = edit(line);
    if (typeof next === "string") return line === state ? next : line;
    const isEntry = next.entry !== line.entry && next.entry < next.history.length;
    line = isEntry ? { ...next, cursor: 0, did: "vertical" } : { ...next, did: "vertical" };
  }
  return line;
};

const swapCase: ViCommand = (state, count) => {
  let line: LineState = state;
  for (; count > 0 && line.cursor < toEnd(line); count--) {
    const { units, cursor } = line;
    const unit = units[cursor]!;
    const text = typeof unit === "string" ? unit : "";
    const other = text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase();
    if (other === text) line = { ...line, cursor: cursor + 1 };
    else {
      const next = { ...line, ...replaceUnits(units, cursor, cursor + 1, [other]) };
      line = withKill(withUndo(line, next, cursor + 1), [unit]);
    }
    line = ontoText(line);
  }
  return line;
};

const replaceChars: ViCommand = (state, count, char) => {
  const { units, cursor } = state;
  const to = Math.min(cursor + count, toEnd(state));
  if (char === "") return "bell";
  if (to === cursor) return withUndo(state, state, undefined);
  const text = units.slice(cursor, to).map(() => char);
  const next = withUndo(state, { ...state, ...replaceUnits(units, cursor, to, text) }, cursor + 1);
  return { ...withKill(next, [units[to - 1]!]), cursor: next.cursor - 1 };
};

const put = (isBehind: boolean): ViCommand => (state, count) => {
  const kill = state.kills[state.yanked.kill];
  if (kill === undefined) return "bell";
  const isLines = kill.length > 1 && kill.at(-1) === "\n";
  if (isLines) return putLines(state, kill, isBehind, count);
  let line: Result = {
    ...state,
    cursor: state.cursor + (isBehind && state.cursor < toEnd(state) ? 1 : 0),
  };
  for (; count > 0 && typeof line !== "string"; count--) line = yank(line);
  return typeof line === "string" ? line : { ...line, cursor: Math.max(0, line.cursor - 1) };
};

/** Puts in whole lines, below or above the one with the cursor. */
function putLines(state: ViLine, kill: readonly Unit[], isBehind: boolean, count: number): Result {
  const text = Array.from({ length: count }, () => kill).flat();
  const end = toEnd(state);
  if (!isBehind) {
    return { ...withUnits(state, toStart(state), toStart(state), text), cursor: toStart(state) };
  }
  const isLast = end === state.units.length;
  const next = isLast
    ? withUnits(state, end, end, ["\n", ...text.slice(0, -1)])
    : withUnits(state, end + 1, end + 1, text);
  return { ...next, cursor: end + 1 };
}

const insertAt = (key: string, to: (state: ViLine) => number): [string, ViCommand] => [
  key,
  (state) => startInsertion({ ...state, cursor: to(state) }, key),
];

const openLine = (key: string, isBelow: boolean): [string, ViCommand] => [key, (state) => {
  const at = isBelow ? toEnd(state) : toStart(state);
  const next = state.multiline ? withUnits(state, at, at, ["\n"]) : { ...state, cursor: at };
  return startInsertion({ ...next, cursor: isBelow ? next.cursor : at }, key, state.undo.length);
}];

const undoTimes: ViCommand = (state, count) => {
  let line: LineState | undefined = undone(state);
  if (line === undefined) return "bell";
  for (; count > 1; count--) line = undone(line) ?? line;
  return line;
};

const undoAll: ViCommand = (state) => {
  const first = state.undo[0];
  return first ? { ...state, units: first.units, undo: [], cursor: 0 } : "bell";
};

/** The commands that are no motions and no operators, by their keys. */
const VI_COMMANDS: ReadonlyMap<string, ViCommand> = new Map<string, ViCommand>([
  insertAt("i", ({ cursor }) => cursor),
  insertAt("a", (state) => Math.min(toEnd(state), state.cursor + 1)),
  insertAt("I", toStart),
  insertAt("A", toEnd),
  openLine("o", true),
  openLine("O", false),
  ["R", (state) => startInsertion(state, "R", state.undo.length, { mode: "replace" })],
  ["s", (state, count) => operate(state, "c", "l", count)],
  ["S", (state, count) => operate(state, "c", "c", count)],
  ["D", (state, count) => operate(state, "d", "$", count, "D")],
  ["C", (state, count) => operate(state, "c", "$", count, "C")],
  ["Y", (state, count) => operate(state, "y", "$", count, "Y")],
  ["x", (state, count) => {
    const to = Math.min(state.cursor + count, toEnd(state));
    return to === state.cursor ? "bell" : killed(state, state.cursor, to);
  }],
  ["X", (state, count) => {
    const from = Math.max(toStart(state), state.cursor - count);
    return from === state.cursor ? "bell" : killed(state, from, state.cursor);
  }],
  ["r", replaceChars],
  ["~", swapCase],
  ["p", put(true)],
  ["P", put(false)],
  ["u", undoTimes],
  ["U", undoAll],
  ["j", steps("next-line")],
  ["+", steps("next-line")],
  ["k", steps("previous-line")],
  ["-", steps("previous-line")],
]);
