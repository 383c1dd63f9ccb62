/** Vim mode for short messages: motions, operators, counts. `(state, key) -> state`, or an effect. Pure. @module */

import { graphemes } from "../../../text/width.ts";
import { lineEndAfter, type Unit } from "../units.ts";
import { EDITS, toEnd, toStart, withKill } from "./edit.ts";
import type { Key } from "./keys.ts";
import { type LineEffect, type LineState, undone, type ViState, withUnits } from "./state.ts";
import { isBlankUnit, MOTIONS } from "./vi_motions.ts";

type ViLine = LineState & { readonly vi: ViState };
type Result = LineState | LineEffect;
type ViCommand = (state: ViLine, count: number, char: string) => Result;

const MAX_COUNT = 999;
/** A count, an operator, a count of its motion, and the rest. */
const VI_COMMAND = /^((?:[1-9]\d*)?)([dcy]?)((?:[1-9]\d*)?)([^]*)$/;
const SHORTHANDS: Readonly<Record<string, string>> = {
  x: "dl",
  X: "dh",
  D: "d$",
  C: "c$",
  Y: "y$",
  s: "cl",
  S: "cc",
};
const OTHER_WAY: Readonly<Record<string, string>> = { f: "F", F: "f", t: "T", T: "t" };

const withVi = (state: LineState, more: Partial<ViState>): LineState =>
  state.vi === undefined ? state : { ...state, vi: { ...state.vi, ...more } };

const timesOver = (units: readonly Unit[], count: number): readonly Unit[] =>
  Array.from({ length: count }, () => units).flat();

/** In command mode the cursor is on a character, not behind the last one. */
export function ontoText(state: LineState): LineState {
  const { cursor, vi } = state;
  const isBehind = vi?.mode === "command" && cursor === toEnd(state) && cursor > toStart(state);
  return isBehind ? { ...state, cursor: cursor - 1 } : state;
}

/** Presses a character in command mode; `press` repeats the keys of an insertion. */
export function pressCommand(
  state: ViLine,
  char: string,
  press: (state: LineState, key: Key) => LineState,
): { state: LineState; effect: LineEffect } {
  const { vi } = state;
  const typed = vi.typed + char;
  const [, first = "", operator = "", second = "", rest = ""] = VI_COMMAND.exec(typed) ?? [];
  const isOpen = rest === "" || /^[fFtT]$/.test(rest) || operator === "" && rest === "r";
  if (isOpen) return { state: withVi(state, { typed }), effect: "none" };
  const line: ViLine = { ...state, vi: { ...vi, typed: "" } };
  const given = first + second === ""
    ? ""
    : `${Math.min(MAX_COUNT, Number(first || 1) * Number(second || 1))}`;
  const result = rest === "." && operator === ""
    ? again(line, given, press)
    : run(line, given, operator, rest);
  if (typeof result === "string") return { state: { ...line, did: "other" }, effect: result };
  const did = operator === "" && "jk".includes(rest) ? "vertical" : "other";
  return { state: ontoText({ ...result, did }), effect: "none" };
}

/** Runs a command with the count `given` (or empty), and saves a change for `.`. */
function run(state: ViLine, given: string, operator: string, rest: string): Result {
  const count = Number(given || 1);
  const command = operator === "" ? SHORTHANDS[rest] ?? rest : operator + rest;
  const [key = "", ...others] = Array.from(command);
  if (!/^[dcy]./.test(command) && !VI_COMMANDS.has(key)) return moved(state, command, count);
  const result = VI_COMMANDS.has(key)
    ? VI_COMMANDS.get(key)!(state, count, others.join(""))
    : operate(state, key, others.join(""), count);
  if (typeof result === "string" || "yujk".includes(key)) return result;
  const memory = { ...result.vi!.memory, command: given + command, keys: [] };
  return withVi(result, { memory });
}

