/**
 * The text of an input line as a list of units, each edited as one: graphemes, and pastes too large
 * to show. Positions are indexes into that list: no cursor stands within a character. @module
 */

import { graphemes } from "../text/width.ts";
import type { TextPart, TextRange } from "../types/message.ts";

/** One grapheme; or a text with a label to show: a large paste, a long entry, a pasted `@`. */
export type Unit = string | LabelledUnit;

interface LabelledUnit {
  readonly text: string;
  readonly label: string;
  /** The ranges of `text` that were pasted; all of it where left out. */
  readonly pasted?: readonly TextRange[];
}

export interface LinePlace {
  readonly units: readonly Unit[];
  /** An index of `units`, or their number. */
  readonly cursor: number;
}

/** A paste of more lines, or of more characters, is shown as a label. */
const MAX_PASTED_LINES = 20;
const MAX_PASTED_CHARS = 2048;
/** A longer entry of the history is shown as a label, as a paste is. */
const MAX_ENTRY_CHARS = 20_000;

/** The units of a pasted text: one when it is large. */
export const pastedUnits = (text: string): readonly Unit[] =>
  foldedPaste(text) ?? markedUnits(text, [[0, text.length]]);

/** The one unit of a large paste; undefined for others. */
function foldedPaste(text: string): readonly Unit[] | undefined {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  if (lines <= MAX_PASTED_LINES && text.length <= MAX_PASTED_CHARS) return undefined;
  const size = lines > 1 ? `${lines} lines` : `${text.length} characters`;
  return [{ text, label: `[pasted ${size}]` }];
}

/** The units of a text that was entered before, of which `pasted` was pasted: large pastes are one unit again. */
export function entryUnits(text: string, pasted: readonly TextRange[] = []): readonly Unit[] {
  text = text.replace(/\r\n?/g, "\n");
  if (text.length > MAX_ENTRY_CHARS) {
    return [{ text, label: `[${text.length} characters]`, pasted }];
  }
  const units: (readonly Unit[])[] = [];
  let at = 0;
  const upTo = (end: number) => {
    const ranges = pasted.map(([from, to]) => [from - at, to - at] as const);
    units.push(markedUnits(text.slice(at, end), ranges));
  };
  for (const [from, to] of pasted) {
    const folded = from < at ? undefined : foldedPaste(text.slice(from, to));
    if (folded === undefined) continue;
    upTo(from);
    units.push(folded);
    at = to;
  }
  upTo(text.length);
  return units.flat();
}

/** Graphemes; those with an `@` that was pasted are labelled: it alone must not be taken for typed. */
function markedUnits(text: string, pasted: readonly TextRange[]): readonly Unit[] {
  const units: readonly Unit[] = graphemes(text);
  if (pasted.length === 0 || !text.includes("@")) return units;
  let [at, next] = [0, 0];
  return units.map((unit) => {
    if (typeof unit !== "string") return unit;
    while (next < pasted.length && pasted[next]![1] <= at) next++;
    const isPasted = next < pasted.length && pasted[next]![0] <= at;
    at += unit.length;
    return isPasted && unit.includes("@") ? { text: unit, label: unit } : unit;
  });
}

/** The ranges of earlier texts that were pasted, by the text; those that were typed are left out. */
export type PastedRanges = ReadonlyMap<string, readonly TextRange[]>;

/** True for a unit whose label stands for a longer text. */
export function isFolded(unit: Unit): boolean {
  return typeof unit !== "string" && unit.label !== unit.text;
}

/** The text that `units` stand for, with the ranges of it that were pasted, as far as they matter. */
export function textPartOf(units: readonly Unit[]): TextPart {
  const pasted: TextRange[] = [];
  let at = 0;
  for (const unit of units) {
    if (typeof unit === "string") at += unit.length;
    else {
      for (const [from, to] of unit.pasted ?? [[0, unit.text.length]]) {
        pasted.push([at + from, at + to]);
      }
      at += unit.text.length;
    }
  }
  return { type: "text", text: unitsText(units), ...pasted.length > 0 && { pasted } };
}

/**
 * The ranges of `text`, into which another program changed `before`, that were pasted: those outside of
 * what it changed, and all of that where it had some.
 */
