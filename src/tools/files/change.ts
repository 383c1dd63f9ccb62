/** The {@linkcode Change} of a file: numbered lines of the old and of the new text. @module */

import { strictUtf8Text, utf8Text } from "../../text/utf8.ts";
import { attempt } from "../../attempt.ts";
import { type DiffLine, diffLines } from "../../text/diff.ts";
import type { Change } from "../../types/tool.ts";
import { BOM, dominantEnding, type LineEnding, lineEndsIn } from "./line_endings.ts";
import type { Replacement, TextEdit } from "./text_edit.ts";

/** The maximum size of files that are compared whole, in bytes: that takes 20 ms. */
const MAX_COMPARED_BYTES = 1024 * 1024;
const CONTEXT_LINES = 2;
const MAX_SHOWN_PLACES = 5;
const MAX_CHANGED_LINE_CHARS = 4000;
/** Places further apart, in lines, are compared separately. */
const MAX_SPAN_LINES = 1500;

type Lines = Required<Pick<Change, "lines">> & Pick<Change, "morePlaces" | "lineEnd">;

/** Returns the lines in which the bytes of two files differ; undefined for large files and for binary ones. */
export function comparedWhole(before: Uint8Array, after: Uint8Array): Lines | undefined {
  if (Math.max(before.length, after.length) > MAX_COMPARED_BYTES) return undefined;
  const [was, is] = [decodedBytes(before), decodedBytes(after)];
  if (was === undefined || is === undefined) return undefined;
  return { ...compared(was, is, dominantEnding(was) ?? "\n"), morePlaces: 0 };
}

export function comparedApart({ before, after, count }: TextEdit): Lines {
  const { lines, ...rest } = compared(before, after, "\n", Infinity);
  const unnumbered = lines.map(({ kind, text }) => ({ kind, text }));
  return { ...rest, lines: unnumbered, morePlaces: Math.max(0, count - 1) };
}

/** Returns the lines that an edit changes at its first few places; undefined if they are too long or too far apart. */
export function comparedInPlaces(
  before: string,
  { replacements, insert, count, ending }: TextEdit,
): Lines | undefined {
  const eol = ending === "\r" ? "\r" : "\n";
  const endAfter = (shown: number, lines: number) =>
    linesOn(before, replacements[shown - 1]!.end, lines, eol);
  let shown = Math.min(replacements.length, MAX_SHOWN_PLACES);
  // The rest of the line of the last place belongs to it.
  while (shown < replacements.length && replacements[shown]!.start < endAfter(shown, 0)) shown++;
  // The line may have more replacements than are listed.
  if (shown === replacements.length && count > shown) return undefined;
  const start = linesBack(before, replacements[0]!.start, eol);
  let end = endAfter(shown, CONTEXT_LINES);
  const following = replacements[shown];
  // A line that the next replacement changes is not shown as unchanged.
  if (following && following.start < end) end = before.lastIndexOf(eol, following.start - 1) + 1;
  const was = before.slice(start, end);
  if (shown > 1 && lineEndsIn(was, eol) > MAX_SPAN_LINES) return undefined;
  const is = withInserts(before, replacements.slice(0, shown), insert, start, end);
  const { lines, ...rest } = compared(was, is, ending);
  if (lines.some(({ text }) => text.length > MAX_CHANGED_LINE_CHARS)) return undefined;
  const skipped = lineEndsIn(before, eol, 0, start);
  const numbered = lines.map((one) => ({ ...one, line: one.line + skipped }));
  return { ...rest, lines: numbered, morePlaces: count - shown };
}

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

function linesBack(text: string, at: number, eol: string): number {
  for (let lines = CONTEXT_LINES; lines >= 0 && at >= 0; lines--) {
    at = at === 0 ? -1 : text.lastIndexOf(eol, at - 1);
  }
  return at + 1;
}

function linesOn(text: string, at: number, lines: number, eol: string): number {
  for (; lines >= 0; lines--) {
    const end = text.indexOf(eol, at);
    if (end === -1) return text.length;
    at = end + 1;
  }
  return at;
}

function compared(
  was: string,
  is: string,
  ending: LineEnding,
  context = CONTEXT_LINES,
): { lines: DiffLine[]; lineEnd?: "adds" | "removes" } {
  // An unchanged BOM is not part of a line.
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

/** Returns bytes as text with its BOM; undefined if they are not UTF-8. */
export function decodedBytes(bytes: Uint8Array): string | undefined {
  // Invalid bytes become U+FFFD. The decoder that rejects them takes three times the memory.
  const text = utf8Text(bytes);
  if (!text.includes("\ufffd")) return text;
  return attempt(() => strictUtf8Text(bytes));
}
