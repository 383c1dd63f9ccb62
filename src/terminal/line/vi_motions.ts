/**
 * The motions of vim mode: `(place) -> position`. They end where those of GNU readline's vi mode do;
 * lines of a longer text are separated by white space. Pure. @module
 */

import { isWordUnit, lineEndAfter, lineStartBefore, type Unit } from "../units.ts";
import type { ViMemory } from "./vi_state.ts";

interface MotionPlace {
  units: readonly Unit[];
  from: number;
  count: number;
  /** True behind an operator such as `d`, which may reach behind the last character. */
  isOperator: boolean;
  /** The memory with the character to find. */
  memory: ViMemory;
}

type Motion = (place: MotionPlace) => number;
/** The class of a unit: what separates words, words, signs, and what is behind the text. */
type UnitClass = "blank" | "word" | "sign" | "none";

function classOf(unit: Unit | undefined): UnitClass {
  if (unit === undefined) return "none";
  if (typeof unit === "string" && /^\s/u.test(unit)) return "blank";
  return unit === "_" || isWordUnit(unit) ? "word" : "sign";
}

/** Classes of units by position: with `isSpaced`, all but white space is one word. */
class Words {
  readonly end: number;
  constructor(private readonly units: readonly Unit[], private readonly isSpaced: boolean) {
    this.end = units.length;
  }

  at(position: number): UnitClass {
    const found = classOf(this.units[position]);
    return this.isSpaced && found === "sign" ? "word" : found;
  }

  /** The first position from `from` on that is not of the class `one`. */
  behind(from: number, one: UnitClass): number {
    while (from < this.end && this.at(from) === one) from++;
    return from;
  }
}

/** The text as motions see it: behind an operator, with a blank at its end. */
function motionWords({ units, isOperator }: MotionPlace, isSpaced: boolean): Words {
  return new Words(isOperator ? [...units, " "] : units, isSpaced);
}

const nextWord = (isSpaced: boolean): Motion => (place) => {
  const words = motionWords(place, isSpaced);
  let at = place.from;
  for (let left = place.count; left > 0 && at < words.end - 1; left--) {
    const own = words.at(at);
    if (own !== "blank") at = words.behind(at, own);
    at = words.behind(at, "blank");
  }
  return at;
};

const endOfWord = (isSpaced: boolean): Motion => (place) => {
  const words = motionWords(place, isSpaced);
  let at = place.from;
  for (let left = place.count; left > 0 && at < words.end - 1; left--) {
    if (words.at(at) !== "blank") at++;
    at = words.behind(at, "blank");
    if (at < words.end) at = words.behind(at, words.at(at)) - 1;
  }
  return at;
};

const wordBefore = (isSpaced: boolean): Motion => (place) => {
  const words = motionWords(place, isSpaced);
  let at = place.from;
  for (let left = place.count; left > 0 && at > 0; left--) {
    at--;
    while (at > 0 && words.at(at) === "blank") at--;
    const own = words.at(at);
    while (at > 0 && words.at(at - 1) === own) at--;
    // So it is in readline, whatever the first character is.
    if (at === 1) at = 0;
  }
  return at;
};

/** Looks for a character in the line; a count that is too large goes as far as there are any. */
function charSearch({ units, from, count, memory }: MotionPlace, key: string): number {
  const isBack = key === "F" || key === "T";
  const [start, end] = [lineStartBefore(units, from), lineEndAfter(units, from)];
  let found = from;
  for (let at = from + (isBack ? -1 : 1); at >= start && at < end; at += isBack ? -1 : 1) {
    if (units[at] !== memory.target) continue;
    found = key === "t" ? at - 1 : key === "T" ? at + 1 : at;
    if (--count === 0) break;
  }
  return found;
}

const find = (place: MotionPlace): number => charSearch(place, place.memory.find);
const OTHER_WAY: Readonly<Record<string, string>> = { f: "F", F: "f", t: "T", T: "t" };

const forward: Motion = ({ units, from, count, isOperator }) => {
  const end = lineEndAfter(units, from);
  const last = isOperator ? end : Math.max(lineStartBefore(units, from), end - 1);
  return Math.min(from + count, last);
};

const backward: Motion = ({ units, from, count }) =>
  Math.max(lineStartBefore(units, from), from - count);

function firstLetter({ units, from }: MotionPlace): number {
  let at = lineStartBefore(units, from);
  const end = lineEndAfter(units, from);
  while (at < end && classOf(units[at]) === "blank") at++;
  return at;
}

/** The motions by their keys; those that look for a character take it from the memory. */
export const MOTIONS: ReadonlyMap<string, Motion> = new Map<string, Motion>([
  ["h", backward],
  ["l", forward],
  [" ", forward],
  ["0", ({ units, from }) => lineStartBefore(units, from)],
  ["^", firstLetter],
  ["$", ({ units, from }) => lineEndAfter(units, from)],
  ["w", nextWord(false)],
  ["W", nextWord(true)],
  ["e", endOfWord(false)],
  ["E", endOfWord(true)],
  ["b", wordBefore(false)],
  ["B", wordBefore(true)],
  ["f", find],
  ["F", find],
  ["t", find],
  ["T", find],
  [";", find],
  [",", (place) => charSearch(place, OTHER_WAY[place.memory.find] ?? "")],
]);
