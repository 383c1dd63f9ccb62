/** Draws a change of a file: numbered lines, and notes below them. @module */

import { count } from "../text/count.ts";
import { oneLine } from "../text/one_line.ts";
import { sanitize } from "../text/sanitize.ts";
import { changedWords, commonEnds } from "../text/diff.ts";
import { graphemeWidth, rowsOf } from "../text/width.ts";
import { wrapped } from "../text/wrap.ts";
import { lineStyler, type Span } from "./terminal/markdown/highlight.ts";
import {
  ADDED,
  ADDED_BAND,
  ADDED_WORD,
  DIM,
  type Painter,
  REMOVED,
  REMOVED_BAND,
  REMOVED_WORD,
  type Style,
} from "./terminal/style.ts";
import type { TextRange } from "../types/message.ts";
import type { Change, ChangeLine, WriteFacts } from "../types/tool.ts";

export function changeLines({ lines = [] }: Change): string[] {
  const numbers = numbersOf(lines);
  return lines.map(({ kind, text }, at) => `${numbers[at]}${kind} ${sanitize(text)}`);
}

/** Returns the numbers that lines have after the change, as a padded column; removed lines have none. */
function numbersOf(lines: readonly ChangeLine[]): string[] {
  const numbers = lines.map(({ kind, line }) => kind === "-" ? undefined : line);
  const width = String(Math.max(0, ...numbers.map((one) => one ?? 0))).length;
  return lines.map(({ line }, at) =>
    line === undefined ? "" : `${String(numbers[at] ?? "").padStart(width)} `
  );
}

export function changeNotes({ lines, morePlaces, lineEnd }: Change): string[] {
  return [
    ...(morePlaces > 0 ? [`(and in ${count(morePlaces, "more place")})`] : []),
    ...(lineEnd ? [`(${lineEnd} a line end at the end of the text)`] : []),
    ...(lines?.length === 0 && !lineEnd ? ["(no change)"] : []),
  ];
}

export function writeNotes(
  { keeps = [], isReindented, linkedTo, inPlace }: WriteFacts = {},
): string[] {
  return [
    ...isReindented ? ["(indented like the file)"] : [],
    ...keeps.map((one) => `(its ${one === "BOM" ? one : `${one} line endings`} kept)`),
    ...linkedTo === undefined ? [] : [`(the link points to ${oneLine(linkedTo)})`],
    ...inPlace === undefined ? [] : [`(written in place as ${oneLine(inPlace)})`],
  ];
}

/** The maximum number of rows of a new file after its call; other changes have half of the screen. */
const MAX_NEW_ROWS = 10;
const MAX_CHANGE_LINE_CHARS = 400;
/** The columns before a change, and the minimum width of its text. */
const INDENT = "    ";
const MIN_TEXT_COLUMNS = 8;

const KINDS: Readonly<Record<ChangeLine["kind"], { sign: Style; row: Style; words: Style }>> = {
  " ": { sign: 0, row: 0, words: 0 },
  "+": { sign: ADDED, row: ADDED_BAND, words: ADDED_WORD },
  "-": { sign: REMOVED, row: REMOVED_BAND, words: REMOVED_WORD },
};

/**
 * Returns the rows of a change: all if `isWhole`, otherwise those for `screenRows`; `where` says how to see the
 * rest.
 */
export function changeRows(
  change: Change,
  columns: number,
  paint: Painter,
  isWhole = false,
  { where = "", screenRows = 24 } = {},
): string[] {
  if (change.lines === undefined) return [];
  const rows: string[] = [];
  const isTelling = ({ kind, text }: ChangeLine) => kind !== " " || text.trim() !== "";
  const [first, last] = [change.lines.findIndex(isTelling), change.lines.findLastIndex(isTelling)];
  const lines = change.lines.slice(first, last + 1);
  let left = lines.length;
  const most = change.isNew ? MAX_NEW_ROWS : Math.max(MAX_NEW_ROWS, screenRows >> 1);
  for (const line of drawnLines({ ...change, lines }, isWhole)) {
    // A single line takes no more rows than its number.
    if (!isWhole && rows.length >= most && left > 1) break;
    rows.push(...lineRows(line, columns, paint));
    left--;
  }
  const notes = [
    ...(left > 0 ? [`… ${count(left, "more line")}${where}`] : []),
    ...changeNotes(change),
  ];
  return [...rows, ...notes.map((note) => paint(`${INDENT}${note}`, DIM))];
}

interface DrawnLine {
  kind: ChangeLine["kind"];
  /** Its number, and its sign with a space on either side. */
  number: string;
  text: string;
  words: readonly TextRange[];
  spans: readonly Span[];
}

