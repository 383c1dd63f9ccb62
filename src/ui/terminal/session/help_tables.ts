/** The keys in `/help`, `/keys` and the short help, which is below a line that is `?` alone. @module */

import {
  type ActionName,
  ACTIONS,
  type Keymap,
  keysOf,
  shownKey,
  VIM_KEYS,
} from "../line/actions.ts";
import { table } from "../../../text/table.ts";
import { hangingRows } from "./call_rows.ts";
import { modeText } from "../../../session/modes.ts";
import type { ApproveMode } from "../../../safety/settings.ts";

/** Signs that a message may start with or contain. */
const SIGNS = [
  ["@PATH", "attaches the file (a pasted @ does not)"],
  ["!COMMAND", "at the start: runs a shell command; your next message includes its output"],
];
/** The actions in `/help`, the most used ones first. `/keys` lists all of them. */
const HELP_ACTIONS: readonly ActionName[] = [
  ...["stop", "next-mode", "newline", "search-back", "transcript", "tasks", "editor"] as const,
  ...["cancel", "previous-line", "complete", "suspend"] as const,
];
const MOST_USED = 7;

function keyRows(keymap: Keymap, names: readonly ActionName[] = ACTIONS.map(({ name }) => name)) {
  return names.flatMap((name): [string, string][] => {
    const keys = keysOf(keymap, name).map(shownKey).join(", ");
    return keys === "" ? [] : [[keys, ACTIONS.find((one) => one.name === name)!.help]];
  });
}

/** Returns the part of `/help` below the commands: signs in a message, and some keys. */
export function helpText(keymap: Keymap, columns: number): string {
  const keys = table(keyRows(keymap, HELP_ACTIONS), columns);
  return `In a message:\n${table(SIGNS, columns)}\n\nKeys (/keys lists all):\n${keys}`;
}

export function keysText(keymap: Keymap, columns: number): string {
  const commands = [...keymap.commands].map(([key, command]) => [shownKey(key), command]);
  const rows = table([...keyRows(keymap), ...commands], columns);
  if (!keymap.isVim) return rows;
  const vim = table(VIM_KEYS.map(({ keys, help }) => [keys, help]), columns);
  return `${rows}\n\nIn vim's command mode:\n${vim}`;
}

/** Returns how a line may start, the first key of some actions, and the current mode, each in few words. */
export function shortHelp(keymap: Keymap, columns: number, mode?: ApproveMode): string[] {
  const keys = keyRows(keymap, HELP_ACTIONS.slice(0, MOST_USED))
    .map(([names, help]) => [names.split(", ")[0]!, help]);
  const rows = [["/", "lists the commands"], ...SIGNS, ...keys, ["Enter", "the full help"]];
  const width = Math.max(...rows.map(([name = ""]) => name.length));
  return [
    ...rows.flatMap(([name = "", help = ""]) =>
      hangingRows(`  ${name.padEnd(width)}  `, help.split("; ")[0]!, columns)
    ),
    ...mode === undefined ? [] : hangingRows("  ", modeText(mode), columns),
  ];
}
