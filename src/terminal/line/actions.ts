/** The actions that keys have, by name: the table that help, rebinding and documents derive from. @module */

import { didYouMean } from "../../text/nearest.ts";

interface ActionRow {
  name: string;
  /** The keys that it has by default, separated by commas; the keys of a sequence by a space. Empty for none. */
  keys: string;
  help: string;
  /** What the help says beside that where it has room. */
  more?: string;
  /** True where its keys are nobody's to change. */
  isFixed?: true;
}

/** All actions, in the order of `/keys`. */
export const ACTIONS = [
  { name: "submit", keys: "enter", help: "send the message; after a \\, a new line" },
  { name: "newline", keys: "alt-enter, shift-enter, ctrl-enter, ctrl-j", help: "a new line" },
  {
    name: "cancel",
    keys: "ctrl-c",
    help: "stop the turn; else clear the line; at an empty line, pressed twice, leave",
    isFixed: true,
  },
  {
    name: "stop",
    keys: "escape",
    help: "stop the turn",
    more: "close a list; at an empty line, pressed twice, go back to a message",
    isFixed: true,
  },
  {
    name: "delete-char-or-leave",
    keys: "ctrl-d",
    help: "delete the character at the cursor; at an empty line, leave",
  },
  { name: "complete", keys: "tab", help: "complete a name; in a list, take the row" },
  { name: "next-mode", keys: "shift-tab", help: "the next mode: ask, edits, auto, plan" },
  {
    name: "transcript",
    keys: "ctrl-o",
    help: "the whole conversation, nothing folded",
    more: "/ searches in it, q leaves it",
  },
  { name: "tasks", keys: "ctrl-t", help: "show the steps of long work, or hide them" },
  {
    name: "editor",
    keys: "ctrl-g, ctrl-x ctrl-e",
    help: "edit the line in $VISUAL or $EDITOR",
  },
  {
    name: "paste-image",
    keys: "ctrl-v",
    help: "attach the clipboard's image",
  },
  { name: "clear-screen", keys: "ctrl-l", help: "clear the screen" },
  { name: "suspend", keys: "ctrl-z", help: "back to the shell; fg goes on" },
  {
    name: "previous-line",
    keys: "up, ctrl-p",
    help: "a line up; from the first, what was typed before",
  },
  {
    name: "next-line",
    keys: "down, ctrl-n",
    help: "a line down; from the last, what was typed after",
  },
  { name: "beginning-of-history", keys: "alt-<", help: "the oldest entry of the history" },
  { name: "end-of-history", keys: "alt->", help: "back to what is being written" },
  { name: "search-back", keys: "ctrl-r", help: "search in the history" },
  { name: "search-forward", keys: "ctrl-s", help: "search towards newer entries" },
  { name: "backward-char", keys: "left, ctrl-b", help: "a character back" },
  { name: "forward-char", keys: "right, ctrl-f", help: "a character forward" },
  { name: "backward-word", keys: "alt-b, alt-left, ctrl-left", help: "a word back" },
  { name: "forward-word", keys: "alt-f, alt-right, ctrl-right", help: "a word forward" },
  { name: "beginning-of-line", keys: "home, ctrl-a", help: "the beginning of the line" },
  { name: "end-of-line", keys: "end, ctrl-e", help: "the end of the line" },
  { name: "beginning-of-text", keys: "ctrl-home", help: "the beginning of the text" },
  { name: "end-of-text", keys: "ctrl-end", help: "the end of the text" },
  {
    name: "backward-delete-char",
    keys: "backspace, shift-backspace, ctrl-h",
    help: "delete the character before the cursor",
  },
  { name: "delete-char", keys: "delete", help: "delete the character at the cursor" },
  { name: "kill-line", keys: "ctrl-k", help: "cut to the end of the line" },
  { name: "kill-to-start", keys: "ctrl-u", help: "cut to the beginning of the line" },
  { name: "kill-spaced-word", keys: "ctrl-w", help: "cut back to white space" },
  { name: "kill-word", keys: "alt-d, alt-delete, ctrl-delete", help: "cut to the end of the word" },
  {
    name: "backward-kill-word",
    keys: "alt-backspace, ctrl-backspace",
    help: "cut to the beginning of the word",
  },
  { name: "yank", keys: "ctrl-y", help: "paste what was cut" },
  { name: "yank-pop", keys: "alt-y", help: "after ctrl-y: paste what was cut before that" },
  { name: "transpose-chars", keys: "", help: "swap two characters" },
  { name: "transpose-words", keys: "alt-t", help: "swap two words" },
  { name: "upcase-word", keys: "alt-u", help: "make the word upper case" },
  { name: "downcase-word", keys: "alt-l", help: "make the word lower case" },
  { name: "capitalize-word", keys: "alt-c", help: "begin the word with a capital" },
  { name: "undo", keys: "ctrl-_, ctrl-x ctrl-u", help: "undo the last change" },
] as const satisfies readonly ActionRow[];