export function keptRanges({ text: before, pasted = [] }: TextPart, text: string): TextRange[] {
  const least = Math.min(before.length, text.length);
  let start = 0;
  while (start < least && before[start] === text[start]) start++;
  let tail = 0;
  while (tail < least - start && before.at(-1 - tail) === text.at(-1 - tail)) tail++;
  const [oldEnd, end] = [before.length - tail, text.length - tail];
  const shift = end - oldEnd;
  const head = pasted.filter(([from]) => from < start)
    .map(([from, to]): TextRange => [from, Math.min(to, start)]);
  const last = pasted.filter(([, to]) => to > oldEnd)
    .map(([from, to]): TextRange => [Math.max(from, oldEnd) + shift, to + shift]);
  const isOfPasted = pasted.some(([from, to]) => from < Math.max(oldEnd, start + 1) && to > start);
  return [...head, ...isOfPasted && end > start ? [[start, end] as const] : [], ...last];
}

/** The text that `units` stand for. */
export function unitsText(units: readonly Unit[]): string {
  // Each key asks for all of the line: faster than an array of the texts.
  let text = "";
  for (const unit of units) text += typeof unit === "string" ? unit : unit.text;
  return text;
}

/**
 * `units` with those from `from` to `to` replaced, and the position behind what was inserted.
 * Segments anew only where old and new meet: a mark joins the letter before it.
 */
export function replaceUnits(
  units: readonly Unit[],
  from: number,
  to: number,
  inserted: readonly Unit[],
): LinePlace {
  const joined = units.slice(0, from).concat(inserted, units.slice(to));
  let cursor = from + inserted.length;
  // The later seam first: a change there does not move the earlier one.
  cursor = resegment(joined, cursor, cursor);
  if (inserted.length > 0) cursor = resegment(joined, from, cursor);
  return { units: joined, cursor };
}

/** `first` and `second` as one list. */
export function joinUnits(first: readonly Unit[], second: readonly Unit[]): readonly Unit[] {
  return replaceUnits(first, first.length, first.length, second).units;
}

/** Segments the graphemes around `seam` again; returns the new position of `cursor`. */
function resegment(units: Unit[], seam: number, cursor: number): number {
  if (!mayJoin(units[seam - 1], units[seam])) return cursor;
  const start = seam - 1;
  let end = seam + 1;
  // A row of flags is pairs: all of them change together.
  while (isRegionalIndicator(units[end - 1]) && isRegionalIndicator(units[end])) end++;
  let old: Unit[], fresh: string[];
  do {
    old = units.slice(start, end);
    fresh = graphemes(old.join(""));
    // A last grapheme that has changed may join the next one, in its turn.
  } while (fresh.at(-1) !== old.at(-1) && typeof units[end] === "string" && end++);
  if (fresh.length === old.length && fresh.every((unit, i) => unit === old[i])) return cursor;
  let before = unitsText(units.slice(start, cursor)).length;
  units.splice(start, old.length, ...fresh);
  if (cursor >= end) return cursor + fresh.length - old.length;
  let at = start;
  while (before > 0) before -= (units[at++] as string).length;
  return at;
}

function mayJoin(left: Unit | undefined, right: Unit | undefined): boolean {
  return typeof left === "string" && typeof right === "string" &&
    (left.length > 1 || left > "\xff" || right > "\xff");
}

function isRegionalIndicator(unit: Unit | undefined): boolean {
  return typeof unit === "string" && /^\p{RI}/u.test(unit);
}

/** The beginning of the line of text that holds `at`. */
export function lineStartBefore(units: readonly Unit[], at: number): number {
  return at === 0 ? 0 : units.lastIndexOf("\n", at - 1) + 1;
}

/** The end of the line of text that holds `at`. */
export function lineEndAfter(units: readonly Unit[], at: number): number {
  const end = units.indexOf("\n", at);
  return end === -1 ? units.length : end;
}

/** True for the units of words: letters, digits and marks, as in readline; a paste is a word. */
export function isWordUnit(unit: Unit): boolean {
  if (isFolded(unit)) return true;
  return /^[\p{L}\p{N}\p{M}]/u.test(typeof unit === "string" ? unit : unit.text);
}

/** The beginning of the word that ends at or before the cursor. */
export function wordStart({ units, cursor }: LinePlace, isWord = isWordUnit): number {
  while (cursor > 0 && !isWord(units[cursor - 1]!)) cursor--;
  while (cursor > 0 && isWord(units[cursor - 1]!)) cursor--;
  return cursor;
}

/** The same of the words of Ctrl-W, which white space separates. */
export function spacedWordStart(place: LinePlace): number {
  return wordStart(place, (unit) => typeof unit !== "string" || !/^\s/u.test(unit));
}

/** The end of the word that begins at or after the cursor. */
export function wordEnd({ units, cursor }: LinePlace): number {
  while (cursor < units.length && !isWordUnit(units[cursor]!)) cursor++;
  while (cursor < units.length && isWordUnit(units[cursor]!)) cursor++;
  return cursor;
}
