/** A call that the model is writing, with its arguments so far. @module */

import { WRITTEN_ARGUMENTS } from "../../../tools/definition.ts";

/** The maximum number of characters stored of an argument, and of the end of a file's text. */
const MAX_VALUE_CHARS = 1000;
const MAX_TAIL_CHARS = 4000;

const SIGN_IN_TEXT = /["\\]/g;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "", b: "", f: "" };

/** Reads the JSON of a call's arguments, split anywhere, in linear time. Never throws. */
export class WrittenCall {
  readonly args: Record<string, string> = Object.create(null);
  /** The number of lines of the file's text so far, and its end; undefined before it starts. */
  file: { lines: number; tail: string } | undefined;
  #depth = 0;
  /** The open string: the name of an argument, its value, or a nested one. */
  #open: "key" | "value" | "other" | undefined;
  #key = "";
  #isValue = false;
  #escape = "";

  constructor(readonly name: string) {}

  push(text: string): void {
    for (let at = 0; at < text.length;) {
      at += this.#open === undefined ? this.#takeSign(text, at) : this.#takeText(text, at);
    }
  }

  #takeSign(text: string, at: number): number {
    const sign = text[at]!;
    if (sign === '"') this.#begin();
    else if (sign === "{" || sign === "[") this.#depth++;
    else if (sign === "}" || sign === "]") this.#depth--;
    else if (this.#depth === 1 && sign === ":") this.#isValue = true;
    else if (this.#depth === 1 && sign === ",") this.#isValue = false;
    return 1;
  }

  #begin(): void {
    this.#open = this.#depth !== 1 ? "other" : this.#isValue ? "value" : "key";
    if (this.#open === "key") this.#key = "";
    if (this.#open !== "value") return;
    if (WRITTEN_ARGUMENTS.includes(this.#key)) this.file = { lines: 0, tail: "" };
    else this.args[this.#key] = "";
  }

  /** Reads a part of a string: up to its end or an escape sequence. */
  #takeText(text: string, at: number): number {
    if (this.#escape !== "") return this.#takeEscape(text[at]!);
    SIGN_IN_TEXT.lastIndex = at;
    const end = SIGN_IN_TEXT.exec(text)?.index ?? text.length;
    this.#add(text.slice(at, end));
    if (end === text.length) return end - at;
    if (text[end] === "\\") this.#escape = "\\";
    else this.#open = undefined;
    return end + 1 - at;
  }

  #takeEscape(sign: string): number {
    const sequence = this.#escape += sign;
    if (sequence[1] === "u" && sequence.length < 6) return 1;
    this.#escape = "";
    const code = parseInt(sequence.slice(2), 16);
    const isCode = sequence[1] === "u" && !Number.isNaN(code);
    this.#add(isCode ? String.fromCharCode(code) : ESCAPES[sign] ?? sign);
    return 1;
  }

  #add(piece: string): void {
    if (piece === "" || this.#open === "other") return;
    if (this.#open === "key") {
      this.#key = (this.#key + piece).slice(0, MAX_VALUE_CHARS);
    } else if (WRITTEN_ARGUMENTS.includes(this.#key)) {
      const { lines = 0, tail = "" } = this.file ?? {};
      const isFirst = tail === "" && lines === 0;
      const ends = piece.split("\n").length - 1;
      this.file = { lines: lines + ends + (isFirst ? 1 : 0), tail: lastChars(tail + piece) };
    } else this.args[this.#key] = (this.args[this.#key]! + piece).slice(0, MAX_VALUE_CHARS);
  }
}

const lastChars = (text: string): string =>
  text.length > 2 * MAX_TAIL_CHARS ? text.slice(-MAX_TAIL_CHARS) : text;
