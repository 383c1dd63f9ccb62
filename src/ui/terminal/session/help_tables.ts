/** The keys in `/help`, `/keys` and the short help, which is below a line that is `?` alone. @module */

import {
  actionHelp,
  type ActionName,
  ACTIONS,
  type Keymap,
  keysOf,
  shownKey,
  VIM_KEYS,
} from "../line/actions.ts";
import { table } from "../../../text/table.ts";
import { modeText } from "../../../session/modes.ts";
import type { ApproveMode } from "../../../safety/settings.ts";
import { hangingRows } from "./call_rows.ts";

/** Signs that a message may start with or contain. Only the long help shows `more`. */
const HELP_MORE: readonly { name: string; help: string; more?: string }[] = [
  { name: "@PATH", help: "attaches the file, if the @ is typed, not pasted" },
  {
    name: "!COMMAND",
    help: "at the start: runs a shell command",
    more: "your next message includes its output",
  },
];
const HELP_ACTIONS: readonly ActionName[] = [
  ...["stop", "cancel", "newline", "previous-line", "complete", "search-back", "editor"] as const,
  ...["transcript", "tasks", "next-mode", "suspend"] as const,
];

function keyRows(keymap: Keymap, names: readonly ActionName[]): [string, string][] {
  return names.flatMap((name): [string, string][] => {
    const keys = keysOf(keymap, name).map(shownKey).join(", ");
    return keys === "" ? [] : [[keys, actionHelp(name)]];
  });
}

/** Returns the part of `/help` below the commands: signs in a message, and some keys. */
export function helpText(keymap: Keymap, columns: number): string {
  const typed = HELP_MORE.map(({ name, help, more }) => [name, more ? `${help}; ${more}` : help]);
  const keys = keyRows(keymap, HELP_ACTIONS);
  return `In a message:\n${table(typed, columns)}\n\nKeys (/keys lists all):\n${
    table(keys, columns)
  }`;
}

export function keysText(keymap: Keymap, columns: number): string {
  const commands = [...keymap.commands].map(([key, command]) => [shownKey(key), command]);
  const actions = keyRows(keymap, ACTIONS.map(({ name }) => name));
  const rows = table([...actions, ...commands], columns);
  if (!keymap.isVim) return rows;
  const vim = table(VIM_KEYS.map(({ keys, help }) => [keys, help]), columns);
  return `${rows}\n\nIn vim's command mode:\n${vim}`;
}

/** The actions whose keys are listed. `/keys` lists all of them. */
const SHOWN: readonly ActionName[] = [
  ...["stop", "next-mode", "newline", "search-back", "transcript", "tasks", "editor"] as const,
];

/** Returns the current mode, how a line may start, and the first key of the most important actions. */
export function shortHelp(keymap: Keymap, columns: number, mode?: ApproveMode): string[] {
  const keys = SHOWN.flatMap((name): [string, string][] => {
    const [key] = keysOf(keymap, name);
    return key === undefined ? [] : [[shownKey(key), actionHelp(name, true)]];
  });
  const more = HELP_MORE.map(({ name, help }) => [name, help]);
  const rows = [["/", "lists the commands"], ...more, ...keys, ["Enter", "the full help"]];
  const width = Math.max(...rows.map(([name = ""]) => name.length));
  return [
    ...rows.flatMap(([name = "", text = ""]) =>
      hangingRows(`  ${name.padEnd(width)}  `, text, columns)
    ),
    ...mode === undefined ? [] : hangingRows("  ", modeText(mode), columns),
  ].map((row) => row.trimEnd());
}
