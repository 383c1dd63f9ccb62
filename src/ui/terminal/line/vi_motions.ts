/** The motions of vim mode: `(place) -> position`, or undefined without a target. Pure. @module */

import { isWordUnit, lineEndAfter, lineStartBefore, type Unit } from "../units.ts";

interface MotionPlace {
  readonly units: readonly Unit[];
  readonly from: number;
  readonly count: number;
  /** The character that `f`, `F`, `t` and `T` look for. */
  readonly target?: string | undefined;
}

type Motion = (place: MotionPlace) => number | undefined;

export function isBlankUnit(unit: Unit | undefined): boolean {
  return typeof unit === "string" && /^\s/u.test(unit);
}

/** The class of a unit. With `isSpaced`, everything but white space is a word. */
function classOf(unit: Unit, isSpaced: boolean): "blank" | "word" | "sign" {
  if (isBlankUnit(unit)) return "blank";
  return isSpaced || unit === "_" || isWordUnit(unit) ? "word" : "sign";
}

function behindClass(units: readonly Unit[], at: number, isSpaced: boolean): number {
  const own = at < units.length && classOf(units[at]!, isSpaced);
  while (at < units.length && classOf(units[at]!, isSpaced) === own) at++;
  return at;
}

function behindBlanks(units: readonly Unit[], at: number): number {
  while (isBlankUnit(units[at])) at++;
  return at;
}

const nextWord = (isSpaced: boolean): Motion => ({ units, from: at, count }) => {
  for (; count > 0 && at < units.length; count--) {
    at = behindBlanks(units, behindClass(units, at, isSpaced));
  }
  return at;
};

const endOfWord = (isSpaced: boolean): Motion => ({ units, from, count }) => {
  let at = from;
  for (; count > 0 && at < units.length; count--) {
    at = behindClass(units, behindBlanks(units, at + 1), isSpaced) - 1;
  }
  return Math.max(from, at);
};

const wordBefore = (isSpaced: boolean): Motion => ({ units, from: at, count }) => {
  for (; count > 0 && at > 0; count--) {
    while (at > 0 && isBlankUnit(units[at - 1])) at--;
    const own = at > 0 && classOf(units[at - 1]!, isSpaced);
    while (at > 0 && classOf(units[at - 1]!, isSpaced) === own) at--;
  }
  return at;
};

const find = (step: 1 | -1, beside: number): Motion => ({ units, from, count, target }) => {
  const [start, end] = [lineStartBefore(units, from), lineEndAfter(units, from)];
  for (let at = from + step; at >= start && at < end; at += step) {
    if (units[at] === target && --count === 0) return at + beside;
  }
};

const forward: Motion = ({ units, from, count }) =>
  Math.min(from + count, lineEndAfter(units, from));

export const MOTIONS: ReadonlyMap<string, Motion> = new Map<string, Motion>([
  ["h", ({ units, from, count }) => Math.max(lineStartBefore(units, from), from - count)],
  ["l", forward],
  [" ", forward],
  ["0", ({ units, from }) => lineStartBefore(units, from)],
  ["^", ({ units, from }) => {
    const start = lineStartBefore(units, from);
    return Math.min(behindBlanks(units, start), lineEndAfter(units, start));
  }],
  ["$", ({ units, from }) => lineEndAfter(units, from)],
  ["w", nextWord(false)],
  ["W", nextWord(true)],
  ["e", endOfWord(false)],
  ["E", endOfWord(true)],
  ["b", wordBefore(false)],
  ["B", wordBefore(true)],
  ["f", find(1, 0)],
  ["F", find(-1, 0)],
  ["t", find(1, -1)],
  ["T", find(-1, 1)],
]);
