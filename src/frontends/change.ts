/** A change of a file, drawn: its lines with their numbers, and notes below them. @module */

import { count } from "../text/count.ts";
import { oneLine } from "../text/one_line.ts";
import { sanitize } from "../text/sanitize.ts";
import { rowsOf } from "../text/width.ts";
import { wrapped } from "../text/wrap.ts";
import { ADDED, DIM, type Painter, REMOVED, type Style } from "../terminal/style.ts";
import type { ToolExecution } from "../types/event.ts";
import type { Change, ChangeLine, WriteFacts } from "../types/tool.ts";
import { failureRows } from "./progress.ts";

/** The styles of the lines of a change. */
export const DIFF_STYLES = { " ": DIM, "+": ADDED, "-": REMOVED } as const;

/** The lines of a change, safe to show, each with its kind. */
export function changeLines({ lines = [] }: Change): [text: string, kind: ChangeLine["kind"]][] {
  const width = String(lines.reduce((most, { line = 0 }) => Math.max(most, line), 0)).length;
  return lines.map(({ kind, text, line }) => {
    const number = line === undefined ? "" : `${String(line).padStart(width)} `;
    return [`${number}${kind} ${sanitize(text)}`, kind];
  });
}

/** The notes below the lines of a change. */
export function changeNotes({ lines, morePlaces, lineEnd }: Change): string[] {
  return [
    ...(morePlaces > 0 ? [`(and in ${count(morePlaces, "more place")})`] : []),
    ...(lineEnd ? [`(${lineEnd} a line end at the end of the text)`] : []),
    ...(lines?.length === 0 && !lineEnd ? ["(the file holds just this already)"] : []),
  ];
}

/** The notes on how the file of a change was written. */
export function writeNotes(
  { keeps = [], isReindented, linkedTo, inPlace }: WriteFacts = {},
): string[] {
  return [
    ...isReindented ? ["(indented as the file is)"] : [],
    ...keeps.map((one) => `(its ${one === "BOM" ? one : `${one} line endings`} kept)`),
    ...linkedTo === undefined ? [] : [`(the link leads to ${oneLine(linkedTo)})`],
    ...inPlace === undefined ? [] : [`(written in place as ${oneLine(inPlace)})`],
  ];
}

/** The most rows of a change that are shown after a call, and the most characters of each line. */
const MAX_CHANGE_ROWS = 40;
const MAX_CHANGE_LINE_CHARS = 400;

/** The rows that show a change, for a terminal of `columns`; none where its lines are left out. */
export function changeRows(change: Change, columns: number, paint: Painter): string[] {
  if (change.lines === undefined) return [];
  const rows: string[] = [];
  let left = change.lines.length;
  for (const [text, kind] of changeLines(change)) {
    if (rows.length >= MAX_CHANGE_ROWS) break;
    const isLong = text.length > MAX_CHANGE_LINE_CHARS;
    const shown = isLong ? `${text.slice(0, MAX_CHANGE_LINE_CHARS).toWellFormed()}…` : text;
    const style = DIFF_STYLES[kind];
    rows.push(...rowsOf(shown, Math.max(10, columns - 4)).map((row) => paint(`    ${row}`, style)));
    left--;
  }
  const notes = [...(left > 0 ? [`… ${count(left, "more line")}`] : []), ...changeNotes(change)];
  return [...rows, ...notes.map((note) => paint(`    ${note}`, DIM))];
}

/** `text` with its long lines broken, each row in `style`. */
export function paintedRows(text: string, columns: number, style: Style, paint: Painter): string {
  return wrapped(text, columns).split("\n").map((row) => paint(row, style)).join("\n");
}

/** The rows below the line of a call that ended, without colours: its change, or the end of its output. */
export function executionRows(exec: ToolExecution, columns: number): string[] {
  const change = exec.details?.change;
  return change?.lines ? changeRows(change, columns, (text) => text) : failureRows(exec, columns);
}
