/**
 * Keys from a terminal's bytes. Pure and incremental: several keys in one read and one key over
 * several reads come out the same. A sequence that is no key is swallowed whole, never shown.
 * Sources: ECMA-48 (control sequences and strings), xterm's ctlseqs (bracketed paste). @module
 */

import { backgroundOf } from "../style.ts";
import { controlKey, csiMeaning, type Meaning, ss3Meaning } from "./key_names.ts";

/**
 * A key: `text` is what was typed, `paste` what was pasted (line ends are `\n`); every other key is
 * a name with its modifiers in front, in the order `ctrl-`, `alt-`, `shift-` (`ctrl-left`, `alt-b`,
 * `shift-enter`, `escape`). Terminals that report their focus give `focus-in` and `focus-out`, those
 * that are asked for their background `background-dark` or `background-light`.
 */
export type Key =
  | { type: "text" | "paste"; text: string; name?: undefined }
  | {
    type: "key";
    name: string;
    /** The character behind `alt-` as it was typed: vim mode takes it for Escape and that character. */
    char?: string;
  };

/** The beginning of the names of keys that tell the background. */
export const BACKGROUND_KEY = "background-";

/** The name of a terminal's answer that it knows kitty's keyboard protocol. */
export const KITTY_KEY = "keyboard-kitty";

/** True for a report of the terminal, which no person typed. */
export function isReport({ name = "" }: Key): boolean {
  return name.startsWith("focus-") || name === KITTY_KEY || name.startsWith(BACKGROUND_KEY);
}

/** An Enter pressed before raw mode arrives as a line feed within these milliseconds. */
const EARLY_MS = 300;

/** The key that was pressed where `key` came `ms` milliseconds after raw mode began. */
export function asPressed(key: Key, ms: number): Key {
  return ms < EARLY_MS && key.name === "ctrl-j" ? { ...key, name: "enter" } : key;
}

/** The most characters of a control sequence: far more than any key has. */
const MAX_SEQUENCE = 256;
const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";
/** An Escape that makes a marker of the text behind it, where taking markers out made a new one. */
const MARKER_START = new RegExp("[\x1b\x9b]+(?=\\[?20[01]~)", "g");
const PASTE_MARKER = new RegExp("\x1b\\[20[01]~", "g");

/** Ctrl-C at the end of what came, as it is and as kitty and xterm may write it. */
const INTERRUPTS = new RegExp("(?:\x03|\x1b\\[99;5u|\x1b\\[27;5;99~)+$");

export class KeyDecoder {
  readonly #utf8 = new TextDecoder();
  /** An unfinished sequence, or the end of a paste's input that may be a part of its marker. */
  #rest = "";
  #paste: string[] | undefined;
  /** The number of pieces before the last end of the paste so far; 0 while it has none. */
  #pasteEnd = 0;
  /** True where the last of a paste's input is a Ctrl-C: a person's, if nothing follows at once. */
  #isInterrupted = false;
  /** True within a string that the terminal sends as an answer. */
  #inString = false;
  /** The first characters of that string, with the sign that began it. */
  #string = "";
  readonly #keys: Key[] = [];

  /** Takes the next bytes; the keys that they complete. */
  push(bytes: Uint8Array): Key[] {
    this.#run(this.#utf8.decode(bytes, { stream: true }), false);
    return this.#keys.splice(0);
  }

  /**
   * True when the next bytes may belong to these: after a lone Escape, the end of a paste, or a
   * Ctrl-C in one, with which a person gets the keys back where the end was lost.
   */
  get pending(): boolean {
    return this.#paste ? this.#pasteEnd > 0 || this.#isInterrupted : this.#rest !== "";
  }

  /** True within a paste whose end has not come. */
  get isPasting(): boolean {
    return this.#paste !== undefined;
  }

