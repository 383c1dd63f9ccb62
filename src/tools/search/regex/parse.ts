/**
 * Parses the regular expressions that models write: the common syntax of JavaScript and ripgrep, and the habits of
 * both. Rejects those that need backtracking (look-around, back-references).
 * @module
 */

import { attempt } from "../../../attempt.ts";
import { POSIX_CLASSES } from "../../../text/glob.ts";
import { type CharSet, CharSets } from "./char_sets.ts";

/** A condition on a place: start and end of a line, `\b`, `\B`, start and end of a word. */
export type Assertion = "^" | "$" | "b" | "B" | "<" | ">";

export type Node =
  | { type: "set"; set: CharSet }
  | { type: "look"; look: Assertion }
  | { type: "all"; nodes: Node[] }
  | { type: "any"; nodes: Node[] }
  | { type: "repeat"; node: Node; min: number; max: number };

export interface Regex {
  root: Node;
  sets: readonly CharSet[];
  /** The characters of words, if a {@linkcode Assertion} needs them. */
  word: CharSet | undefined;
}

/** The maximum nesting. Deeper patterns would exhaust the stack, and real ones do not come near. */
const MAX_GROUP_DEPTH = 200;
/** `\d` and the like, `\p{L}`, `\pL`. */
const CLASS_ESCAPE = /\\(?:([dDsSwW])|[pP](\{[^{}\\]*\}|[A-Z]))/y;
const CONTROLS: Record<string, number> = { t: 9, n: 10, v: 11, f: 12, r: 13, a: 7, e: 27 };
/** The escapes of a {@linkcode Assertion} with another letter. */
const TEXT_ENDS: Record<string, Assertion> = { A: "^", z: "$", Z: "$" };
const ESCAPE_ALL = "To find a literal text put \\ before each of \\ ^ $ . * + ? ( ) [ ] { } |";
const escapeCode = (code: number) => `\\u{${code.toString(16)}}`;
/** Parses `pattern`. @throws {SyntaxError} if it is invalid; the message suggests the next step. */
export const parseRegex = (pattern: string): Regex => new RegexParser(pattern).parse();

class RegexParser {
  readonly #sets = new CharSets();
  #word: CharSet | undefined;
  #at = 0;
  #depth = 0;
  #ignoreCase = false;

  constructor(private readonly pattern: string) {}

  parse(): Regex {
    const root = this.#alternation();
    if (this.#at < this.pattern.length) this.#fail("a ) has no (", "To find a literal ) write \\)");
    return { root, sets: this.#sets.list, word: this.#word };
  }

  #fail(reason: string, next = ESCAPE_ALL): never {
    const { length } = this.pattern;
    const shown = length > 200 ? `${this.pattern.slice(0, 200)}...` : this.pattern;
    throw new SyntaxError(`Cannot search for ${JSON.stringify(shown)} as ${reason}. ${next}`);
  }

  /** Consumes the text that `regex` (sticky) matches here. */
  #take(regex: RegExp): RegExpExecArray | undefined {
    regex.lastIndex = this.#at;
    const found = regex.exec(this.pattern) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  /** Consumes one character; returns undefined at the end. */
  #takeCode(): number | undefined {
    const code = this.pattern.codePointAt(this.#at);
    if (code !== undefined) this.#at += code > 0xffff ? 2 : 1;
    return code;
  }

  #brackets(inside: string, not = ""): CharSet {
    return this.#sets.brackets(inside, not, this.#ignoreCase);
  }

  #literal(code: number): Node {
    if (code === 10) this.#noLineBreak();
    const isCased = this.#ignoreCase && (code > 127 || /[a-z]/i.test(String.fromCodePoint(code)));
    if (!isCased) return { type: "set", set: this.#sets.single(code) };
    return { type: "set", set: this.#brackets(escapeCode(code)) };
  }

  #noLineBreak(): never {
    const next = "A match lies within one line: search for one of the lines";
    return this.#fail("it has a line break in it", next);
  }

