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
import { wrapped } from "../../../text/wrap.ts";
import { modeText } from "../../../session/modes.ts";
import type { ApproveMode } from "../../../safety/settings.ts";

/** Signs that a message may start with or contain. */
const SIGNS = [
  ["@PATH", "attaches the file, if the @ is typed, not pasted"],
  ["!COMMAND", "at the start: runs a shell command; your next message includes its output"],
];
/** The actions in both helps. `/keys` lists all of them. */
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
  const keys = table(keyRows(keymap, HELP_ACTIONS), columns);
  return `In a message:\n${table(SIGNS, columns)}\n\nKeys (/keys lists all):\n${keys}`;
}

export function keysText(keymap: Keymap, columns: number): string {
  const commands = [...keymap.commands].map(([key, command]) => [shownKey(key), command]);
  const actions = keyRows(keymap, ACTIONS.map(({ name }) => name));
  const rows = table([...actions, ...commands], columns);
  if (!keymap.isVim) return rows;
  const vim = table(VIM_KEYS.map(({ keys, help }) => [keys, help]), columns);
  return `${rows}\n\nIn vim's command mode:\n${vim}`;
}

/** Returns how a line may start, some keys, and the current mode. */
export function shortHelp(keymap: Keymap, columns: number, mode?: ApproveMode): string[] {
  const keys = keyRows(keymap, HELP_ACTIONS);
  const rows = [["/", "lists the commands"], ...SIGNS, ...keys, ["Enter", "the full help"]];
  const now = mode === undefined ? "" : wrapped(`\n  ${modeText(mode)}`, columns);
  return `${table(rows, columns)}${now}`.split("\n");
}
