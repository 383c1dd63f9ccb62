/** Converts plain and styled text into rows of cells, and back. @module */

import { type Cell, type CellRow, widthOf } from "./screen/frame.ts";
import { styleEnd } from "./style.ts";
import { sanitizeProse } from "../../text/sanitize.ts";
import { graphemes, graphemeWidth } from "../../text/width.ts";

export const TAB_COLUMNS = 8;

/** Converts text into cells; control and invisible characters become visible signs. */
export function cellsOf(text: string, style: string): Cell[] {
  const shown = sanitizeProse(text).replace(/[\n\t]/g, (char) => char === "\n" ? "\u240a" : " ");
  return graphemes(shown).map((grapheme) => {
    const width = graphemeWidth(grapheme);
    if (width > 0) return { text: grapheme, width, style };
    return { text: `\u25cc${grapheme}`, width: 1, style }; // a circle below a lone mark
  });
}

/** Wraps `text`, which has no line feeds, as a terminal does; at least one row. */
export function styledRows(text: string, columns: number): CellRow[] {
  const rows: Cell[][] = [[]];
  let column = 0;
  let style = "";
  const put = (cell: Cell) => {
    if (column + cell.width > columns) {
      rows.push([]);
      column = 0;
    }
    rows.at(-1)!.push(cell);
    column += cell.width;
  };
  // deno-lint-ignore no-control-regex
  for (const part of text.split(/(\x1b\[[\d;]*m|\t)/)) {
    if (part.startsWith("\x1b")) style = part === "\x1b[m" ? "" : style + part;
    else if (part === "\t") {
      const width = Math.min(TAB_COLUMNS - column % TAB_COLUMNS, Math.max(1, columns - column));
      for (let i = 0; i < width; i++) put({ text: " ", width: 1, style });
    } else for (const cell of cellsOf(part, style)) put(cell);
  }
  return rows;
}

/** One row, which ends with an ellipsis if text is cut off. */
export function styledRow(text: string, columns: number): CellRow {
  const [row = [], more] = styledRows(text, columns);
  if (more === undefined) return row;
  const style = row.at(-1)?.style ?? "";
  return [...styledRows(text, Math.max(1, columns - 1))[0]!, { text: "…", width: 1, style }];
}

/** Wraps `row` behind a `·`, or at spaces, unless that wastes half a row. All rows but the first start with `indent`. */
export function brokenRow(row: CellRow, columns: number, indent: CellRow = []): CellRow[] {
  const rows: CellRow[] = [];
  const front = () => rows.length === 0 ? [] : indent;
  let room = columns;
  let start = 0;
  let afterSpace = 0;
  let afterPart = 0;
  let width = 0;
  row.forEach((cell, at) => {
    const isSpace = cell.width > 0 && cell.text.trim() === "";
    while (width + cell.width > room && at > start) {
      const ends = [afterPart, isSpace ? at : afterSpace];
      const end = ends.find((one) => one - start > columns / 2) ?? at;
      rows.push([...front(), ...row.slice(start, end)]);
      room = columns - widthOf(indent);
      start = end;
      width = widthOf(row.slice(start, at));
    }
    // A space that does not fit is dropped.
    if (isSpace && at === start && at > 0) start = at + 1;
    else width += cell.width;
    if (isSpace) afterSpace = at + 1;
    if (isSpace && row[at - 1]?.text === "·") afterPart = at + 1;
  });
  return [...rows, [...front(), ...row.slice(start)]];
}

export function rowsText(rows: readonly CellRow[]): string {
  return rows.map((row) => {
    let out = "";
    let now = "";
    for (const { text, style } of row) {
      if (style !== now) out += styleEnd(now) + style;
      now = style;
      out += text;
    }
    return `${out}${styleEnd(now)}\n`;
  }).join("");
}
