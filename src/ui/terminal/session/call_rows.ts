/** Rows for finished calls: dot, verb, object and outcome. @module */

import { ADDED, ASKED, BOLD, DIM, type Painter, REMOVED, type Style } from "../style.ts";
import { brokenRow, cellsOf, rowsText, styledRow, styledRows } from "../styled.ts";
import { widthOf } from "../screen/frame.ts";
import { count } from "../../../text/count.ts";
import type { ToolExecution } from "../../../types/event.ts";
import { type CallText, callText, informativeLines } from "../../call_text.ts";
import { limitOfCall } from "../../progress.ts";

export interface RowOptions {
  columns: number;
  paint: Painter;
  where?: string;
  mark?: string;
}

const MOODS: Readonly<Record<CallText["mood"], Style>> = {
  good: ADDED,
  bad: REMOVED,
  refused: ASKED,
};
const MIN_TABLE_COLUMNS = 60;
const VERB_COLUMNS = 7;
const MAX_REASON_ROWS = 3;
/** The maximum rows for each line of a failed command. */
const MAX_ERROR_ROWS = 2;

/** Returns the rows of a call: its title with what the user `decided`, and below it `lines` and its outcome. */
export function callRows(
  exec: ToolExecution,
  options: RowOptions,
  decided = "",
  lines: readonly string[] = [],
): { title: string[]; body: string[] } {
  const text = callText(exec);
  const ending = [text.ending, decided].filter((text) => text !== "").join(" · ");
  // The listed steps contain the current one: it is not repeated.
  const call = { ...text, ending, ...lines.length > 0 && { object: "" } };
  const { done = 0, tasks = 0 } = exec.details?.counts ?? {};
  // The colour of success is that of a plan whose tasks are all done.
  const title = titleRows(call.verb, [call], done < tasks ? { ...options, mark: "●" } : options);
  return { title, body: resultRows(exec, call, options, lines) };
}

export function titleRows(verb: string, calls: readonly CallText[], options: RowOptions): string[] {
  const { columns, paint } = options;
  const isTable = columns >= MIN_TABLE_COLUMNS;
  const { mood, ending } = calls[0]!;
  const head = `${paint(options.mark ?? "●", options.mark ? BOLD : MOODS[mood])} `;
  const name = paint(isTable ? verb.padEnd(VERB_COLUMNS) : verb, BOLD);
  const objects = calls.map(({ object, counts, added, removed }) => {
    const numbers = lineCounts(added, removed, paint);
    const countsText = calls.length > 1 ? ` (${counts})` : object === "" ? counts : ` · ${counts}`;
    const found = counts === "" ? "" : paint(countsText, DIM);
    return `${object}${found}${numbers && `  ${numbers}`}`;
  }).join(paint(" · ", DIM));
  const end = ending === "" ? "" : paint(ending, mood === "good" ? DIM : MOODS[mood]);
  const rows = isTable
    ? hangingRows(`${head}${name} `, objects, columns, end, columns)
    : hangingRows(head, `${name} ${objects}`, columns, end);
  // The end of a row says as much as a dot.
  // deno-lint-ignore no-control-regex
  return rows.map((row) => row.replace(/ · ((?:\x1b\[[\d;]*m)*)$/, "$1"));
}

export function lineCounts(added: number, removed: number, paint: Painter): string {
  const changed = [[added, "+", ADDED], [removed, "−", REMOVED]] as const;
  return changed.filter(([n]) => n > 0).map(([n, sign, style]) => paint(`${sign}${n}`, style))
    .join(" ");
}

function resultRows(
  exec: ToolExecution,
  call: CallText,
  options: RowOptions,
  others: readonly string[],
): string[] {
  const { columns, paint, where = "" } = options;
  const below = (rows: readonly string[]) => rowsBelow(rows, options);
  const room = Math.max(10, columns - 4);
  const few = (text: string, most: number) => {
    const rows = hangingRows("", text, room);
    if (rows.length <= most) return rows;
    const last = `${rows[most - 1]}${paint(" …", DIM)}`;
    return [...rows.slice(0, most - 1), rowText(styledRow(last, room))];
  };
  if (call.reason !== "") {
    return below(few(paint(call.reason, DIM), MAX_REASON_ROWS));
  }
  const lines = informativeLines(exec).map((line) => {
    if (typeof line === "string") return call.mood === "bad" ? line : paint(line, DIM);
    return paint(`… ${count(line, "more line")}${where}`, DIM);
  });
  const shown = [...others, ...lines];
  const limit = limitOfCall(exec) ?? "";
  const why = limit && hangingRows("", paint(limit, DIM), room);
  const rows = (line: string) =>
    call.mood === "bad" ? few(line, MAX_ERROR_ROWS) : [rowText(styledRow(line, room))];
  return below([...shown.flatMap(rows), ...why]);
}

export function rowsBelow(rows: readonly string[], { paint }: RowOptions): string[] {
  const bar = paint("└", DIM);
  return rows.map((row, at) => `${at === 0 ? `  ${bar} ` : "    "}${row}`);
}

const cellRow = (text: string) => styledRows(text, Infinity)[0]!;
const rowText = (row: ReturnType<typeof cellRow>) => rowsText([row]).slice(0, -1);

/** Puts `text` after `head`, in rows of `columns`. `end` stays whole: after the text, ending at `endAt`, or below. */
export function hangingRows(
  head: string,
  text: string,
  columns: number,
  end = "",
  endAt = 0,
): string[] {
  const indent = widthOf(cellRow(head));
  const room = Math.max(8, columns - indent);
  const rows = brokenRow(cellRow(text), room);
  const used = widthOf(rows.at(-1)!) + widthOf(cellRow(end));
  if (end !== "" && used + 2 > room) rows.push(...brokenRow(cellRow(end), room));
  else if (end !== "") {
    const gap = Math.max(2, endAt - indent - used);
    rows.push([...rows.pop()!, ...cellRow(" ".repeat(gap) + end)]);
  }
  return rows.map((row, at) =>
    at === 0 ? `${head}${rowText(row)}` : rowText([...cellsOf(" ".repeat(indent), ""), ...row])
  );
}
