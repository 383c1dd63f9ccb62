/** The text of a line as units, each edited as one. The cursor is an index of them, never within a character. @module */

import { graphemes } from "../../text/width.ts";
import type { TextPart, TextRange } from "../../types/message.ts";

/** A grapheme; or a text behind a label, which is inert: an `@` in it names no file. */
export type Unit = string | LabelledUnit;

interface LabelledUnit {
  readonly text: string;
  readonly label: string;
}

export interface LinePlace {
  readonly units: readonly Unit[];
  /** An index of `units`, or their number. */
  readonly cursor: number;
}

/** An earlier text, with the ranges of it that were pasted if there are any. */
export type HistoryEntry = string | Pick<TextPart, "text" | "pasted">;

export const entryText = (entry: HistoryEntry): string =>
  typeof entry === "string" ? entry : entry.text;

/** A paste of more lines or characters is shown as a label. */
const MAX_PASTED_LINES = 20;
const MAX_PASTED_CHARS = 2048;
/** A longer entry of the history is shown as a label. */
const MAX_ENTRY_CHARS = 20_000;

/** The units of a pasted text: one label if it is large; otherwise graphemes, each `@` inert. */
export function pastedUnits(text: string): readonly Unit[] {
  const lines = text.replace(/\n$/, "").split("\n").length;
  if (lines <= MAX_PASTED_LINES && text.length <= MAX_PASTED_CHARS) {
    return graphemes(text).map((unit) => unit.includes("@") ? { text: unit, label: unit } : unit);
  }
  const size = lines > 1 ? `${lines} lines` : `${text.length} characters`;
  return [{ text, label: `[pasted ${size}]` }];
}

/** The units of an earlier text: an `@`, or a first character, that was pasted stays inert. */
export function entryUnits(entry: HistoryEntry): readonly Unit[] {
  const text = entryText(entry).replace(/\r\n?/g, "\n");
  const { pasted = [] } = typeof entry === "string" ? {} : entry;
  const [start, end] =
    pasted.find(([start, end]) => isFolded(pastedUnits(text.slice(start, end))[0] ?? "")) ?? [];
  if (start !== undefined) {
    const part = (from: number, to?: number) => ({
      text: text.slice(from, to),
      pasted: pasted.flatMap(([a, b]) => a < from ? [] : [[a - from, b - from] as const]),
    });
    const [before, after] = [part(0, start), part(end!)].map(entryUnits);
    return [...before!, ...pastedUnits(text.slice(start, end)), ...after!];
  }
  if (text.length > MAX_ENTRY_CHARS) return [{ text, label: `[${text.length} characters]` }];
  let at = 0;
  return graphemes(text).map((unit) => {
    const from = at;
    at += unit.length;
    const isInert = (from === 0 || unit.includes("@")) &&
      pasted.some(([start, end]) => start <= from && from < end);
    return isInert ? { text: unit, label: unit } : unit;
  });
}

export function isFolded(unit: Unit): boolean {
  return typeof unit !== "string" && unit.label !== unit.text;
}

/** The text of `units` as a part of a message, with the ranges that are inert. */
export function textPartOf(units: readonly Unit[]): TextPart {
  const pasted: TextRange[] = [];
  let at = 0;
  for (const unit of units) {
    const { length } = unitText(unit);
    if (typeof unit !== "string") pasted.push([at, at + length]);
    at += length;
  }
  return { type: "text", text: unitsText(units), ...pasted.length > 0 && { pasted } };
}

const unitText = (unit: Unit): string => typeof unit === "string" ? unit : unit.text;

export function unitsText(units: readonly Unit[]): string {
  // Every key asks for the whole line: a loop is faster than `map` and `join`.
  let text = "";
  for (const unit of units) text += unitText(unit);
  return text;
}

/** Replaces the units from `from` to `to`; the cursor is behind the new ones. Graphemes at the seams are found again. */
export function replaceUnits(
  units: readonly Unit[],
  from: number,
  to: number,
  inserted: readonly Unit[],
): LinePlace {
  const joined = units.slice(0, from).concat(inserted, units.slice(to));
  const cursor = from + inserted.length;
  const isApart = [from, cursor].every((seam) => !mayJoin(joined[seam - 1], joined[seam]));
  return isApart ? { units: joined, cursor } : resegmented(joined, cursor);
}

function resegmented(units: readonly Unit[], cursor: number): LinePlace {
  const fresh: Unit[] = [];
  let run = "";
  for (const unit of units) {
    if (typeof unit === "string") run += unit;
    else {
      fresh.push(...graphemes(run), unit);
      run = "";
    }
  }
  fresh.push(...graphemes(run));
  let before = unitsText(units.slice(0, cursor)).length;
  let at = 0;
  while (before > 0) before -= unitText(fresh[at++]!).length;
  return { units: fresh, cursor: at };
}

function mayJoin(left: Unit | undefined, right: Unit | undefined): boolean {
  return typeof left === "string" && typeof right === "string" &&
    (left.length > 1 || left > "\xff" || right > "\xff");
}

export function joinUnits(first: readonly Unit[], second: readonly Unit[]): readonly Unit[] {
  return replaceUnits(first, first.length, first.length, second).units;
}

export function lineStartBefore(units: readonly Unit[], at: number): number {
  return at === 0 ? 0 : units.lastIndexOf("\n", at - 1) + 1;
}

export function lineEndAfter(units: readonly Unit[], at: number): number {
  const end = units.indexOf("\n", at);
  return end === -1 ? units.length : end;
}

/** True for letters, digits and marks, as in readline, and for a folded paste. */
export function isWordUnit(unit: Unit): boolean {
  return isFolded(unit) || /^[\p{L}\p{N}\p{M}]/u.test(unitText(unit));
}

export function wordStart({ units, cursor }: LinePlace, isWord = isWordUnit): number {
  while (cursor > 0 && !isWord(units[cursor - 1]!)) cursor--;
  while (cursor > 0 && isWord(units[cursor - 1]!)) cursor--;
  return cursor;
}

export function spacedWordStart(place: LinePlace): number {
  return wordStart(place, (unit) => typeof unit !== "string" || !/^\s/u.test(unit));
}

export function wordEnd({ units, cursor }: LinePlace): number {
  while (cursor < units.length && !isWordUnit(units[cursor]!)) cursor++;
  while (cursor < units.length && isWordUnit(units[cursor]!)) cursor++;
  return cursor;
}
