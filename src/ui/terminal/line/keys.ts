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

const MAX_SEQUENCE = 256;
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

export class KeyDecoder {
  readonly #utf8 = new TextDecoder();
  /** An unfinished sequence, or an unfinished marker at the end of a paste. */
  #rest = "";
  #paste: string[] | undefined;
  /** The number of pieces before the last end marker of the paste; 0 without one. */
  #pasteEnd = 0;
  /** True if the paste has no markers: it lasts until a pause. */
  #isBurst = false;
  /** True within a string that the terminal sends as an answer. */
  #inString = false;
  /** The start of that string, with its introducer. */
  #string = "";
  readonly #keys: Key[] = [];

  push(bytes: Uint8Array): Key[] {
    const text = this.#utf8.decode(bytes, { stream: true });
    const isOpen = this.#paste !== undefined;
    if (!isOpen) this.#isBurst = this.#rest === "" && !this.#inString && isBurst(text);
    this.#run(this.#isBurst ? `${isOpen ? "" : PASTE_START}${text}${PASTE_END}` : text, false);
    return this.#keys.splice(0);
  }

  /** True if the next bytes may belong to the last ones: after an Escape, or the end of a paste. */
  get pending(): boolean {
    return this.#paste ? this.#pasteEnd > 0 : this.#rest !== "";
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
    let at = 0;
    while (at < input.length) {
      if (this.#inString) at = this.#skipString(input, at, final);
      const length = this.#inString || at === input.length ? 0 : this.#readOne(input, at, final);
      if (length === 0) {
        this.#rest = input.slice(at);
        return;
      }
      at += length;
      if (this.#paste !== undefined) return this.#readPaste(this.#paste, input.slice(at));
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

  // Each of these reads one key of `input` at `at` and returns its length, or 0 if it is incomplete.

  #readOne(input: string, at: number, final: boolean): number {
    const char = input[at]!;
    if (char === "\x1b") return this.#readEscape(input, at, final);
    if (isControl(char)) {
      this.#addKey(controlKey(char));
      return 1;
    }
    let end = at + 1;
    while (end < input.length && !isControl(input[end]!)) end++;
    const text = input.slice(at, end).replace(/[\x80-\x9f]/g, "");
    if (text !== "") this.#add({ text });
    return end - at;
  }

  #readEscape(input: string, at: number, final: boolean): number {
    const next = input[at + 1];
    if (next === undefined) {
      if (final) this.#addKey("escape");
      return final ? 1 : 0;
    }
    if (next === "[") return this.#readCsi(input, at, final, false);
    if (next === "O") return this.#readSs3(input, at, final, false);
    if ("]P_^X".includes(next)) return this.#readStringStart(input, at, final);
    if (next === "\x1b") return this.#readSecondEscape(input, at, final);
    if (isControl(next)) {
      const name = next === "\n" ? "enter" : next === "\b" ? "backspace" : controlKey(next);
      this.#addKey(name.startsWith("ctrl-") ? `ctrl-alt-${name.slice(5)}` : `alt-${name}`);
      return 2;
    }
    const char = String.fromCodePoint(input.codePointAt(at + 1)!);
    this.#addAlt(char);
    return 1 + char.length;
  }

  /** Alt and a character that could introduce a string, unless more input follows at once. */
  #readStringStart(input: string, at: number, final: boolean): number {
    const follows = input.length > at + 2;
    if (!follows && !final) return 0;
    if (follows) {
      this.#inString = true;
      this.#string = input[at + 1]!;
    } else this.#addAlt(input[at + 1]!);
    return 2;
  }

  /** Alt and a key that has a sequence (PuTTY, iTerm2), or two separate Escapes. */
  #readSecondEscape(input: string, at: number, final: boolean): number {
    const third = input[at + 2];
    if (third === undefined && !final) return 0;
    if (third !== "[" && third !== "O") {
      this.#addKey("escape");
      return 1;
    }
    const length = third === "["
      ? this.#readCsi(input, at + 1, final, true)
      : this.#readSs3(input, at + 1, final, true);
    return length === 0 ? 0 : length + 1;
  }

  /** `alt`: an Escape came before the sequence. */
  #readCsi(input: string, at: number, final: boolean, alt: boolean): number {
    let end = at + 2;
    // The function keys of the Linux console, CSI [ A to CSI [ E, are dropped.
    if (input[end] === "[") return input.length > end + 1 || final ? end + 2 - at : 0;
    while (input[end]! >= "0" && input[end]! <= "?") end++;
    const params = input.slice(at + 2, end);
    const intermediate = end;
    while (input[end]! >= " " && input[end]! <= "/") end++;
    const letter = input[end];
    if (letter === undefined) {
      if (final && end === at + 2) this.#addAlt("[");
      return final || end - at > MAX_SEQUENCE ? end - at : 0;
    }
    if (letter < "@" || letter > "~") return end - at; // cut off by another control
    if (input.startsWith(PASTE_START, at)) this.#paste = [];
    else if (letter === "u" && /^\?\d+$/.test(params)) this.#addKey(KITTY_KEY);
    else if (end === intermediate) this.#add(csiMeaning(params, letter, alt));
    return end + 1 - at;
  }

  #readSs3(input: string, at: number, final: boolean, alt: boolean): number {
    let end = at + 2;
    while (/[\d;]/.test(input[end] ?? "") && end - at < MAX_SEQUENCE) end++;
    const letter = input[end];
    if (letter === undefined) {
      if (final && end === at + 2) this.#addAlt("O");
      return final ? end - at : 0;
    }
    if (letter < "@" || letter > "~") return end - at;
    this.#add(ss3Meaning(input.slice(at + 2, end), letter, alt));
    return end + 1 - at;
  }

  /** Skips a string up to any control character, so that a lost end does not block the keyboard. */
  #skipString(input: string, at: number, final: boolean): number {
    const from = at;
    while (input[at]! >= " ") at++;
    this.#string += input.slice(from, from + MAX_SEQUENCE - this.#string.length);
    if (at === input.length || !final && at === input.length - 1 && input[at] === "\x1b") return at;
    this.#inString = false;
    const end = input[at] === "\x07" ? 1 : input.startsWith("\x1b\\", at) ? 2 : 0;
    const answer = this.#string;
    if (end > 0 && answer.startsWith("]11;")) {
      const background = backgroundOf(answer.slice(4));
      if (background !== undefined) this.#addKey(`${BACKGROUND_KEY}${background}`);
    }
    return at + end;
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
