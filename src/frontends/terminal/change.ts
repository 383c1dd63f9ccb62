/**
 * What an edit or a write changes, as a person reads it: whole lines of the file, numbered.
 *
 * @module
 */

import { secretKind } from "../../permissions/path_table.ts";
import { count } from "../../text/count.ts";
import { type DiffLine, diffLines } from "../../text/diff.ts";
import { sanitize } from "../../text/sanitize.ts";
import { rowsOf } from "../../text/width.ts";
import { DIM, type Painter } from "../../terminal/style.ts";
import { terminalSize } from "../../terminal/tty.ts";
import { reindented } from "../../tools/files/indentation.ts";
import { dominantEnding } from "../../tools/files/line_endings.ts";
import type { ToolExecution } from "../../types/event.ts";
import type { OnWritten } from "../../types/tool.ts";
import { DIFF_STYLES, failureRows } from "../progress.ts";

/** What a call changes in a file. */
export interface Change {
  /** Lines of the file; without numbers, as the call gave them, where they are not known. */
  lines: (Omit<DiffLine, "line"> & { line?: number })[];
  /** In how many further places the same is replaced. */
  more: number;
  /** What becomes of the line end at the end of it. */
  end?: "adds" | "removes";
}

/** Larger files are not compared, in bytes. */
export const MAX_COMPARED = 2 ** 20;
/** Lines around a change. */
const CONTEXT = 2;
/** In so many places a replacement is shown. */
const MAX_PLACES = 5;
/** Lines of a file that are longer, in characters, are no lines to read. */
const MAX_AROUND = 4000;

/**
 * What a call with these arguments changes; undefined when it is no change of text.
 *
 * @param before what the file holds; left out, it is not known
 */
export function changeOf(args: Record<string, unknown>, before?: string): Change | undefined {
  const { content, old_string: old, new_string: replacement } = args;
  if (typeof content === "string" && before !== undefined) {
    // The tool keeps the file's line endings where the content has none of its own.
    const keeps = dominantEnding(before) === "\r\n" && !content.includes("\r");
    return whole(keeps ? before.replaceAll("\r\n", "\n") : before, content, CONTEXT);
  }
  if (typeof old !== "string" || typeof replacement !== "string") return undefined;
  if (old === "" && (before ?? "") === "") return whole("", replacement, CONTEXT);
  const unified = (text: string) =>
    dominantEnding(before ?? "") === "\r\n" ? text.replaceAll("\r\n", "\n") : text;
  const located = before !== undefined && old !== ""
    ? replaced(unified(before), unified(old), unified(replacement), args.replace_all === true)
    : undefined;
  if (located) return located;
  const { lines, ...change } = whole(old, replacement, Infinity);
  return { ...change, lines: lines.map(({ kind, text }) => ({ kind, text })) };
}

function whole(
  before: string,
  after: string,
  context: number,
): Omit<Change, "lines"> & { lines: DiffLine[] } {
  const change = { lines: diffLines(before, after, context), more: 0 };
  const ends = after.endsWith("\n");
  if (before === "" || after === "" || before.endsWith("\n") === ends) return change;
  return { ...change, end: ends ? "adds" : "removes" };
}

/** The lines of `text` in which `old` becomes `replacement`; undefined where they cannot be shown. */
function replaced(
  text: string,
  old: string,
  replacement: string,
  all: boolean,
): Change | undefined {
  let at = text.indexOf(old);
  // The tool finds lines with another indentation, too.
  const fitted = at === -1 ? reindented(text, old, replacement) : undefined;
  if (fitted) {
    ({ at, before: old, after: replacement } = fitted);
    all = false;
  } else if (at === -1 || !all && text.includes(old, at + 1)) return undefined;
  let change: Change = { lines: [], more: 0 };
  let [places, end, line, added] = [0, 0, 0, 0];
  while (at !== -1 && places < MAX_PLACES) {
    const from = end;
    const [start, first] = [Math.max(from, linesBack(text, at)), at];
    const before = places;
    let last;
    do { // those whose lines meet are shown together
      places++;
      last = at + old.length;
      end = linesOn(text, last, CONTEXT);
      at = all ? text.indexOf(old, last) : -1;
    } while (at !== -1 && at < (places < MAX_PLACES ? end : linesOn(text, last, 0)));
    // What is replaced, too, is not shown as what stays.
    if (at !== -1 && at < end) end = text.lastIndexOf("\n", at - 1) + 1;
    const was = text.slice(start, end);
    if (was.length > (places - before) * old.length + MAX_AROUND) return undefined;
    const is = text.slice(start, first) +
      text.slice(first, last).split(old).join(replacement) + text.slice(last, end);
    line += newlines(text.slice(from, start));
    const part = whole(was, is, CONTEXT);
    const [shift, shiftNew] = [line, line + added];
    const lines = part.lines.map((one) => ({
      ...one,
      line: one.line + (one.kind === "-" ? shift : shiftNew),
    }));
    change = { ...part, lines: change.lines.concat(lines) };
    line += newlines(was);
    added += newlines(is) - newlines(was);
  }
  for (; at !== -1; at = text.indexOf(old, at + old.length)) change.more++;
  return change;
}

