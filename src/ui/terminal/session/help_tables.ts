/** The tables of keys in `/help` and `/keys`. @module */

import {
  actionHelp,
  type ActionName,
  ACTIONS,
  type Keymap,
  keysOf,
  VIM_KEYS,
} from "../line/actions.ts";
import { table } from "../../../text/table.ts";
import { shownKey } from "../../shown_keys.ts";

/** Signs that a message may start with or contain. Only the long help shows `more`. */
export const HELP_MORE: readonly { name: string; help: string; more?: string }[] = [
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

/** Returns a row for each action with keys: the keys, the effect, and the action's name if it can be rebound. */
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
  const rows = table(keyRows(keymap, ACTIONS.map(({ name }) => name)), columns);
  if (!keymap.isVim) return rows;
  const vim = table(VIM_KEYS.map(({ keys, help }) => [keys, help]), columns);
  return `${rows}\n\nIn vim's command mode:\n${vim}`;
}