/** Yields the lines of a change lazily, because often only a few are drawn. */
function* drawnLines({ path, lines = [] }: Change, isWhole: boolean): Generator<DrawnLine> {
  const numbers = numbersOf(lines);
  const language = /[^./\\]*$/.exec(path)![0];
  const stylers = { old: lineStyler(language), new: lineStyler(language) };
  const partners = partnersOf(lines);
  const shown = (at: number) => {
    const text = sanitize(lines[at]?.text ?? "").replaceAll("\t", "    ");
    const isLong = !isWhole && text.length > MAX_CHANGE_LINE_CHARS;
    return isLong ? `${text.slice(0, MAX_CHANGE_LINE_CHARS).toWellFormed()}…` : text;
  };
  for (const [at, { kind }] of lines.entries()) {
    const text = shown(at);
    const partner = partners.get(at);
    const spans = kind === "-" ? stylers.old(text) : stylers.new(text);
    // Unchanged lines belong to the old text, too: a comment may continue through them.
    if (kind === " ") stylers.old(text);
    const words = partner === undefined
      ? undefined
      : kind === "-"
      ? changedWords(text, shown(partner))?.before
      : changedWords(shown(partner), text)?.after;
    yield { kind, number: numbers[at]!, text, words: words ?? [], spans };
  }
}

/** Regions with more pairs of lines have their counterparts in order. */
const MAX_LINE_PAIRS = 2500;

/** Maps each replaced or replacing line to the index of its counterpart, the most alike first. */
function partnersOf(lines: readonly ChangeLine[]): Map<number, number> {
  const partners = new Map<number, number>();
  for (let at = 0; at < lines.length;) {
    const from = at;
    while (lines[at]?.kind === "-") at++;
    const middle = at;
    while (lines[at]?.kind === "+") at++;
    const isFew = (middle - from) * (at - middle) <= MAX_LINE_PAIRS;
    const pairs = lines.slice(from, middle).flatMap(({ text }, n) =>
      lines.slice(middle, at).slice(isFew ? 0 : n, isFew ? undefined : n + 1).map((line, m) => {
        const { head, tail } = commonEnds(text.trim(), line.text.trim());
        return { old: from + n, new: middle + (isFew ? m : n), common: head + tail };
      })
    );
    for (const pair of pairs.sort((a, b) => b.common - a.common)) {
      if (partners.has(pair.old) || partners.has(pair.new)) continue;
      partners.set(pair.old, pair.new).set(pair.new, pair.old);
    }
    if (at === from) at++;
  }
  return partners;
}

function lineRows(line: DrawnLine, columns: number, paint: Painter): string[] {
  const { kind, number } = line;
  const { sign, row } = KINDS[kind];
  const gutter = INDENT.length + number.length + 2;
  const room = Math.max(MIN_TEXT_COLUMNS, columns - gutter);
  return textRows(line, room, paint).map(({ text, width }, at) => {
    const head = at === 0
      ? paint(number, DIM | row) + paint(`${kind} `, sign | row)
      : paint(" ".repeat(gutter - INDENT.length), row);
    const isBand = paint.hasBands && row !== 0;
    const rest = isBand ? paint(" ".repeat(Math.max(0, room - width)), row) : "";
    return `${INDENT}${head}${text}${rest}`;
  });
}

function textRows(
  { kind, text: whole, words, spans }: DrawnLine,
  room: number,
  paint: Painter,
): { text: string; width: number }[] {
  const { row, words: wordStyle } = KINDS[kind];
  const styles = spans.flatMap(({ text, style }) => {
    // Without bands, unchanged lines are dimmed, and changed ones get their colour.
    const own = paint.hasBands ? style : kind === " " ? DIM : 0;
    return new Array<Style>(text.length).fill(own | row);
  });
  for (const [from, to] of words) {
    for (let at = from; at < to; at++) styles[at]! |= wordStyle;
  }
  let start = 0;
  return rowsOf(whole, room, true).map((shown) => {
    const stop = start + shown.length;
    let text = "";
    while (start < stop) {
      let end = start + 1;
      while (end < stop && styles[end] === styles[start]) end++;
      text += paint(whole.slice(start, end), styles[start]!);
      start = end;
    }
    return { text, width: Array.from(shown, graphemeWidth).reduce((sum, one) => sum + one, 0) };
  });
}

export function paintedRows(text: string, columns: number, style: Style, paint: Painter): string {
  return wrapped(text, columns).split("\n").map((row) => paint(row, style)).join("\n");
}
