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

/** A letter for the class of each unit: blank, word or sign. With `isSpaced`, everything but white space is a word. */
function classesOf(units: readonly Unit[], isSpaced: boolean): string {
  const classOf = (unit: Unit) =>
    isBlankUnit(unit) ? "b" : isSpaced || unit === "_" || isWordUnit(unit) ? "w" : "s";
  return units.map(classOf).join("");
}

const nextWord = (isSpaced: boolean): Motion => ({ units, from: at, count }) => {
  const classes = classesOf(units, isSpaced);
  for (; count > 0; count--) at += /^(?:w+|s+)?b*/.exec(classes.slice(at))![0].length;
  return at;
};

const endOfWord = (isSpaced: boolean): Motion => ({ units, from: at, count }) => {
  const classes = classesOf(units, isSpaced);
  for (; count > 0; count--) at += /^b*(?:w+|s+)?/.exec(classes.slice(at + 1))![0].length;
  return at;
};

const wordBefore = (isSpaced: boolean): Motion => ({ units, from, count }) => {
  const classes = classesOf(units.slice(0, from).toReversed(), isSpaced);
  let back = 0;
  for (; count > 0; count--) back += /^b*(?:w+|s+)?/.exec(classes.slice(back))![0].length;
  return from - back;
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
    const [start, end] = [lineStartBefore(units, from), lineEndAfter(units, from)];
    return start + /^b*/.exec(classesOf(units.slice(start, end), true))![0].length;
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
