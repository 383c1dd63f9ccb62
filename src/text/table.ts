import { wrapped } from "./wrap.ts";

/** The columns of the names in a table. A longer name has a row of its own. */
const NAME_COLUMNS = 15;
/** Narrower terminals have all names in rows of their own, and texts below them with this margin. */
const MIN_NAMES_COLUMNS = 60;
const NARROW_MARGIN = 6;

export function table(rows: readonly (readonly string[])[], columns: number): string {
  const isNarrow = columns < MIN_NAMES_COLUMNS;
  const margin = isNarrow ? NARROW_MARGIN : NAME_COLUMNS + 3;
  return rows.flatMap(([name = "", text = ""]) => {
    const lines = wrapped(text, Math.max(20, columns - margin)).split("\n");
    const label = name.trimEnd();
    const head = isNarrow || label.length > NAME_COLUMNS
      ? [wrapped(`  ${label}`, columns), `${" ".repeat(margin)}${lines[0]}`]
      : [`  ${label.padEnd(NAME_COLUMNS)} ${lines[0]}`];
    return [...head, ...lines.slice(1).map((line) => `${" ".repeat(margin)}${line}`)];
  }).join("\n");
}
