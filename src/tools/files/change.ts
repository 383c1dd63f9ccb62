/** The {@linkcode Change} of a file: numbered lines of the old and of the new text. @module */

import { strictUtf8Text, utf8Text } from "../../text/utf8.ts";
import { attempt } from "../../attempt.ts";
import { type DiffLine, diffLines } from "../../text/diff.ts";
import type { Change } from "../../types/tool.ts";
import { BOM, dominantEnding, type LineEnding, lineEndsIn } from "./line_endings.ts";
import type { Replacement, TextEdit } from "./text_edit.ts";

/** Files over this size, in bytes, are not compared whole: at it, that takes 20 ms. */
const MAX_COMPARED_BYTES = 1024 * 1024;
const CONTEXT_LINES = 2;
/** Places beyond this number are only counted. */
const MAX_SHOWN_PLACES = 5;
/** The most characters around a replaced text: nobody reads longer lines. */
const MAX_AROUND_CHARS = 4000;

type Lines = Required<Pick<Change, "lines">> & Pick<Change, "morePlaces" | "lineEnd">;

/** The lines in which the bytes of two files differ; undefined for large ones, and for no text. */
export function comparedWhole(before: Uint8Array, after: Uint8Array): Lines | undefined {
  if (Math.max(before.length, after.length) > MAX_COMPARED_BYTES) return undefined;
  const [was, is] = [decodedBytes(before), decodedBytes(after)];
  if (was === undefined || is === undefined) return undefined;
  return { ...compared(was, is, dominantEnding(was) ?? "\n"), morePlaces: 0 };
}

/** The lines in which the texts of an edit differ, all of them and without numbers. */
export function comparedApart({ before, after, count }: TextEdit): Lines {
  const { lines, ...rest } = compared(before, after, "\n", Infinity);
  const unnumbered = lines.map(({ kind, text }) => ({ kind, text }));
  return { ...rest, lines: unnumbered, morePlaces: Math.max(0, count - 1) };
}

/** The lines that an edit changes, of the first few places; undefined where they are too long. */
export function comparedInPlaces(
  before: string,
  { replacements, insert, count, ending }: TextEdit,
): Lines | undefined {
  const eol = ending === "\r" ? "\r" : "\n";
  const lines: DiffLine[] = [];
  let lineEnd: Change["lineEnd"];
  // The end of the last window.
  let from = 0;
  // The numbers of lines of either text that end before it.
  let [line, newLine] = [0, 0];
  let at = 0;
  while (at < replacements.length && at < MAX_SHOWN_PLACES) {
    const { start, end, next } = windowAt(before, replacements, at, from, eol);
    // The lines may hold more replacements than are listed.
    if (next === replacements.length && count > next) return undefined;
    const changed = replacements.slice(at, next);
    const around = end - start - changed.reduce((sum, one) => sum + one.end - one.start, 0);
    if (around > MAX_AROUND_CHARS) return undefined;
    const was = before.slice(start, end);
    const is = withInserts(before, changed, insert, start, end);
    const skipped = lineEndsIn(before, eol, from, start);
    line += skipped;
    newLine += skipped;
    const part = compared(was, is, ending);
    for (const one of part.lines) {
      lines.push({ ...one, line: one.line + (one.kind === "-" ? line : newLine) });
    }
    lineEnd = part.lineEnd;
    line += lineEndsIn(was, eol);
    newLine += lineEndsIn(is, eol);
    [from, at] = [end, next];
  }
  return { lines, morePlaces: count - at, ...lineEnd && { lineEnd } };
}

/** The range of a text with its replacements made. */
function withInserts(
  text: string,
  replacements: readonly Replacement[],
  insert: string,
  start: number,
  end: number,
): string {
  let at = start;
  let result = "";
  for (const { from, to } of replacements) {
    result += text.slice(at, from) + insert;
    at = to;
  }
  return result + text.slice(at, end);
}

/**
 * The place of the lines around one replacement, and around those after it whose lines meet them,
 * and the first replacement that is not among these; `from` is where the lines before end.
 */
function windowAt(
  text: string,
  replacements: readonly Replacement[],
  first: number,
  from: number,
  eol: string,
): { start: number; end: number; next: number } {
  const start = Math.max(from, linesBack(text, replacements[first]!.start, eol));
  let next = first;
  let end: number;
  let meets: number;
  do {
    const last = replacements[next++]!.end;
    end = linesOn(text, last, CONTEXT_LINES, eol);
    // Past the last place that is shown, what is on the same line still belongs to it.
    meets = next < MAX_SHOWN_PLACES ? end : linesOn(text, last, 0, eol);
  } while (next < replacements.length && replacements[next]!.start < meets);
  const following = replacements[next];
  // A line that the next replacement changes is not shown as one that stays.
  if (following && following.start < end) end = text.lastIndexOf(eol, following.start - 1) + 1;
  return { start, end, next };
}

/** The start of the context lines before the line at a position. */
function linesBack(text: string, at: number, eol: string): number {
  for (let lines = CONTEXT_LINES; lines >= 0 && at >= 0; lines--) {
    at = at === 0 ? -1 : text.lastIndexOf(eol, at - 1);
  }
  return at + 1;
}

/** The end of the `lines` lines after the line at a position. */
function linesOn(text: string, at: number, lines: number, eol: string): number {
  for (; lines >= 0; lines--) {
    const end = text.indexOf(eol, at);
    if (end === -1) return text.length;
    at = end + 1;
  }
  return at;
}

/** The lines in which two texts differ; `ending` is left out of them where all end so. */
function compared(
  was: string,
  is: string,
  ending: LineEnding,
  context = CONTEXT_LINES,
): { lines: DiffLine[]; lineEnd?: "adds" | "removes" } {
  // A BOM that stays is no part of a line.
  if (was.startsWith(BOM) && is.startsWith(BOM)) [was, is] = [was.slice(1), is.slice(1)];
  const isOther = ending === "\r" ? /\n/ : /(?<!\r)\n/;
  const isUniform = ending !== "\n" && !isOther.test(was) && !isOther.test(is);
  const plain = (text: string) => isUniform ? text.replaceAll(ending, "\n") : text;
  const [before, after] = [plain(was), plain(is)];
  const lines = diffLines(before, after, context);
  const ends = after.endsWith("\n");
  if (before === "" || after === "" || before.endsWith("\n") === ends) return { lines };
  return { lines, lineEnd: ends ? "adds" : "removes" };
}

/** Bytes as text, with its BOM; undefined where they are no UTF-8. */
export function decodedBytes(bytes: Uint8Array): string | undefined {
  // Bytes that are no UTF-8 become U+FFFD. The decoder that checks takes three times the memory.
  const text = utf8Text(bytes);
  if (!text.includes("\ufffd")) return text;
  return attempt(() => strictUtf8Text(bytes));
}
