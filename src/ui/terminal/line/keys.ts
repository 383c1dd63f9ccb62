/**
 * Decodes a terminal's bytes into keys. Only a paste without markers depends on reads. Unknown sequences are dropped whole.
 * Sources: ECMA-48 (control sequences and strings), xterm's ctlseqs (bracketed paste). @module
 */

import { backgroundOf } from "../style.ts";
import { controlKey, csiMeaning, type KeyMeaning, ss3Meaning } from "./key_names.ts";

/**
 * Typed text, pasted text (line ends are `\n`), or a key by its name, with modifiers in the order
 * `ctrl-`, `alt-`, `shift-`: `ctrl-left`, `shift-enter`. Reports of the terminal are keys, too:
 * `focus-in`, `focus-out`, `background-dark`, `background-light` and {@linkcode KITTY_KEY}.
 */
export type Key =
  | { type: "text" | "paste"; text: string; name?: undefined }
  | {
    type: "key";
    name: string;
    /** The character behind `alt-`, as it was typed. */
    char?: string;
  };

export const BACKGROUND_KEY = "background-";

/** The terminal knows kitty's keyboard protocol. */
export const KITTY_KEY = "keyboard-kitty";

/** True for a report of the terminal, which the user did not type. */
export function isReport({ name = "" }: Key): boolean {
  return name.startsWith("focus-") || name === KITTY_KEY || name.startsWith(BACKGROUND_KEY);
}

/** In the first milliseconds of raw mode, a line feed is an Enter that was pressed before. */
const EARLY_MS = 300;

/** The key that was pressed, if `key` came `ms` milliseconds after raw mode started. */
export function asPressed(key: Key, ms: number): Key {
  return ms < EARLY_MS && key.name === "ctrl-j" ? { ...key, name: "enter" } : key;
}

const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";
/** The Escape of a marker that appeared when another marker inside it was removed. */
const MARKER_START = new RegExp("[\x1b\x9b]+(?=\\[?20[01]~)", "g");
const PASTE_MARKER = new RegExp("\x1b\\[20[01]~", "g");

/** More characters than are typed between two reads. */
const MIN_BURST = 64;

/** True for text of several lines in one read: a paste by a terminal that does not mark it. */
const isBurst = (text: string) =>
  text.length >= MIN_BURST && /[\r\n][^\r\n]/.test(text) && !/(?![\t\r\n])\p{Cc}/u.test(text);

/** Longer sequences are dropped; of a string, only the start is read. */
const MAX_SEQUENCE = 256;
/**
 * A sequence, a control character, or text. `linuxConsole` is a function key there, which is dropped. `alt` is an
 * Escape before a sequence, with which PuTTY and iTerm2 report Alt. Without its `letter`, another control character
 * cut a sequence off. A `string` ends at any control character, so that a lost end does not block the keyboard.
 */
const SEQUENCE = new RegExp(
  "\x1b\\[\\[(?<linuxConsole>[^])" +
    "|(?<alt>\x1b?)\x1b(?:\\[(?<params>[0-?]*)(?<between>[ -/]*)|O(?<digits>[\\d;]*))(?<letter>[@-~]?)" +
    "|\x1b(?<string>[\\]P_^X](?=[^])[ -\\uffff]*)(?<end>\x07|\x1b\\\\)?" +
    "|\x1b(?<char>[\\ud800-\\udbff][\\udc00-\\udfff]|[^\x1b])?" +
    "|(?<control>[\0-\x1f\x7f])|(?<text>[^\0-\x1f\x7f]+)",
  "y",
);
/** A sequence that the next bytes may continue. */
const PARTIAL = new RegExp(
  "^\x1b(?:\x1b?(?:\\[\\[|\\[[0-?]*[ -/]*|O[\\d;]*)?|[\\]P_^X][ -\\uffff]*\x1b?)$",
);
/** The start of a string that the terminal sends as an answer: its end may come late. */
const OPEN_STRING = new RegExp("^\x1b[\\]P_^X][ -\\uffff]+$");

export class KeyDecoder {
  readonly #utf8 = new TextDecoder();
  /** An unfinished sequence, or an unfinished marker at the end of a paste. */
  #rest = "";
  #paste: string[] | undefined;
  /** The number of pieces before the last end marker of the paste; 0 without one. */
  #pasteEnd = 0;
  /** True if the paste has no markers: it lasts until a pause. */
  #isBurst = false;
  readonly #keys: Key[] = [];

  push(bytes: Uint8Array): Key[] {
    const text = this.#utf8.decode(bytes, { stream: true });
    const isOpen = this.#paste !== undefined;
    if (!isOpen) this.#isBurst = this.#rest === "" && isBurst(text);
    this.#run(this.#isBurst ? `${isOpen ? "" : PASTE_START}${text}${PASTE_END}` : text, false);
    return this.#keys.splice(0);
  }