  /** Nothing more came in time: the keys that the pending bytes stand for by themselves. */
  flush(): Key[] {
    if (this.#paste === undefined) this.#run("", true);
    else if (this.#pasteEnd > 0) this.#endPaste(this.#paste);
    else if (this.#isInterrupted) this.#breakPaste(this.#paste);
    return this.#keys.splice(0);
  }

  #add(meaning: Meaning): void {
    if (meaning === undefined) return;
    this.#keys.push("name" in meaning ? { type: "key", ...meaning } : { type: "text", ...meaning });
  }

  #addKey(name: string): void {
    this.#keys.push({ type: "key", name });
  }

  #addAlt(char: string): void {
    this.#keys.push({ type: "key", name: `alt-${char.toLowerCase()}`, char });
  }

  /** Decodes `input`; with `final` there is no more of it to wait for. */
  #run(input: string, final: boolean): void {
    input = this.#rest + input;
    this.#rest = "";
    if (this.#paste !== undefined) return this.#takePaste(this.#paste, input);
    let at = 0;
    while (at < input.length) {
      if (this.#inString) at = this.#skipString(input, at, final);
      const length = this.#inString || at === input.length ? 0 : this.#takeOne(input, at, final);
      if (length === 0) {
        this.#rest = input.slice(at);
        return;
      }
      at += length;
      if (this.#paste !== undefined) return this.#takePaste(this.#paste, input.slice(at));
    }
  }

  /**
   * Looks for the end of a paste. Text that holds `ESC [201~` itself would end it early and be
   * taken for typed: so the last end counts, of those that come without a pause.
   */
  #takePaste(pieces: string[], input: string): void {
    let from = 0;
    for (const { index, 0: marker } of input.matchAll(PASTE_MARKER)) {
      pieces.push(input.slice(from, index));
      from = index + marker.length;
      if (marker === PASTE_END) this.#pasteEnd = pieces.length;
    }
    const open = input.length - partOfMarker(input, from);
    pieces.push(input.slice(from, open));
    this.#rest = input.slice(open);
    this.#isInterrupted = INTERRUPTS.test(input);
  }

  /** Ends a paste without an end before the Ctrl-C, which is spent on that. */
  #breakPaste(pieces: string[]): void {
    const text = pieces.splice(0).join("").replace(INTERRUPTS, "");
    this.#pasteEnd = pieces.push(text);
    this.#endPaste(pieces);
  }

  /** Ends a paste whose end did not come for long: what came so far is the paste. */
  giveUp(): Key[] {
    if (this.#paste) {
      this.#pasteEnd = this.#paste.push(this.#rest);
      this.#rest = "";
      this.#endPaste(this.#paste);
    }
    return this.#keys.splice(0);
  }

  /** Ends the paste where its last end was, and takes what follows for typed. */
  #endPaste(pieces: string[]): void {
    const after = pieces.slice(this.#pasteEnd).join("") + this.#rest;
    const text = pieces.slice(0, this.#pasteEnd).join("").replace(MARKER_START, "");
    this.#keys.push({ type: "paste", text: text.replace(/\r\n?/g, "\n") });
    this.#paste = undefined;
    this.#pasteEnd = 0;
    this.#rest = "";
    this.#run(after, true);
  }

  // Each of these takes one key of `input` at `at`: its length, or 0 when it is not all there yet.

  #takeOne(input: string, at: number, final: boolean): number {
    const char = input[at]!;
    if (char === "\x1b") return this.#takeEscape(input, at, final);
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

  #takeEscape(input: string, at: number, final: boolean): number {
    const next = input[at + 1];
    if (next === undefined) {
      if (final) this.#addKey("escape");
      return final ? 1 : 0;
    }
    if (next === "[") return this.#takeCsi(input, at, final, false);
    if (next === "O") return this.#takeSs3(input, at, final, false);
    if ("]P_^X".includes(next)) return this.#takeStringStart(input, at, final);
    if (next === "\x1b") return this.#takeSecondEscape(input, at, final);
    if (isControl(next)) {
      const name = next === "\n" ? "enter" : next === "\b" ? "backspace" : controlKey(next);
      this.#addKey(name.startsWith("ctrl-") ? `ctrl-alt-${name.slice(5)}` : `alt-${name}`);
      return 2;
    }
    const char = String.fromCodePoint(input.codePointAt(at + 1)!);
    this.#addAlt(char);
    return 1 + char.length;
  }