export type ActionName = typeof ACTIONS[number]["name"];

/** What the action `name` does: all of it, or in a few words. */
export function actionHelp(name: ActionName, isShort = false): string {
  const rows: readonly ActionRow[] = ACTIONS;
  const { help, more } = rows.find((one) => one.name === name)!;
  return isShort || more === undefined ? help : `${help}; ${more}`;
}

/** The keys of vim's command mode, which are not rebound. */
export const VIM_KEYS: readonly { keys: string; help: string }[] = [
  { keys: "Esc", help: "command mode; in it, an unfinished command is dropped" },
  { keys: "i a I A", help: "insert before, after, at the line's start, at its end" },
  { keys: "o O", help: "a new line below, above" },
  { keys: "h l, Space", help: "a character back, forward" },
  { keys: "w b e, W B E", help: "words; with capitals, those that white space separates" },
  { keys: "0 ^ $", help: "the line's start, its first letter, its end" },
  { keys: "fX FX tX TX ; ,", help: "to X, back to X, up to X, back up to X; again, the other way" },
  { keys: "j k", help: "a line down, up; then through the history" },
  { keys: "d c y", help: "delete, change, copy to where a motion leads; dd cc yy: the line" },
  { keys: "D C Y", help: "delete, change, copy to the line's end" },
  { keys: "x X s S", help: "delete at, before the cursor; change a character, the line" },
  { keys: "rX ~", help: "replace by X; swap the case" },
  { keys: "p P", help: "paste what was deleted or copied, after or before the cursor" },
  { keys: "u .", help: "undo; the last change again" },
  { keys: "1 to 9", help: "a count before a command or a motion, as in 2dw" },
];

/** The meaning of keys, and the mode that a message begins in. */
export interface Keymap {
  /** The actions by keys, such as `ctrl-a` and `ctrl-x ctrl-e`. */
  readonly bindings: ReadonlyMap<string, ActionName>;
  /** The keys that begin a sequence. */
  readonly prefixes: ReadonlySet<string>;
  readonly isVim: boolean;
}

/** Keys that are no characters. */
const NAMED = new Set(
  ("up down left right home end insert delete pageup pagedown enter tab backspace space escape " +
    "f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12").split(" "),
);
const KEY_ALIASES: Readonly<Record<string, string>> = {
  "esc": "escape",
  "return": "enter",
  "del": "delete",
  "ins": "insert",
  "pgup": "pageup",
  "pgdn": "pagedown",
  // The same byte.
  "ctrl-i": "tab",
  "ctrl-m": "enter",
  "ctrl-[": "escape",
  "ctrl-?": "backspace",
};

