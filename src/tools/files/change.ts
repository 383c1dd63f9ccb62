/** The {@linkcode Change} of a file: numbered lines of the old and of the new text. @module */

import { strictUtf8Text, utf8Text } from "../../text/utf8.ts";
import { attempt } from "../../attempt.ts";
import { type DiffLine, diffLines } from "../../text/diff.ts";
import type { Change } from "../../types/tool.ts";
import { BOM, dominantEnding, type LineEnding } from "./line_endings.ts";
import type { TextEdit } from "./text_edit.ts";

/** The maximum size of files that are compared whole, in bytes: that takes 20 ms. */
const MAX_COMPARED_BYTES = 1024 * 1024;
const CONTEXT_LINES = 2;
/** The maximum number of lines of an edit that are shown in the file, and of characters of each. */
const MAX_CHANGED_LINES = 1000;
const MAX_CHANGED_LINE_CHARS = 4000;

type Lines = Required<Pick<Change, "lines">> & Pick<Change, "morePlaces" | "lineEnd">;

/** Returns the lines in which the bytes of two files differ; undefined for large files and for binary ones. */
export function comparedWhole(before: Uint8Array, after: Uint8Array): Lines | undefined {
  if (Math.max(before.length, after.length) > MAX_COMPARED_BYTES) return undefined;
  const [was, is] = [decodedBytes(before), decodedBytes(after)];
  if (was === undefined || is === undefined) return undefined;
  return { ...compared(was, is, dominantEnding(was) ?? "\n"), morePlaces: 0 };
}

/** Returns the lines that an edit changes in a file; of many or long ones, those of its own two texts. */
export function comparedEdit(file: Uint8Array, edit: TextEdit, isSecret: boolean): Lines {
  const whole = isSecret ? undefined : comparedWhole(file, edit.bytes);
  const isShort = whole && whole.lines.length <= MAX_CHANGED_LINES &&
    whole.lines.every(({ text }) => text.length <= MAX_CHANGED_LINE_CHARS);
  if (isShort) return whole;
  const { lines, ...rest } = compared(edit.before, edit.after, "\n", Infinity);
  const unnumbered = lines.map(({ kind, text }) => ({ kind, text }));
  return { ...rest, lines: unnumbered, morePlaces: edit.count - 1 };
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
