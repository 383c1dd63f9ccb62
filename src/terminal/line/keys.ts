/**
 * Keys from a terminal's bytes. Pure and incremental: several keys in one read and one key over
 * several reads come out the same. What is no key is swallowed whole, never shown.
 *
 * Sources: ECMA-48 (control sequences and strings), xterm's ctlseqs (bracketed paste).
 *
 * @module
 */

import { controlKey, csiMeaning, type Meaning, ss3Meaning } from "./key_names.ts";

/**
 * A key: `text` is what was typed, `paste` what was pasted (line ends are `\n`); every other key is
 * a name with its modifiers in front, in the order `ctrl-`, `alt-`, `shift-` (`ctrl-left`, `alt-b`,
 * `shift-enter`, `escape`). Terminals that report their focus give `focus-in` and `focus-out`.
 */
export type Key =
  | { type: "text"; text: string }
  | { type: "paste"; text: string }
  | { type: "key"; name: string };

/** Turns bytes into keys. */
export interface KeyDecoder {
  /** Takes the next bytes; the keys that they complete. */
  push(bytes: Uint8Array): Key[];
  /** True when what comes next may belong to what is there: a lone Escape, the end of a paste. */
  readonly pending: boolean;
  /** Nothing more came in time: what is pending stands for itself. */
  flush(): Key[];
}

/** Enter pressed before raw mode, which the terminal made a line feed, is there by then. */
const EARLY_MS = 300;

/** What a key that came `ms` milliseconds after raw mode began was when it was pressed. */
export function asPressed(key: Key, ms: number): Key {
  const early = ms < EARLY_MS && key.type === "key" && key.name === "ctrl-j";
  return early ? { ...key, name: "enter" } : key;
}

/** The most characters of a control sequence: far more than any key has. */
const MAX_SEQUENCE = 256;
const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";
/** What makes a marker of what follows, where taking markers out made a new one. */
const MARKER_START = new RegExp("[\x1b\x9b]+(?=\\[?20[01]~)", "g");
const PASTE_MARKER = new RegExp("\x1b\\[20[01]~", "g");