/** Repeats the last change, with its own count or the count `given`. */
function again(
  state: ViLine,
  given: string,
  press: (state: LineState, key: Key) => LineState,
): Result {
  const { command, keys } = state.vi.memory;
  if (command === "") return "bell";
  const text = given === "" ? command : given + command.replace(/^[1-9]\d*/, "");
  const line = press(state, { type: "text", text });
  return line.vi?.mode === "insert" ? leaveInsertion(keys.reduce(press, line)) : line;
}

/** The target of a motion, its key, and a state that remembers its search. */
function motionTo(
  state: ViLine,
  motion: string,
  count: number,
): { state: ViLine; key: string; target: number } | undefined {
  const { units, cursor: from, vi } = state;
  const isAgain = motion === ";" || motion === ",";
  const wanted = /^[fFtT]/.test(motion) ? motion : isAgain ? vi.memory.find : motion;
  const key = motion === "," ? OTHER_WAY[wanted[0] ?? ""] ?? "" : wanted[0] ?? "";
  const target = MOTIONS.get(key)?.({ units, from, count, target: wanted.slice(1) });
  if (target === undefined) return undefined;
  const memory = wanted.length > 1 ? { ...vi.memory, find: wanted } : vi.memory;
  return { state: { ...state, vi: { ...vi, memory } }, key, target };
}

function moved(state: ViLine, motion: string, count: number): Result {
  const found = motionTo(state, motion, count);
  return found === undefined ? "bell" : { ...found.state, cursor: found.target };
}

function operate(before: ViLine, operator: string, motion: string, count: number): Result {
  if (motion === operator) return operateOnLines(before, operator, count);
  const found = motionTo(before, motion, count);
  if (found === undefined) return "bell";
  const { state, key } = found;
  const { units, cursor } = state;
  let { target } = found;
  if (key === "w" || key === "W") {
    // `dw` deletes nothing behind the line, and `cw` no space behind the word.
    const end = lineEndAfter(units, cursor);
    if (end > cursor) target = Math.min(target, end);
    while (operator === "c" && target > cursor + 1 && isBlankUnit(units[target - 1])) target--;
  }
  if ("eEft".includes(key)) target = Math.min(units.length, target + 1);
  const [from, to] = target < cursor ? [target, cursor] : [cursor, target];
  if (from === to) return operator === "c" ? startInsertion(state) : "bell";
  const copied = withKill(state, units.slice(from, to));
  if (operator === "y") return { ...copied, cursor: from };
  const killed = withUnits(copied, from, to, []);
  return operator === "c" ? startInsertion(killed, state.undo.length) : killed;
}

/** `dd`, `cc` and `yy`, with the line feed between the lines and the next one. */
function operateOnLines(state: ViLine, operator: string, count: number): Result {
  const { units } = state;
  const from = toStart(state);
  let to = toEnd(state);
  for (; count > 1 && to < units.length; count--) to = lineEndAfter(units, to + 1);
  const isOnly = from === 0 && to === units.length;
  const copied = withKill(state, [...units.slice(from, to), ...isOnly ? [] : ["\n"]]);
  if (operator === "y") return copied;
  if (operator === "c") return startInsertion(withUnits(copied, from, to, []), state.undo.length);
  const isLast = to === units.length;
  const next = withUnits(copied, isLast ? Math.max(0, from - 1) : from, isLast ? to : to + 1, []);
  return { ...next, cursor: toStart(next) };
}

/** Enters insert mode; the undo steps from `from` on become one. */
function startInsertion(state: LineState, from = state.undo.length): LineState {
  return withVi(state, { mode: "insert", session: { from, entry: state.entry, isRepeated: true } });
}

/** Escape: drops an unfinished command, or ends an insertion, which becomes one step of undo. */
export function leaveInsertion(state: LineState): LineState {
  const { vi, undo, entry } = state;
  if (vi?.mode !== "insert") return { ...withVi(state, { typed: "" }), prefix: "" };
  const { from, entry: startEntry } = vi.session;
  const first = startEntry === entry ? undo[from] : undefined;
  const cursor = Math.max(toStart(state), state.cursor - 1);
  const left = withVi({ ...state, cursor }, { mode: "command" });
  if (first === undefined) return left;
  return { ...left, undo: [...undo.slice(0, from), { units: first.units, cursor: first.cursor }] };
}

