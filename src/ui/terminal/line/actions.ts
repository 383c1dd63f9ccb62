/** The actions of keys, by name: the table behind help, rebinding and the documentation. @module */

import { didYouMean } from "../../../text/nearest.ts";

/** Name, default keys (`, ` between keys, a space within a sequence), help, and more for the long help. */
type ActionRow = readonly [name: string, keys: string, help: string, more?: string];

const ACTION_ROWS = [
  ["submit", "enter", "send the message; after a \\, add a line"],
  [
    "newline",
    "alt-enter, shift-enter, ctrl-enter, ctrl-j",
    "add a line",
    "while the model works, Alt-Enter sends after the turn",
  ],
  ["cancel", "ctrl-c", "stop the turn, else clear the line; twice at an empty line: quit"],
  ["stop", "escape", "stop the turn", "close a list; twice at an empty line: rewind to a message"],
  ["delete-char-or-leave", "ctrl-d", "delete the character at the cursor; at an empty line: quit"],
  ["complete", "tab", "complete a name; in a list, select the row"],
  ["next-mode", "shift-tab", "switch the mode: ask, auto, plan"],
  ["transcript", "ctrl-o", "show the whole conversation", "/ searches, q closes"],
  ["tasks", "ctrl-t", "show or hide the steps of long work"],
  ["editor", "ctrl-g, ctrl-x ctrl-e", "edit the line in $VISUAL or $EDITOR"],
  ["paste-image", "ctrl-v", "attach the clipboard's image"],
  ["clear-screen", "ctrl-l", "clear the screen"],
  ["suspend", "ctrl-z", "return to the shell; fg continues"],
  ["previous-line", "up, ctrl-p", "a line up; from the first, older messages"],
  ["next-line", "down, ctrl-n", "a line down; from the last, newer messages"],
  ["beginning-of-history", "alt-<", "the oldest message of the history"],
  ["end-of-history", "alt->", "back to the new message"],
  ["search-back", "ctrl-r", "search the history"],
  ["search-forward", "ctrl-s", "search towards newer messages"],
  ["backward-char", "left, ctrl-b", "a character back"],
  ["forward-char", "right, ctrl-f", "a character forward"],
  ["backward-word", "alt-b, alt-left, ctrl-left", "a word back"],
  ["forward-word", "alt-f, alt-right, ctrl-right", "a word forward"],
  ["beginning-of-line", "home, ctrl-a", "the start of the line"],
  ["end-of-line", "end, ctrl-e", "the end of the line"],
  ["beginning-of-text", "ctrl-home", "the start of the text"],
  ["end-of-text", "ctrl-end", "the end of the text"],
  ["backward-delete-char", "backspace, shift-backspace, ctrl-h", "delete the character before"],
  ["delete-char", "delete", "delete the character at the cursor"],
  ["kill-line", "ctrl-k", "cut to the end of the line"],
  ["kill-to-start", "ctrl-u", "cut to the start of the line"],
  ["kill-spaced-word", "ctrl-w", "cut back to white space"],
  ["kill-word", "alt-d, alt-delete, ctrl-delete", "cut to the end of the word"],
  ["backward-kill-word", "alt-backspace, ctrl-backspace", "cut to the start of the word"],
  ["yank", "ctrl-y", "paste the last cut"],
  ["yank-pop", "alt-y", "after ctrl-y: replace it by the cut before"],
  ["transpose-chars", "", "swap two characters"],
  ["transpose-words", "alt-t", "swap two words"],
  ["upcase-word", "alt-u", "make the word upper case"],
  ["downcase-word", "alt-l", "make the word lower case"],
  ["capitalize-word", "alt-c", "capitalize the word"],
  ["undo", "ctrl-_, ctrl-x ctrl-u", "undo the last change"],
] as const satisfies readonly ActionRow[];

export type ActionName = typeof ACTION_ROWS[number][0];

export const ACTIONS: readonly { name: ActionName; keys: string; help: string }[] = ACTION_ROWS
  .map(([name, keys, ...help]) => ({ name, keys, help: help.join("; ") }));

/** Actions whose keys cannot be changed, and these keys. */
const FIXED_ACTIONS: readonly string[] = ["cancel", "stop"];
const FIXED_KEYS: readonly string[] = ["ctrl-c", "escape"];

export const VIM_KEYS: readonly { keys: string; help: string }[] = [
  { keys: "Esc", help: "command mode; drops an unfinished command" },
  { keys: "i a I A", help: "insert before, after, at the line's start, at its end" },
  { keys: "o O", help: "add a line below, above" },
  { keys: "h l, Space", help: "a character back, forward" },
  { keys: "w b e, W B E", help: "words; capitals: words between white space" },
  { keys: "0 ^ $", help: "the line's start, its first letter, its end" },
  { keys: "fX FX tX TX ; ,", help: "to X, back to X, up to X, back up to X; again, the other way" },
  { keys: "j k", help: "a line down, up; then through the history" },
  { keys: "d c y", help: "delete, change, copy to the target of a motion; dd cc yy: the line" },
  { keys: "D C Y", help: "delete, change, copy to the line's end" },
  { keys: "x X s S", help: "delete at, before the cursor; change a character, the line" },
  { keys: "rX ~", help: "replace by X; swap the case" },
  { keys: "p P", help: "paste after, before the cursor" },
  { keys: "u .", help: "undo; repeat the last change" },
  { keys: "1 to 9", help: "a count before a command or a motion, as in 2dw" },
];

