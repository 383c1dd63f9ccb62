/** Reads JSON with the mistakes of small models if it has only one reading. Linear in the text. @module */

import { isObject, isSameJson, jsonOrUndefined } from "./json.ts";

/** The value of a text and descriptions of its mistakes, or the reason that it has no value. */
type LooseJson = { value: unknown; slips: string[] } | { problem: string };

/** The maximum depth. A deeper value would overflow the stack. */
const MAX_LOOSE_DEPTH = 100;
const LOOSE_WORDS: Readonly<Record<string, unknown>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  null: null,
  None: null,
  undefined: null,
};
const LOOSE_ESCAPES: Record<string, string> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
};
/** Characters before which a backslash must belong to a pattern, so it stays. */
const PATTERN_SIGNS = /[.dDwWsSB+*?()[\]{}|^-]/;
const LOOSE_QUOTES: Readonly<Record<string, string>> = {
  ...{ '"': '"', "'": "'", "“": "”", "‘": "’", "`": "`" },
};
const TRIPLE_QUOTES = /"""|'''/y;
/** Text that may follow the value: the end of a fence, end tags, template marks, and punctuation. */
const BEHIND_VALUE = /^(?:\s|;|`{3}|<[/|｜][^<>]{1,40}>|<[\w▁]{1,40}[|｜]>)*$/;

/**
 * Reads `text` as JSON. Also accepts other quotes, unquoted keys, comments, `True` and `None`, extra or missing
 * commas, line feeds in strings, extra closing brackets, and a fence around it. Adds up to `mayLack` missing
 * closing brackets, but only after a complete string or value: a text that ends elsewhere, or after a number, may
 * be incomplete.
 */
export function parseLooseJson(text: string, { mayLack = Infinity } = {}): LooseJson {
  try {
    return new LooseParser(text, mayLack).whole();
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: error.message };
    throw error;
  }
}

/** Returns the value that {@linkcode parseLooseJson} reads; undefined if it reads no value. */
export function looseJson(text: string, mayLack = 0): unknown {
  const read = parseLooseJson(text, { mayLack });
  return "value" in read ? read.value : undefined;
}

/** True if an object in JSON text has two different values for a key. JSON.parse returns the last. */
export const hasTwoReadings = (json: string): boolean => looseJson(json) === undefined;

/** Returns the value at a position in Python's `text`, and the position after it. @throws {SyntaxError} */
export function pythonValueAt(text: string, at: number): { value: unknown; end: number } {
  return new LooseParser(text, 0, true).valueAt(at);
}

class LooseParser {
  readonly #text: string;
  readonly #slips = new Set<string>();
  #at = 0;
  /** True if the last token is complete: not a number. */
  #isSure = false;

  constructor(text: string, private mayLack: number, private readonly isPython = false) {
    const [, inner] = /^\s*`{3}[\w-]*[ \t]*\r?\n?([^]*?)\s*`{3}\s*$/.exec(text) ?? [];
    if (inner !== undefined) this.#slips.add("a code fence");
    this.#text = this.#withBraces(inner ?? text);
  }

  /** Reads the text, which may be inside a string without its quotes, or lack its first bracket. */
  #withBraces(text: string): string {
    if (/^\s*\{\s*\\"/.test(text)) {
      const unescaped = jsonOrUndefined(`"${text.trim()}"`);
      if (typeof unescaped === "string" && isObject(jsonOrUndefined(unescaped))) {
        this.#slips.add("escaped quotes");
        return unescaped;
      }
    }
    if (!/^\s*"[A-Za-z_]\w*"\s*:\s*\S/.test(text)) return text;
    this.#slips.add("a missing {");
    return `{${text}`;
  }

  whole(): LooseJson {
    let value = this.#value(0);
    for (let next = this.#nextObject(); next; next = this.#nextObject()) {
      const other = this.#value(0);
      const isSame = JSON.stringify(other) === JSON.stringify(value);
      if (!isSame && !isEmptyObject(value) && !isEmptyObject(other)) {
        this.#fail("it contains two objects: make each its own call");
      }
      this.#slips.add(isSame ? "the same object twice" : "an extra empty object");
      if (isEmptyObject(value)) value = other;
    }
    const rest = this.#text.slice(this.#at).trimStart();
    const closers = /^[}\]\s]*/.exec(rest)![0];
    if (closers.trim() !== "") this.#slips.add(`an extra ${closers.trim()[0]}`);
    const behind = rest.slice(closers.length);
    if (!BEHIND_VALUE.test(behind)) {
      this.#fail(`text follows the object: ${quotedStart(behind)}`);
    }
    if (behind.trim() !== "") this.#slips.add("text after it");
    return { value, slips: [...this.#slips] };
  }

  valueAt(at: number): { value: unknown; end: number } {
    this.#at = at;
    const value = this.#value(0);
    return { value, end: this.#at };
  }

  /** True if another object follows directly. */
  #nextObject(): boolean {
    return this.#text[this.#at - 1] === "}" && /^\s*\{/.test(this.#text.slice(this.#at));
  }

  #value(depth: number): unknown {
    if (depth > MAX_LOOSE_DEPTH) this.#fail(`it is nested deeper than ${MAX_LOOSE_DEPTH} levels`);
    this.#skip();
    const sign = this.#text[this.#at];
    if (sign === undefined) this.#fail("it ends before a value");
    this.#isSure = true;
    if (sign === "{") return this.#object(depth);
    if (sign === "[") return this.#list(depth);
    if (Object.hasOwn(LOOSE_QUOTES, sign)) return this.#string();
    const number = this.#match(/[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?/y);
    if (number !== undefined) {
      this.#isSure = false;
      return Number(number);
    }
    const word = this.#match(/[A-Za-z]+/y) ?? "";
    if (!Object.hasOwn(LOOSE_WORDS, word)) {
      this.#fail(`no value starts with ${quotedStart(word || sign)}`);
    }
    if (!/^(true|false|null)$/.test(word)) this.#slips.add(`${word}`);
    return LOOSE_WORDS[word];
  }

  #object(depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    this.#at++;
    for (let isFirst = true; !this.#closes("}", isFirst); isFirst = false) {
      if (!isFirst) this.#comma();
      if (this.#closes("}", false)) break;
      const key = this.#key();
      this.#skip();
      const sign = this.#match(/:|=>?/y) ?? this.#fail("a colon is missing after a key");
      if (sign !== ":") this.#slips.add(`${sign} for :`);
      entries.push([key, this.#value(depth + 1)]);
    }
    const object = Object.fromEntries(entries);
    const isDoubled = Object.keys(object).length < entries.length;
    if (isDoubled && !entries.every(([key, value]) => isSameJson(value, object[key]))) {
      this.#fail("a key occurs twice");
    }
    return object;
  }

  #list(depth: number): unknown[] {
    const items: unknown[] = [];
    this.#at++;
    for (let isFirst = true; !this.#closes("]", isFirst); isFirst = false) {
      if (!isFirst) this.#comma();
      if (this.#closes("]", false)) break;
      items.push(this.#value(depth + 1));
    }
    return items;
  }

  #key(): string {
    if (Object.hasOwn(LOOSE_QUOTES, this.#text[this.#at] ?? "")) return this.#string();
    this.#slips.add("keys without quotes");
    return this.#match(/[A-Za-z_$][\w$-]*/y) ?? this.#fail("a key is missing");
  }

  /** True after `closer`, and at the end of the text if only `closer` is missing. */
  #closes(closer: string, isFirst: boolean): boolean {
    this.#skip();
    const sign = this.#text[this.#at];
    if (sign === closer) {
      this.#at++;
      this.#isSure = true;
      return true;
    }
    const isOver = BEHIND_VALUE.test(this.#text.slice(this.#at, this.#at + 100));
    if (!isOver) return false;
    if (isFirst || !this.#isSure || this.mayLack-- < 1) this.#fail(`it ends before its ${closer}`);
    this.#slips.add(`a missing ${closer}`);
    return true;
  }

  #comma(): void {
    this.#skip();
    const sign = this.#text[this.#at];
    if (sign !== ",") {
      const isNext = Object.hasOwn(LOOSE_QUOTES, sign ?? "");
      if (!isNext) this.#fail(`a comma or bracket is missing before ${quotedStart(sign ?? "")}`);
      this.#slips.add("a missing comma");
      return;
    }
    this.#at++;
    this.#skip();
    const next = this.#text[this.#at];
    // A text that ends after a comma is incomplete.
    if (next === undefined) this.#fail("it ends after a comma");
    if (next === "}" || next === "]") this.#slips.add("a trailing comma");
  }

  #string(): string {
    const triple = this.#match(TRIPLE_QUOTES);
    if (triple !== undefined && this.#text.includes(triple, this.#at)) {
      this.#slips.add(`${triple} for quotes`);
      return this.#upTo(triple);
    }
    this.#at -= triple?.length ?? 0;
    const open = this.#text[this.#at++]!;
    if (open === "'") this.#slips.add("single quotes");
    else if (open === "`") this.#slips.add("backticks");
    else if (open !== '"') this.#slips.add("curly quotes");
    return this.#upTo(LOOSE_QUOTES[open]!);
  }

  /** Reads the rest of a string that ends with `quotes`. */
  #upTo(quotes: string): string {
    const parts: string[] = [];
    let from = this.#at;
    for (; !this.#text.startsWith(quotes, this.#at); this.#at++) {
      const sign = this.#text[this.#at] ?? this.#fail("it ends within a string");
      if (sign < " " && quotes.length === 1) {
        this.#slips.add(sign === "\t" ? "a tab in a string" : "a line feed in a string");
      }
      if (sign !== "\\") continue;
      parts.push(this.#text.slice(from, this.#at), this.#escaped());
      from = this.#at + 1;
    }
    parts.push(this.#text.slice(from, this.#at));
    this.#at += quotes.length;
    this.#isSure = true;
    return parts.join("");
  }

  /** Returns the text of the current escape, and stops at its last character. */
  #escaped(): string {
    const sign = this.#text[++this.#at] ?? this.#fail("it ends within a string");
    if (sign === "u") {
      const hex = /^[\da-f]{4}$/i.exec(this.#text.slice(this.#at + 1, this.#at + 5))?.[0];
      if (hex === undefined) this.#fail("\\u needs four hex digits");
      this.#at += 4;
      return String.fromCharCode(parseInt(hex, 16));
    }
    if (sign === "'") this.#slips.add("\\'");
    if (`"'\\/`.includes(sign)) return sign;
    if (Object.hasOwn(LOOSE_ESCAPES, sign)) return LOOSE_ESCAPES[sign]!;
    // A continued line of a shell.
    if (sign === "\n") return "\\\n";
    // In Python, a backslash before any other sign stays.
    if (!PATTERN_SIGNS.test(sign) && (!this.isPython || sign === "x")) {
      this.#fail(`\\${sign} is no escape: write ${sign} or \\\\${sign}`);
    }
    this.#slips.add(`\\${sign} for \\\\${sign}`);
    return `\\${sign}`;
  }

  #skip(): void {
    for (;;) {
      this.#match(/[\s\ufeff]+/y);
      const comment = this.#match(/\/\/[^\n]*|#[^\n]*|\/\*[^]*?\*\//y);
      if (comment === undefined) return;
      this.#slips.add("a comment");
    }
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #fail(problem: string): never {
    throw new SyntaxError(problem);
  }
}

const isEmptyObject = (value: unknown): boolean =>
  isObject(value) && Object.keys(value).length === 0;

const quotedStart = (text: string): string =>
  JSON.stringify(text.length > 30 ? `${text.slice(0, 30)}...` : text);