/** Where the lines before the one at a position begin that are shown with it. */
function linesBack(text: string, at: number): number {
  for (let lines = CONTEXT; lines >= 0 && at >= 0; lines--) at = text.lastIndexOf("\n", at - 1);
  return at + 1;
}

/** Where `lines` lines after the one at a position end. */
function linesOn(text: string, at: number, lines: number): number {
  for (; lines >= 0; lines--) {
    const end = text.indexOf("\n", at);
    if (end === -1) return text.length;
    at = end + 1;
  }
  return at;
}

const newlines = (text: string): number => text.split("\n").length - 1;

/** The lines of a change, safe to show, each with what it is. */
export function changeLines({ lines }: Change): [text: string, kind: DiffLine["kind"]][] {
  const width = String(lines.reduce((most, one) => Math.max(most, one.line ?? 0), 0)).length;
  return lines.map(({ kind, text, line }) => {
    const number = line === undefined ? "" : `${String(line).padStart(width)} `;
    return [`${number}${kind} ${sanitize(text)}`, kind];
  });
}

/** What else there is to say of a change. */
export function changeNotes({ lines, more, end }: Change): string[] {
  return [
    ...(more > 0 ? [`(and in ${count(more, "more place")})`] : []),
    ...(end ? [`(${end} a line end at the end of the text)`] : []),
    ...(lines.length === 0 && !end ? ["(the file holds just this already)"] : []),
  ];
}

/** What a tool wrote, from what it was called with and what there was before. */
export function changeWritten(
  args: Record<string, unknown>,
  { path, before }: Parameters<OnWritten>[0],
): Change | undefined {
  if (before === undefined) return changeOf(args, "");
  // Lines that nobody asked to see may hold what nobody else is to see.
  if (secretKind(path) !== undefined) return changeOf(args);
  const { bytes } = before;
  return changeOf(args, bytes && bytes.length <= MAX_COMPARED ? textOf(bytes) : undefined);
}

/** Keeps what was written last, and shows it with the call that did it. */
export interface ChangeLog {
  onWritten: OnWritten;
  /** The rows for a call that ended: what it wrote, or failed with. */
  rows(exec: ToolExecution): string[];
}

/** A log for a plain terminal. */
export function changeLog(): ChangeLog {
  let written: Parameters<OnWritten>[0] | undefined;
  return {
    onWritten(file) {
      written = file;
    },
    rows(exec) {
      const change = written && changeWritten(exec.arguments, written);
      written = undefined;
      const { columns } = terminalSize();
      return change ? changeRows(change, columns, (text) => text) : failureRows(exec, columns);
    },
  };
}

/** Bytes as text; undefined where they are none. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Of a change so many rows are shown, and so many characters of each line. */
const MAX_ROWS = 40;
const MAX_SHOWN = 400;

/** The rows that show a change, for a terminal of `columns`. */
export function changeRows(change: Change, columns: number, paint: Painter): string[] {
  const rows: string[] = [];
  let left = change.lines.length;
  for (const [text, kind] of changeLines(change)) {
    if (rows.length >= MAX_ROWS) break;
    const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text;
    for (const row of rowsOf(shown, Math.max(10, columns - 4))) {
      rows.push(paint(`    ${row}`, DIFF_STYLES[kind]));
    }
    left--;
  }
  const notes = [...(left > 0 ? [`… ${count(left, "more line")}`] : []), ...changeNotes(change)];
  return [...rows, ...notes.map((note) => paint(`    ${note}`, DIM))];
}