  /** True if the next bytes may belong to the last ones: after an Escape, or the end of a paste. */
  get pending(): boolean {
    if (this.#paste) return this.#pasteEnd > 0;
    return this.#rest !== "" && !OPEN_STRING.test(this.#rest);
  }

  get isPasting(): boolean {
    return this.#paste !== undefined;
  }

  /** Returns the keys of the pending bytes, which were not continued in time. */
  flush(): Key[] {
    if (this.#paste === undefined) this.#run("", true);
    else if (this.#pasteEnd > 0) this.#endPaste(this.#paste);
    return this.#keys.splice(0);
  }

  #add(meaning: KeyMeaning): void {
    if (meaning === undefined) return;
    this.#keys.push("name" in meaning ? { type: "key", ...meaning } : { type: "text", ...meaning });
  }

  #addKey(name: string): void {
    this.#keys.push({ type: "key", name });
  }

  #addAlt(char: string): void {
    this.#keys.push({ type: "key", name: `alt-${char.toLowerCase()}`, char });
  }

  /** Decodes `input`; with `final`, more input will not follow. */
  #run(input: string, final: boolean): void {
    input = this.#rest + input;
    this.#rest = "";
    if (this.#paste !== undefined) return this.#readPaste(this.#paste, input);
    for (let at = 0, end; at < input.length; at = end) {
      const rest = input.slice(at);
      const isString = OPEN_STRING.test(rest);
      if (isString || !final && rest.length <= MAX_SEQUENCE && PARTIAL.test(rest)) {
        this.#rest = rest.slice(0, MAX_SEQUENCE);
        return;
      }
      SEQUENCE.lastIndex = at;
      const { groups = {} } = SEQUENCE.exec(input)!;
      end = SEQUENCE.lastIndex;
      this.#addSequence(groups, end === input.length);
      if (this.#paste !== undefined) return this.#readPaste(this.#paste, input.slice(end));
    }
  }

  /** Collects a paste, which may contain the end marker: the last one without a pause counts, so no text is read as typed. */
  #readPaste(pieces: string[], input: string): void {
    let from = 0;
    for (const { index, 0: marker } of input.matchAll(PASTE_MARKER)) {
      pieces.push(input.slice(from, index));
      from = index + marker.length;
      if (marker === PASTE_END) this.#pasteEnd = pieces.length;
    }
    const open = input.length - partOfMarker(input, from);
    pieces.push(input.slice(from, open));
    this.#rest = input.slice(open);
  }

  giveUp(): Key[] {
    if (this.#paste) {
      this.#pasteEnd = this.#paste.push(this.#rest);
      this.#rest = "";
      this.#endPaste(this.#paste);
    }
    return this.#keys.splice(0);
  }

  /** Ends the paste at its last end marker; the rest was typed. */
  #endPaste(pieces: string[]): void {
    const after = pieces.slice(this.#pasteEnd).join("") + this.#rest;
    const text = pieces.slice(0, this.#pasteEnd).join("").replace(MARKER_START, "");
    this.#keys.push({ type: "paste", text: text.replace(/\r\n?/g, "\n") });
    this.#paste = undefined;
    this.#pasteEnd = 0;
    this.#rest = "";
    this.#run(after, true);
  }

  #addSequence(groups: Partial<Record<string, string>>, isLast: boolean): void {
    const { text, control, string, params, between = "", digits, letter = "", char } = groups;
    const given = params ?? digits;
    const alt = groups.alt !== "";
    if (text !== undefined) {
      const shown = text.replace(/[\x80-\x9f]/g, "");
      if (shown !== "") this.#add({ text: shown });
    } else if (control !== undefined) this.#addKey(controlKey(control));
    else if (string !== undefined) this.#addAnswer(string, groups.end);
    else if (given !== undefined && letter === "") {
      if (isLast && given + between === "") this.#addAlt(params === undefined ? "O" : "[");
    } else if (digits !== undefined) this.#add(ss3Meaning(digits, letter, alt));
    else if (params !== undefined) {
      if (params === "200" && letter === "~") this.#paste = [];
      else if (letter === "u" && /^\?\d+$/.test(params)) this.#addKey(KITTY_KEY);
      else if (between === "") this.#add(csiMeaning(params, letter, alt));
    } else if (groups.linuxConsole !== undefined) return;
    else if (char === undefined) this.#addKey("escape");
    else if (isControl(char)) {
      const name = char === "\n" ? "enter" : char === "\b" ? "backspace" : controlKey(char);
      this.#addKey(name.startsWith("ctrl-") ? `ctrl-alt-${name.slice(5)}` : `alt-${name}`);
    } else this.#addAlt(char);
  }

  #addAnswer(answer: string, end: string | undefined): void {
    if (end === undefined || !answer.startsWith("]11;")) return;
    const background = backgroundOf(answer.slice(4));
    if (background !== undefined) this.#addKey(`${BACKGROUND_KEY}${background}`);
  }
}

function isControl(char: string): boolean {
  return char < " " || char === "\x7f";
}

/** The number of characters at the end of `input` that may start a paste marker. */
function partOfMarker(input: string, from: number): number {
  const escape = input.lastIndexOf("\x1b");
  const end = input.slice(escape);
  if (escape < from) return 0;
  return PASTE_END.startsWith(end) || PASTE_START.startsWith(end) ? end.length : 0;
}
