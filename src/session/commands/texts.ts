import { oneLine } from "../../text/one_line.ts";

/** Says that there is no `thing`, and suggests the closest one or the command that lists them. */
export function unknownText(thing: string, list: string, meant?: string): string {
  const how = meant === undefined ? `see ${list}` : `did you mean ${oneLine(meant)}?`;
  return `There is no ${oneLine(thing)}: ${how}`;
}

export const MIN_FACTS_COLUMNS = 60;

/** Lays out facts in columns, which may be empty; in a narrow list, as the parts of one text. */
export function factTexts(rows: readonly (readonly string[])[], columns: number): string[] {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]!.length))) ?? [];
  return rows.map((row) =>
    columns < MIN_FACTS_COLUMNS
      ? row.filter(Boolean).join(" · ")
      : row.map((text, at) => text.padEnd(widths[at]!)).filter(Boolean).join("  ").trimEnd()
  );
}

export const takesText = (command: string, takes: readonly string[]): string =>
  `/${command} takes no argument, or one of: ${takes.join(", ")}`;