  /** People type Alt and one of the characters that begin a string; a string goes on at once. */
  #takeStringStart(input: string, at: number, final: boolean): number {
    const follows = input.length > at + 2;
    if (!follows && !final) return 0;
    if (follows) {
      this.#inString = true;
      this.#string = input[at + 1]!;
    } else this.#addAlt(input[at + 1]!);
    return 2;
  }

  /** rxvt: Alt and a key that has a sequence; otherwise two separate Escapes. */
  #takeSecondEscape(input: string, at: number, final: boolean): number {
    const third = input[at + 2];
    if (third === undefined && !final) return 0;
    if (third !== "[" && third !== "O") {
      this.#addKey("escape");
      return 1;
    }
    const length = third === "["
      ? this.#takeCsi(input, at + 1, final, true)
      : this.#takeSs3(input, at + 1, final, true);
    return length === 0 ? 0 : length + 1;
  }

  /** `alt`: an Escape stood before the sequence. */
  #takeCsi(input: string, at: number, final: boolean, alt: boolean): number {
    let end = at + 2;
    // The Linux console: F1 to F5 are CSI [ A to CSI [ E.
    if (input[end] === "[") return input.length > end + 1 || final ? end + 2 - at : 0;
    while (input[end]! >= "0" && input[end]! <= "?") end++;
    const params = input.slice(at + 2, end);
    // rxvt's Shift ends with what elsewhere goes before the last character.
    if (input[end] === "$" && /^\d+$/.test(params)) {
      this.#add(csiMeaning(params, "$", alt));
      return end + 1 - at;
    }
    const intermediate = end;
    while (input[end]! >= " " && input[end]! <= "/") end++;
    const letter = input[end];
    if (letter === undefined) {
      if (final && end === at + 2) this.#addAlt("[");
      return final || end - at > MAX_SEQUENCE ? end - at : 0;
    }
    if (letter < "@" || letter > "~") return end - at; // broken off by another control
    if (letter === "M" && params === "") { // a mouse, with three characters more
      return input.length >= end + 4 ? end + 4 - at : final ? input.length - at : 0;
    }
    if (input.startsWith(PASTE_START, at)) this.#paste = [];
    else if (letter === "u" && /^\?\d+$/.test(params)) this.#addKey(KITTY_KEY);
    else if (end === intermediate) this.#add(csiMeaning(params, letter, alt));
    return end + 1 - at;
  }

  #takeSs3(input: string, at: number, final: boolean, alt: boolean): number {
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

  /** Swallows a string up to its end: any control, so that a lost end does not hold the keyboard. */
  #skipString(input: string, at: number, final: boolean): number {
    const from = at;
    while (input[at]! >= " ") at++;
    this.#string += input.slice(from, from + MAX_SEQUENCE - this.#string.length);
    if (at === input.length || !final && at === input.length - 1 && input[at] === "\x1b") return at;
    this.#inString = false;
    const end = input[at] === "\x07" ? 1 : input.startsWith("\x1b\\", at) ? 2 : 0;
    if (end > 0) this.#takeAnswer(this.#string);
    return at + end;
  }

  #takeAnswer(answer: string): void {
    const background = answer.startsWith("]11;") ? backgroundOf(answer.slice(4)) : undefined;
    if (background !== undefined) this.#addKey(`${BACKGROUND_KEY}${background}`);
  }
}

function isControl(char: string): boolean {
  return char < " " || char === "\x7f";
}

/** The number of characters at the end of `input`, from `from` on, that may begin a paste marker. */
function partOfMarker(input: string, from: number): number {
  const escape = input.lastIndexOf("\x1b");
  const end = input.slice(escape);
  if (escape < from) return 0;
  return PASTE_END.startsWith(end) || PASTE_START.startsWith(end) ? end.length : 0;
}