  #alternation(): Node {
    if (this.#depth++ > MAX_GROUP_DEPTH) {
      throw new SyntaxError(
        `Cannot search for a pattern with groups nested over ${MAX_GROUP_DEPTH} deep`,
      );
    }
    const nodes = [this.#sequence()];
    while (this.#take(/\|/y)) nodes.push(this.#sequence());
    this.#depth--;
    return nodes.length === 1 ? nodes[0]! : { type: "any", nodes };
  }

  #sequence(): Node {
    const nodes: Node[] = [];
    while (this.#at < this.pattern.length && !/[|)]/.test(this.pattern[this.#at]!)) {
      nodes.push(this.#repeated(this.#atom()));
    }
    return nodes.length === 1 ? nodes[0]! : { type: "all", nodes };
  }

  #repeated(node: Node): Node {
    const found = this.#take(/([*+?])\??|\{(\d+)(,?)(\d*)\}\??|\{,(\d+)\}\??/y);
    if (found === undefined) return node;
    const [whole, sign, from, comma, to, upTo] = found;
    const min = sign === "+" ? 1 : Number(from ?? 0);
    let max = sign === "?" ? 1 : sign ? Infinity : comma ? Number(to || Infinity) : min;
    if (upTo !== undefined) max = Number(upTo);
    if (max < min) this.#fail(`the numbers of ${whole} are out of order`);
    if (this.#take(/(?=[*+?]|\{,?\d)/y)) this.#noRepeat();
    return { type: "repeat", node, min, max };
  }

  #noRepeat(): never {
    const sign = `${this.pattern[this.#at]} at ${this.#at + 1}`;
    return this.#fail(
      `there is nothing to repeat for the ${sign}`,
      "To find a literal * + ? or { put \\ before it",
    );
  }

  #atom(): Node {
    const char = this.pattern[this.#at]!;
    if (char === "(") return this.#group();
    if (char === "[") return { type: "set", set: this.#charClass() };
    if (char === "\\") return this.#escaped();
    if (/[*+?]/.test(char)) this.#noRepeat();
    const code = this.#takeCode()!;
    if (char === "^" || char === "$") return { type: "look", look: char };
    if (char === ".") return { type: "set", set: this.#brackets("^\\n") };
    return this.#literal(code);
  }

  #group(): Node {
    const hint = "To find a literal ( or ) write \\( or \\)";
    const [look] = this.#take(/\(\?<?[=!]/y) ?? [];
    if (look !== undefined) {
      const next =
        "Search for the rest, and judge by the lines found (context_lines shows those around them)";
      this.#fail(`look-around such as ${look}...) is not supported`, next);
    }
    const before = this.#ignoreCase;
    const open = this.#take(/\((?:\?P?<[^>]*>|\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)]))?/y)!;
    const [, on = "", off = "", end] = open;
    const isBare = end === ")" && on + off === "";
    if (isBare || open[0] === "(" && this.pattern[this.#at] === "?" || /[^imsuU]/.test(on + off)) {
      const group = this.pattern.slice(open.index, open.index + 4);
      this.#fail(`there is no such group as ${group}`, hint);
    }
    // The other flags change nothing within a line.
    if (on.includes("i")) this.#ignoreCase = true;
    if (off.includes("i")) this.#ignoreCase = false;
    if (end === ")") return { type: "all", nodes: [] };
    const inner = this.#alternation();
    if (this.pattern[this.#at++] !== ")") this.#fail("a ( has no )", hint);
    this.#ignoreCase = before;
    return inner;
  }

  #escaped(): Node {
    const charClass = this.#take(CLASS_ESCAPE);
    if (charClass) {
      const inside = this.#classSource(charClass);
      return { type: "set", set: this.#brackets(inside) };
    }
    const [half] = this.#take(/\\b\{(?:start|end)(?:-half)?\}/y) ?? [];
    if (half) this.#fail(`${half} is not supported`, "A word begins at \\< and ends at \\>");
    const [, look] = this.#take(/\\([bBAzZ<>])/y) ?? [];
    if (look) {
      if (/[bB<>]/.test(look)) this.#word ??= this.#brackets("\\w");
      return { type: "look", look: TEXT_ENDS[look] ?? look as Assertion };
    }
    if (this.#take(/\\(?:[1-9]|k[<{])/y)) {
      this.#fail("back-references are not supported", "Write what it refers to once more");
    }
    return this.#literal(this.#escapedCode());
  }

  #escapedCode(): number {
    const pair = this.#take(/\\u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})/iy);
    if (pair) {
      return String.fromCharCode(parseInt(pair[1]!, 16), parseInt(pair[2]!, 16)).codePointAt(0)!;
    }
    const hex = this.#take(/\\(?:x([\da-f]{2})|u([\da-f]{4})|[xuU]\{([\da-f]{1,6})\})/iy);
    if (hex) {
      const code = parseInt(hex[1] ?? hex[2] ?? hex[3]!, 16);
      return code <= 0x10ffff ? code : this.#fail(`${hex[0]} is no character`);
    }
    const control = this.#take(/\\(?:c([a-zA-Z])|([tnvfrae])|(0)(?!\d))/y);
    if (control?.[1]) return control[1].charCodeAt(0) % 32;
    if (control?.[3]) return 0;
    if (control) return CONTROLS[control[2]!]!;
    const [, plain] = this.#take(/\\([^a-z\d])/iuy) ?? [];
    if (plain !== undefined) return plain.codePointAt(0)!;
    const next = this.pattern[this.#at + 1] ?? " at the end";
    return this.#fail(`\\${next} is no escape`, "To find a literal backslash write \\\\");
  }

  /** Returns the inside of brackets for `\d`, `\p{L}` and the like. */
  #classSource([whole, letter, name = ""]: RegExpExecArray): string {
    if (letter !== undefined) return letter === "W" ? "[^\\w]" : `\\${letter}`;
    const bare = name.replace(/^\{|\}$/g, "");
    // JavaScript has no bare names of scripts, unlike other engines.
    const forms = [`\\${whole[1]}{${bare}}`, `\\${whole[1]}{Script=${bare}}`];
    return forms.find((source) => attempt(() => new RegExp(source, "v"))) ??
      this.#fail(`there is no such property of characters as ${whole}`, "Try \\p{L} for letters");
  }

  #charClass(): CharSet {
    const [, not] = this.#take(/\[(\^?)/y)!;
    let inside = "";
    const first = this.#at;
    while (this.pattern[this.#at] !== "]" || this.#at === first) inside += this.#classItem();
    this.#at++;
    // A line feed, with optional carriage returns.
    const isLineBreak = inside.includes("{a}") && /^(\\u\{([ad])\}-\\u\{\2\})+$/.test(inside);
    if (not === "" && isLineBreak) this.#noLineBreak();
    return this.#brackets(inside, not);
  }

  /** Returns a character, a range or a class within brackets in the engine's syntax. */
  #classItem(): string {
    if (this.#take(/&&\[/y)) {
      this.#fail("sets of sets ([a&&[b]]) are not supported", "Write one set");
    }
    const posix = this.#take(/\[:(\^?)([a-z]+):\]/y);
    if (posix) {
      const inside = posix[2] === "word" ? "0-9A-Za-z_" : POSIX_CLASSES.get(posix[2]!);
      if (inside === undefined) this.#fail(`there is no such class as ${posix[0]}`);
      return `[${posix[1]}${inside}]`;
    }
    const charClass = this.#take(CLASS_ESCAPE);
    if (charClass) return `[${this.#classSource(charClass)}]`;
    const from = this.#classCode();
    // A hyphen before a class or at the end is literal.
    const isRange = this.#take(/-(?!\]|\\[dDsSwWpP]|\[:)/y) !== undefined;
    const to = isRange ? this.#classCode() : from;
    if (to < from) this.#fail("a range in [ ] is out of order", "To find a literal [ write \\[");
    return `${escapeCode(from)}-${escapeCode(to)}`;
  }

  #classCode(): number {
    if (this.#take(/\\b/y)) return 8;
    if (this.pattern[this.#at] === "\\") return this.#escapedCode();
    return this.#takeCode() ?? this.#fail("a [ has no ]", "To find a literal [ write \\[");
  }
}