export function withInsertedKey(state: LineState, key: Key): LineState {
  const { vi, prefix } = state;
  if (vi?.mode !== "insert" || !vi.session.isRepeated || prefix !== "") return state;
  return withVi(state, { memory: { ...vi.memory, keys: [...vi.memory.keys, key] } });
}

/** Moves a line up or down, or through the history, with the cursor at the start of an entry. */
const steps = (name: "previous-line" | "next-line"): ViCommand => (state, count) => {
  let line: LineState = state;
  for (; count > 0; count--) {
    const next = EDITS[name][0](line);
    if (typeof next === "string") return line === state ? next : line;
    const isEntry = next.entry !== line.entry && next.entry < next.history.length;
    line = { ...next, did: "vertical", ...isEntry && { cursor: 0 } };
  }
  return line;
};

const swapCase: ViCommand = (state, count) => {
  const { units, cursor } = state;
  const to = Math.min(cursor + count, toEnd(state));
  if (to === cursor) return "bell";
  const swapped = units.slice(cursor, to).flatMap((unit): readonly Unit[] => {
    if (typeof unit !== "string") return [unit];
    const upper = unit.toUpperCase();
    return graphemes(unit === upper ? unit.toLowerCase() : upper);
  });
  return withUnits(state, cursor, to, swapped);
};

const replaceChars: ViCommand = (state, count, char) => {
  const to = state.cursor + count;
  if (to > toEnd(state)) return "bell";
  const next = withUnits(state, state.cursor, to, timesOver([char], count));
  return { ...next, cursor: next.cursor - 1 };
};

/** Inserts the last kill; whole lines go below or above the current one. */
const put = (isBehind: boolean): ViCommand => (state, count) => {
  const kill = state.kills[state.yanked.kill];
  if (kill === undefined) return "bell";
  const text = timesOver(kill, count);
  const [start, end] = [toStart(state), toEnd(state)];
  if (kill.length > 1 && kill.at(-1) === "\n") {
    return isBehind
      ? { ...withUnits(state, end, end, ["\n", ...text.slice(0, -1)]), cursor: end + 1 }
      : { ...withUnits(state, start, start, text), cursor: start };
  }
  const at = isBehind ? Math.min(state.cursor + 1, end) : state.cursor;
  const next = withUnits(state, at, at, text);
  return { ...next, cursor: Math.max(0, next.cursor - 1) };
};

const insertAt = (to: (state: ViLine) => number): ViCommand => (state) =>
  startInsertion({ ...state, cursor: to(state) });

const openLine = (isBelow: boolean): ViCommand => (state) => {
  const at = isBelow ? toEnd(state) : toStart(state);
  const next = state.multiline ? withUnits(state, at, at, ["\n"]) : { ...state, cursor: at };
  return startInsertion(isBelow ? next : { ...next, cursor: at }, state.undo.length);
};

const undoTimes: ViCommand = (state, count) => {
  let line = undone(state);
  for (; count > 1 && line !== undefined; count--) line = undone(line) ?? line;
  return line ?? "bell";
};

const VI_COMMANDS: ReadonlyMap<string, ViCommand> = new Map<string, ViCommand>([
  ["i", insertAt(({ cursor }) => cursor)],
  ["a", insertAt((state) => Math.min(toEnd(state), state.cursor + 1))],
  ["I", insertAt(toStart)],
  ["A", insertAt(toEnd)],
  ["o", openLine(true)],
  ["O", openLine(false)],
  ["r", replaceChars],
  ["~", swapCase],
  ["p", put(true)],
  ["P", put(false)],
  ["u", undoTimes],
  ["j", steps("next-line")],
  ["k", steps("previous-line")],
]);
