/** The short help: the rows below a line that is `?` alone. @module */

import { actionHelp, type ActionName, type Keymap, keysOf } from "../line/actions.ts";
import type { ApproveMode } from "../../../safety/settings.ts";
import { wrapped } from "../../../text/wrap.ts";
import { modeText } from "../../../session/modes.ts";
import { HELP_MORE } from "./help_tables.ts";
import { shownKey } from "../../shown_keys.ts";

/** The actions whose keys are listed. `/keys` lists all of them. */
const SHOWN: readonly ActionName[] = [
  ...["stop", "next-mode", "newline", "search-back", "transcript", "tasks", "editor"] as const,
];

const MIN_HELP_COLUMNS = 14;

/**
 * Returns the rows for `columns`: the current mode, how a line may start, and the first key of the most important
 * actions.
 */
export function shortHelp(keymap: Keymap, columns: number, mode?: ApproveMode): string[] {
  const keys = SHOWN.flatMap((name): [string, string][] => {
    const [key] = keysOf(keymap, name);
    return key === undefined ? [] : [[shownKey(key), actionHelp(name, true)]];
  });
  const more = HELP_MORE.map(({ name, help }) => [name, help]);
  const rows = [["/", "lists the commands"], ...more, ...keys, ["Enter", "the full help"]];
  const width = Math.max(...rows.map(([name = ""]) => name.length));
  const broken = (text: string, indent: number) =>
    wrapped(text, Math.max(MIN_HELP_COLUMNS, columns - indent)).replaceAll(
      "\n",
      `\n${" ".repeat(indent)}`,
    );
  return [
    ...rows.map(([name = "", text = ""]) => `  ${name.padEnd(width)}  ${broken(text, width + 4)}`),
    ...mode === undefined ? [] : [`  ${broken(modeText(mode), 2)}`],
  ].flatMap((row) => row.split("\n"));
}