/** The name of a key as the decoder writes it, such as `ctrl-alt-x`; undefined where it is none. */
function keyNameOf(text: string): string | undefined {
  const [, held = "", rest = ""] = /^((?:(?:ctrl|alt|shift)-)*)([^]+)$/.exec(text.toLowerCase()) ??
    [];
  const base = KEY_ALIASES[rest] ?? rest;
  const modifiers = ["ctrl-", "alt-", "shift-"].filter((one) => held.includes(one));
  const isChar = Array.from(base).length === 1 && base > " ";
  // Shift and a character is another character; a character alone is typed.
  if (isChar ? modifiers.length === 0 || modifiers.includes("shift-") : !NAMED.has(base)) return;
  const name = modifiers.join("") + base;
  return KEY_ALIASES[name] ?? name;
}

const FIXED: readonly string[] = ACTIONS.flatMap((row) => "isFixed" in row ? [row.keys] : []);

/** The sequence of keys that `text` names. @throws {SyntaxError} where it names none. */
function sequenceOf(text: string): string {
  const names = text.trim().split(/\s+/).map(keyNameOf);
  if (names.some((name) => name === undefined) || names.length > 2) {
    const guess = didYouMean(text.toLowerCase(), keysByDefault(), "one is ctrl-k or f2");
    throw new SyntaxError(`${JSON.stringify(text)} is not a key: ${guess}`);
  }
  const fixed = names.find((name) => FIXED.includes(name!));
  if (fixed) {
    throw new SyntaxError(`${fixed} always stops what runs: bind another key to the action`);
  }
  return names.join(" ");
}

const keysOfRow = ({ keys }: ActionRow) => keys === "" ? [] : keys.split(", ");
const keysByDefault = (): string[] => ACTIONS.flatMap(keysOfRow);

/** The action that a setting names, or null for none. @throws {SyntaxError} for anything else. */
function actionNamed(key: string, value: unknown): ActionName | null {
  if (value === null) return null;
  const row = ACTIONS.find(({ name }) => name === value);
  if (row !== undefined && !("isFixed" in row)) return row.name;
  const names = ACTIONS.filter((one) => !("isFixed" in one)).map(({ name }) => name);
  // What is no name of an action may be anything, such as a secret in the wrong place.
  const isName = typeof value === "string" && /^[a-z-]{1,30}$/.test(value);
  const lists = "/keys lists them";
  const why = isName
    ? `there is no action ${value}: ${didYouMean(value, names, lists)}`
    : `that is not an action: ${lists}`;
  throw new SyntaxError(`${key} cannot be bound as ${why}`);
}

/**
 * The keys in force: those of the table, and those that `own` binds by name, such as
 * `{"f2": "editor", "ctrl-t": null}`.
 * @throws {SyntaxError} where `own` names anything but keys and actions, with one sentence.
 */
export function keymapOf(own: Readonly<Record<string, unknown>> = {}, isVim = false): Keymap {
  const bindings = new Map<string, ActionName>();
  for (const row of ACTIONS) {
    for (const key of keysOfRow(row)) {
      // In vim mode, Alt and a character is Escape and that character.
      if (!isVim || !/^alt-.$/.test(key)) bindings.set(key, row.name);
    }
  }
  for (const [name, value] of Object.entries(own)) {
    const key = sequenceOf(name);
    const action = actionNamed(key, value);
    // A key that begins a sequence by default, and now is one of its own.
    for (const other of bindings.keys()) {
      if (other.startsWith(`${key} `)) bindings.delete(other);
    }
    if (action === null) bindings.delete(key);
    else bindings.set(key, action);
  }
  const sequences = [...bindings.keys()].filter((key) => key.includes(" "));
  const prefixes = new Set(sequences.map((key) => key.split(" ")[0]!));
  for (const prefix of prefixes) bindings.delete(prefix);
  return { bindings, prefixes, isVim };
}

export const DEFAULT_KEYMAP: Keymap = keymapOf();

/** The keys that have the action `name`, in the order of the table. */
export function keysOf({ bindings }: Keymap, name: ActionName): string[] {
  return [...bindings].filter(([, action]) => action === name).map(([key]) => key);
}
