/** The tables of `/help`, `/keys` and `/tools`: names, and what they are for. @module */

import { actionHelp, type ActionName, type Keymap, keysOf } from "../terminal/line/actions.ts";
import { wrapped } from "../text/wrap.ts";
import { shownKey } from "./shown_keys.ts";

/** Signs that a message may begin with or hold; `more` is said in the long help alone. */
export const HELP_MORE: readonly { name: string; help: string; more?: string }[] = [
  { name: "@PATH", help: "attaches the file, where the @ is typed and not pasted" },
  {
    name: "!COMMAND",
    help: "at the beginning: runs a shell command",
    more: "your next message includes its output",
  },
];
/** The actions whose keys the help lists; `/keys` has them all. */
export const HELP_ACTIONS: readonly ActionName[] = [
  ...["stop", "cancel", "newline", "previous-line", "complete", "search-back", "editor"] as const,
  ...["transcript", "tasks", "next-mode", "suspend"] as const,
];

/** A row for each action that has keys: these, what it does, and its name where it can be rebound. */
export function keyRows(keymap: Keymap, names: readonly ActionName[]): [string, string][] {
  return names.flatMap((name): [string, string][] => {
    const keys = keysOf(keymap, name).map(shownKey).join(", ");
    return keys === "" ? [] : [[keys, actionHelp(name)]];
  });
}

/** Columns of the names in a table; a longer name has a row of its own. */
const NAME_COLUMNS = 15;
/** Narrower terminals have all names in rows of their own, and texts behind this margin below them. */
const MIN_NAMES_COLUMNS = 60;
const NARROW_MARGIN = 6;

/** Rows of names and what they are for. */
export function namesText(
  list: readonly { name: string; description: string }[],
  columns: number,
): string {
  return table(list.map(({ name, description }) => [name, description]), columns);
}

/** Rows of a name and a text; the lines of a text begin below one another. */
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