export interface Keymap {
  readonly bindings: ReadonlyMap<string, ActionName>;
  /** The commands, such as `/model`, that keys run. */
  readonly commands: ReadonlyMap<string, string>;
  readonly prefixes: ReadonlySet<string>;
  readonly isVim: boolean;
}

const NAMED = new Set(
  ("up down left right home end insert delete pageup pagedown enter tab backspace space escape " +
    "f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12").split(" "),
);
const KEY_ALIASES: Readonly<Record<string, string>> = {
  // Terminals send the same byte.
  "ctrl-i": "tab",
  "ctrl-m": "enter",
  "ctrl-[": "escape",
  "ctrl-?": "backspace",
};

/** The name of a key as the decoder writes it, such as `ctrl-alt-x`; undefined for unknown keys. */
function keyNameOf(text: string): string | undefined {
  const [, prefix = "", rest = ""] =
    /^((?:(?:ctrl|alt|shift)-)*)([^]+)$/.exec(text.toLowerCase()) ?? [];
  const base = KEY_ALIASES[rest] ?? rest;
  const modifiers = ["ctrl-", "alt-", "shift-"].filter((one) => prefix.includes(one));
  const isChar = Array.from(base).length === 1 && base > " ";
  // Shift and a character is another character; a character alone is text.
  if (isChar ? modifiers.length === 0 || modifiers.includes("shift-") : !NAMED.has(base)) return;
  const name = modifiers.join("") + base;
  return KEY_ALIASES[name] ?? name;
}

/** The key, or the sequence of two keys, that `text` names. @throws {SyntaxError} */
function sequenceOf(text: string): string {
  const names = text.trim().split(/\s+/).map(keyNameOf);
  if (names.some((name) => name === undefined) || names.length > 2) {
    const guess = didYouMean(text.toLowerCase(), ACTIONS.flatMap(keysOfRow), "one is ctrl-k or f2");
    throw new SyntaxError(`${JSON.stringify(text)} is not a key: ${guess}`);
  }
  const fixed = names.find((name) => FIXED_KEYS.includes(name!));
  if (fixed) {
    throw new SyntaxError(`${fixed} cannot be rebound: bind another key to the action`);
  }
  return names.join(" ");
}

const keysOfRow = ({ keys }: { keys: string }) => keys === "" ? [] : keys.split(", ");

/** The action that a setting names, or null. @throws {SyntaxError} for any other value */
function actionNamed(key: string, value: unknown): ActionName | null {
  if (value === null) return null;
  const names = ACTIONS.map(({ name }) => name).filter((name) => !FIXED_ACTIONS.includes(name));
  const named = names.find((name) => name === value);
  if (named !== undefined) return named;
  // Any other text may be a secret in the wrong place: it is not printed.
  const isName = typeof value === "string" && /^[a-z-]{1,30}$/.test(value);
  const lists = "docs/keys.md lists them";
  const why = isName
    ? `there is no action ${value}: ${didYouMean(value, names, lists)}`
    : `that is not an action: ${lists}`;
  throw new SyntaxError(`${key} cannot be bound as ${why}`);
}

/** The default keys with the bindings of `own`, such as `{"f2": "editor", "ctrl-t": null}`. @throws {SyntaxError} */
export function keymapOf(own: Readonly<Record<string, unknown>> = {}, isVim = false): Keymap {
  const bindings = new Map<string, ActionName>();
  const commands = new Map<string, string>();
  for (const row of ACTIONS) {
    for (const key of keysOfRow(row)) {
      // In vim mode, Alt and a character are Escape and that character.
      if (!isVim || !/^alt-.$/.test(key)) bindings.set(key, row.name);
    }
  }
  for (const [name, value] of Object.entries(own)) {
    const key = sequenceOf(name);
    const isCommand = typeof value === "string" && /^\/[a-z]/.test(value) && !key.includes(" ");
    if (isCommand) commands.set(key, value);
    const action = isCommand ? null : actionNamed(key, value);
    // The key replaces the default sequences that start with it.
    for (const other of bindings.keys()) {
      if (other.startsWith(`${key} `)) bindings.delete(other);
    }
    if (action === null) bindings.delete(key);
    else bindings.set(key, action);
  }
  const sequences = [...bindings.keys()].filter((key) => key.includes(" "));
  const prefixes = new Set(sequences.map((key) => key.split(" ")[0]!));
  for (const prefix of prefixes) bindings.delete(prefix);
  return { bindings, commands, prefixes, isVim };
}

export const DEFAULT_KEYMAP: Keymap = keymapOf();

export function keysOf({ bindings }: Keymap, name: ActionName): string[] {
  return [...bindings].filter(([, action]) => action === name).map(([key]) => key);
}

/** Returns a key as users write it, such as `Ctrl-X Ctrl-E`. */
export const shownKey = (key: string) =>
  key.replace(/(^|[- ])([a-z])/g, (all) => all.toUpperCase());

/** True if Ctrl-B, which moves the cursor, may move a running command to the background instead. */
export const canMoveCommand = ({ bindings }: Pick<Keymap, "bindings">): boolean =>
  (bindings.get("ctrl-b") ?? "backward-char") === "backward-char";

/** Returns the key of a screen action as users write it, if it has one. Key sequences do not reach the screen. */
export function screenKey(keymap: Keymap, action: ActionName): string | undefined {
  const key = keysOf(keymap, action).find((one) => !one.includes(" "));
  return key && shownKey(key);
}
