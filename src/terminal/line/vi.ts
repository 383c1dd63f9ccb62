/**
 * Vim mode: the motions, operators, counts and commands that people use on a message of a few lines.
 * `(state, key) -> state`, or an effect beyond it. Pure. @module
 */

import { graphemes } from "../../text/width.ts";
import { lineEndAfter, type Unit } from "../units.ts";
import { EDITS, toEnd, toStart, withKill } from "./edit.ts";
import type { Key } from "./keys.ts";
import { type LineEffect, type LineState, undone, withUnits } from "./state.ts";
import { isBlankUnit, MOTIONS } from "./vi_motions.ts";
import type { ViState } from "./vi_state.ts";

/** A line in vim mode. */
type ViLine = LineState & { readonly vi: ViState };
type Result = LineState | LineEffect;
type ViCommand = (state: ViLine, count: number, char: string) => Result;

/** The most that a count counts. */
const MAX_COUNT = 999;
/** A command: a count, an operator, a count of its motion, and the rest. */
const VI_COMMAND = /^((?:[1-9]\d*)?)([dcy]?)((?:[1-9]\d*)?)([^]*)$/;
/** Commands that are an operator and its motion. */
const SHORTHANDS: Readonly<Record<string, string>> = {
  ...{ x: "dl", X: "dh", D: "d$", C: "c$", Y: "y$", s: "cl", S: "cc" },
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

/** A character in command mode; `press` presses the keys of an insertion again. */
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

/** Runs a command with the count that is `given`; a change is remembered for `.`. */
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

/** The last change again, with its own count or the one that is `given`. */
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

/** Where a motion leads, as the key of what is done and the state that remembers a search. */
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

/** `d`, `c` or `y` and a motion. */
function operate(before: ViLine, operator: string, motion: string, count: number): Result {
  if (motion === operator) return operateOnLines(before, operator, count);
  const found = motionTo(before, motion, count);
  if (found === undefined) return "bell";
  const { state, key } = found;
  const { units, cursor } = state;
  let { target } = found;
  if (key === "w" || key === "W") {
    // A word's deletion ends with its line, and `cw` leaves the space behind the word.
    const end = lineEndAfter(units, cursor);
    if (end > cursor) target = Math.min(target, end);
    while (operator === "c" && target > cursor + 1 && isBlankUnit(units[target - 1])) target--;
  }
  if ("eEft".includes(key)) target = Math.min(units.length, target + 1);
  const [from, to] = target < cursor ? [target, cursor] : [cursor, target];
  if (from === to) return operator === "c" ? startInsertion(state) : "bell";
  const kept = withKill(state, units.slice(from, to));
  if (operator === "y") return { ...kept, cursor: from };
  const killed = withUnits(kept, from, to, []);
  return operator === "c" ? startInsertion(killed, state.undo.length) : killed;
}

/** `dd`, `cc` and `yy`, with what separates the lines from others, where there are any. */
function operateOnLines(state: ViLine, operator: string, count: number): Result {
  const { units } = state;
  const from = toStart(state);
  let to = toEnd(state);
  for (; count > 1 && to < units.length; count--) to = lineEndAfter(units, to + 1);
  const isOnly = from === 0 && to === units.length;
  const kept = withKill(state, [...units.slice(from, to), ...isOnly ? [] : ["\n"]]);
  if (operator === "y") return kept;
  if (operator === "c") return startInsertion(withUnits(kept, from, to, []), state.undo.length);
  const isLast = to === units.length;
  const next = withUnits(kept, isLast ? Math.max(0, from - 1) : from, isLast ? to : to + 1, []);
  return { ...next, cursor: toStart(next) };
}

/** Insert mode, until Escape; its changes are one step of undo from `from` on. */
function startInsertion(state: LineState, from = state.undo.length): LineState {
  return withVi(state, { mode: "insert", session: { from, entry: state.entry, isRepeated: true } });
}

/** Escape: an unfinished command is dropped; an insertion ends, and can be undone as one. */
export function leaveInsertion(state: LineState): LineState {
  const { vi, undo, entry } = state;
  if (vi?.mode !== "insert") return { ...withVi(state, { typed: "" }), prefix: "" };
  const { from, entry: began } = vi.session;
  const first = began === entry ? undo[from] : undefined;
  const cursor = Math.max(toStart(state), state.cursor - 1);
  const left = withVi({ ...state, cursor }, { mode: "command" });
  if (first === undefined) return left;
  return { ...left, undo: [...undo.slice(0, from), { units: first.units, cursor: first.cursor }] };
}

/** `state` with a key of an insertion, which `.` presses again. */
export function withInsertedKey(state: LineState, key: Key): LineState {
  const { vi, prefix } = state;
  if (vi?.mode !== "insert" || !vi.session.isRepeated || prefix !== "") return state;
  return withVi(state, { memory: { ...vi.memory, keys: [...vi.memory.keys, key] } });
}

/** Goes a line up or down, and through the history, whose entries are shown from their beginning. */
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

/** Puts in what was deleted or copied; whole lines below or above the one with the cursor. */
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

/** The commands that are no motions and no operators, by their keys. */
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