/** A decoder at the beginning of a terminal's input. */
export function keyDecoder(): KeyDecoder {
  const utf8 = new TextDecoder();
  /** An unfinished sequence, or what of a paste is not yet looked through. */
  let rest = "";
  /** The paste that is coming in. */
  let paste: string[] | undefined;
  /** Where in the paste its last end so far is: how many pieces are before it. */
  let pasteEnd = -1;
  /** Within a string that the terminal sends as an answer. */
  let inString = false;
  let keys: Key[] = [];

  const add = (meaning: Meaning): void => {
    if (meaning === undefined) return;
    keys.push("name" in meaning ? { type: "key", ...meaning } : { type: "text", ...meaning });
  };
  const key = (name: string): void => add({ name });

  /**
   * Looks for the end of a paste. Text that holds `ESC [201~` itself would end it early and be taken
   * for typed: so the last end counts, of those that come without a pause.
   */
  function takePaste(input: string): void {
    const pieces = paste!;
    let from = 0;
    for (const { index, 0: marker } of input.matchAll(PASTE_MARKER)) {
      pieces.push(input.slice(from, index));
      from = index + marker.length;
      if (marker === PASTE_END) pasteEnd = pieces.length;
    }
    const open = input.length - partOfMarker(input, from);
    pieces.push(input.slice(from, open));
    rest = input.slice(open);
  }

  /** Ends the paste where its last end was, and takes what follows for typed. */
  function endPaste(): void {
    const pieces = paste!;
    const after = pieces.slice(pasteEnd).join("") + rest;
    const text = pieces.slice(0, pasteEnd).join("").replace(MARKER_START, "");
    keys.push({ type: "paste", text: text.replace(/\r\n?/g, "\n") });
    paste = undefined;
    pasteEnd = -1;
    rest = "";
    run(after, true);
  }

  function run(input: string, final: boolean): void {
    if (paste !== undefined) return takePaste(rest + input);
    input = rest + input;
    rest = "";
    let at = 0;
    while (at < input.length) {
      if (inString) at = skipString(input, at, final);
      const length = inString || at === input.length ? 0 : takeOne(input, at, final);
      if (length === 0) {
        rest = input.slice(at);
        return;
      }
      at += length;
      if (paste !== undefined) return takePaste(input.slice(at));
    }
  }

  /** Takes one key, or a run of text: its length, or 0 when it is not all there yet. */
  function takeOne(input: string, at: number, final: boolean): number {
    const char = input[at]!;
    if (char === "\x1b") return takeEscape(input, at, final, false);
    if (char < " " || char === "\x7f") {
      key(controlKey(char));
      return 1;
    }
    let end = at + 1;
    while (end < input.length && input[end]! >= " " && input[end] !== "\x7f") end++;
    const text = input.slice(at, end).replace(/[\x80-\x9f]/g, "");
    if (text !== "") add({ text });
    return end - at;
  }

  function takeEscape(input: string, at: number, final: boolean, alt: boolean): number {
    const next = input[at + 1];
    if (next === undefined) {
      if (final) key("escape");
      return final ? 1 : 0;
    }
    if (next === "[") return takeCsi(input, at, final, alt);
    if (next === "O") return takeSs3(input, at, final, alt);
    if ("]P_^X".includes(next)) {
      const opener = input[at + 2];
      if (opener === undefined && !final) return 0;
      // People type Alt and these; a string goes on at once.
      if (opener !== undefined) inString = true;
      else key(`alt-${next.toLowerCase()}`);
      return 2;
    }
    if (next === "\x1b") {
      // rxvt: Alt and a key that has a sequence. Else two Escapes, one after the other.
      const third = input[at + 2];
      if (third === undefined && !final) return 0;
      if (third === "[" || third === "O") {
        const length = takeEscape(input, at + 1, final, true);
        return length === 0 ? 0 : length + 1;
      }
      key("escape");
      return 1;
    }
    if (next < " " || next === "\x7f") {
      const name = next === "\n" ? "enter" : next === "\b" ? "backspace" : controlKey(next);
      key(name.startsWith("ctrl-") ? `ctrl-alt-${name.slice(5)}` : `alt-${name}`);
      return 2;
    }
    const char = String.fromCodePoint(input.codePointAt(at + 1)!);
    key(`alt-${char.toLowerCase()}`);
    return 1 + char.length;
  }

  function takeCsi(input: string, at: number, final: boolean, alt: boolean): number {
    let end = at + 2;
    // The Linux console: F1 to F5 are CSI [ A to CSI [ E.
    if (input[end] === "[") return input.length > end + 1 || final ? end + 2 - at : 0;
    while (end < input.length && input[end]! >= "0" && input[end]! <= "?") end++;
    const params = input.slice(at + 2, end);
    // rxvt's Shift ends with what elsewhere goes before the last character.
    if (input[end] === "$" && /^\d+$/.test(params)) {
      add(csiMeaning(params, "$", alt));
      return end + 1 - at;
    }
    const intermediate = end;
    while (end < input.length && input[end]! >= " " && input[end]! <= "/") end++;
    const letter = input[end];
    if (letter === undefined) {
      if (final && end === at + 2) key("alt-[");
      return final || end - at > MAX_SEQUENCE ? end - at : 0;
    }
    if (letter < "@" || letter > "~") return end - at; // broken off by another control
    if (letter === "M" && params === "") { // a mouse, with three characters more
      return input.length >= end + 4 ? end + 4 - at : final ? input.length - at : 0;
    }
    if (input.startsWith(PASTE_START, at)) paste = [];
    else if (end === intermediate) add(csiMeaning(params, letter, alt));
    return end + 1 - at;
  }

  function takeSs3(input: string, at: number, final: boolean, alt: boolean): number {
    let end = at + 2;
    while (end < input.length && /[\d;]/.test(input[end]!) && end - at < MAX_SEQUENCE) end++;
    const letter = input[end];
    if (letter === undefined) {
      if (final && end === at + 2) key("alt-o");
      return final ? end - at : 0;
    }
    if (letter < "@" || letter > "~") return end - at;
    add(ss3Meaning(input.slice(at + 2, end), letter, alt));
    return end + 1 - at;
  }

  /**
   * Swallows a string up to its end, and says where that is. Any control character ends it, so that
   * a lost end does not hold the keyboard.
   */
  function skipString(input: string, at: number, final: boolean): number {
    while (at < input.length && input[at]! >= " ") at++;
    if (at === input.length || !final && at === input.length - 1 && input[at] === "\x1b") return at;
    inString = false;
    if (input[at] === "\x07") return at + 1;
    return input.startsWith("\x1b\\", at) ? at + 2 : at;
  }

  const taken = (): Key[] => {
    const all = keys;
    keys = [];
    return all;
  };
  return {
    push(bytes) {
      run(utf8.decode(bytes, { stream: true }), false);
      return taken();
    },
    get pending() {
      return paste ? pasteEnd >= 0 : rest !== "";
    },
    flush() {
      if (paste === undefined) run("", true);
      else if (pasteEnd >= 0) endPaste();
      return taken();
    },
  };
}

/** How many characters at the end of `input`, from `from` on, may begin a paste marker. */
function partOfMarker(input: string, from: number): number {
  const escape = input.lastIndexOf("\x1b");
  const length = input.length - escape;
  return escape >= from && length < PASTE_END.length &&
      (PASTE_END.startsWith(input.slice(escape)) || PASTE_START.startsWith(input.slice(escape)))
    ? length
    : 0;
}
