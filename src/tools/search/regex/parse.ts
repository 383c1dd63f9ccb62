/**
 * Parses the regular expressions that models write: what JavaScript and ripgrep have in common, and
 * the habits of both. What needs backtracking (look-around, back-references) is refused.
 *
 * A set of characters is a predicate, which asks the native engine about one code point at a time:
 * that knows Unicode, and takes constant time.
 *
 * @module
 */

import { POSIX_CLASSES } from "../ignore.ts";

/** A condition on a place: begin and end of a line, `\b`, `\B`, begin and end of a word. */
export type Look = "^" | "$" | "b" | "B" | "<" | ">";

/** Which characters may be at one place. */
export interface CharSet {
  /** Its index in {@linkcode Regex.sets}. */
  id: number;
  has(codePoint: number): boolean;
  /** The only code point in it, where it is a character in one case. */
  only?: number;
  /** True where no code point beyond ASCII is in it. */
  ascii: boolean;
}

/** A part of an expression. */
export type Node =
  | { type: "set"; set: CharSet }
  | { type: "look"; look: Look }
  | { type: "all"; nodes: Node[] }
  | { type: "any"; nodes: Node[] }
  | { type: "repeat"; node: Node; min: number; max: number };

/** An expression. */
export interface Regex {
  root: Node;
  sets: CharSet[];
  /** What counts as a word, where a {@linkcode Look} asks for it. */
  word: CharSet | undefined;
}

/** Deeper nesting, which nobody means, would take more stack than there is. */
const MAX_DEPTH = 200;

/** What `\w` is within brackets, as Unicode has it (UTS 18). */
const WORD = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u200c\\u200d";
const CLASSES: Readonly<Record<string, string>> = {
  d: "\\d",
  D: "\\D",
  s: "\\s",
  S: "\\S",
  w: "\\w",
  W: "[^\\w]",
};
const CONTROLS: Readonly<Record<string, number>> = {
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  a: 7,
  e: 27,
};
const LOOKS: Readonly<Record<string, Look>> = {
  b: "b",
  B: "B",
  "<": "<",
  ">": ">",
  A: "^",
  z: "$",
  Z: "$",
};

const ESCAPE_ALL = "To find a literal text put \\ before each of \\ ^ $ . * + ? ( ) [ ] { } |";

/**
 * Parses `pattern`.
 *
 * @throws {SyntaxError} when it is no expression; the message names the next move.
 */
export function parseRegex(pattern: string): Regex {
  const sets: CharSet[] = [];
  const known = new Map<string, CharSet>();
  let word: CharSet | undefined;
  let at = 0;
  let depth = 0;
  let ignoreCase = false;

  function fail(reason: string, next = ESCAPE_ALL): never {
    const shown = JSON.stringify(pattern.length > 200 ? `${pattern.slice(0, 200)}...` : pattern);
    throw new SyntaxError(`Cannot search for ${shown} as ${reason}. ${next}`);
  }

  /** Takes what `regex` (sticky) matches here. */
  function take(regex: RegExp): RegExpExecArray | undefined {
    regex.lastIndex = at;
    const found = regex.exec(pattern) ?? undefined;
    at += found?.[0].length ?? 0;
    return found;
  }

  function set(key: string, make: () => Omit<CharSet, "id">): CharSet {
    let found = known.get(key);
    if (found === undefined) {
      found = { ...make(), id: sets.length };
      known.set(key, found);
      sets.push(found);
    }
    return found;
  }

  function literal(code: number): Node {
    if (code === 10) {
      fail(
        "it has a line break in it",
        "A match lies within one line: search for one of the lines",
      );
    }
    const char = String.fromCodePoint(code);
    const cased = ignoreCase && (code > 127 || /[a-z]/i.test(char));
    if (cased) return { type: "set", set: brackets(escapeCode(code), "", code < 128) };
    const one = { only: code, ascii: code < 128, has: (other: number) => other === code };
    return { type: "set", set: set(char, () => one) };
  }

  /** The set for the inside of a pair of brackets, in the engine's own syntax. */
  function brackets(inside: string, not: "^" | "", ascii: boolean): CharSet {
    const flags = ignoreCase ? "iv" : "v";
    return set(`[${not}${inside}]${flags}`, () => {
      const one = new RegExp(`^[${not}${inside}]$`, flags);
      // The engine takes a millisecond to get the whole of Unicode ready.
      let wide: RegExp | undefined;
      const has = (code: number) => {
        if (code < 128) return one.test(String.fromCharCode(code));
        wide ??= new RegExp(`^[${not}${inside.replaceAll("\\w", WORD)}]$`, flags);
        return wide.test(String.fromCodePoint(code));
      };
      // Two signs beyond ASCII are s and k in another case.
      const only = ascii && not === "" && !(ignoreCase && (has(0x73) || has(0x6b)));
      return { has, ascii: only };
    });
  }

  function alternation(): Node {
    if (++depth > MAX_DEPTH) {
      throw new SyntaxError(
        `Cannot search for a pattern with groups nested over ${MAX_DEPTH} deep`,
      );
    }
    const nodes = [sequence()];
    while (pattern[at] === "|") {
      at++;
      nodes.push(sequence());
    }
    depth--;
    return nodes.length === 1 ? nodes[0]! : { type: "any", nodes };
  }

  function sequence(): Node {
    const nodes: Node[] = [];
    while (at < pattern.length && pattern[at] !== "|" && pattern[at] !== ")") {
      const node = atom();
      const found = take(/([*+?])\??|\{(\d+)(,?)(\d*)\}\??|\{,(\d+)\}\??/y);
      if (found === undefined) {
        nodes.push(node);
        continue;
      }
      const [whole, sign, from, comma, to, upTo] = found;
      const min = sign === "+" ? 1 : Number(from ?? 0);
      let max = sign === "?" ? 1 : sign ? Infinity : comma ? Number(to || Infinity) : min;
      if (upTo !== undefined) max = Number(upTo);
      if (max < min) fail(`the numbers of ${whole} are out of order`);
      if (take(/(?=[*+?]|\{,?\d)/y)) noRepeat();
      nodes.push({ type: "repeat", node, min, max });
    }
    return nodes.length === 1 ? nodes[0]! : { type: "all", nodes };
  }

  function noRepeat(): never {
    return fail(
      `there is nothing to repeat for the ${pattern[at]} at ${at + 1}`,
      "To find a literal * + ? or { put \\ before it",
    );
  }

  function atom(): Node {
    const char = pattern[at]!;
    if (char === "(") return group();
    if (char === "[") return { type: "set", set: charClass() };
    if (char === "\\") return escaped();
    if (/[*+?]/.test(char)) noRepeat();
    if (char === "^" || char === "$") {
      at++;
      return { type: "look", look: char };
    }
    const code = pattern.codePointAt(at)!;
    at += code > 0xffff ? 2 : 1;
    return char === "." ? { type: "set", set: brackets("^\\n", "", false) } : literal(code);
  }

  function group(): Node {
    const hint = "To find a literal ( or ) write \\( or \\)";
    const look = take(/\(\?<?[=!]/y);
    if (look) {
      fail(
        `look-around such as ${look[0]}...) is not supported`,
        "Search for the rest, and judge by the lines found (context_lines shows those around them)",
      );
    }
    const before = ignoreCase;
    const open = take(/\((?:\?P?<[^>]*>|\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)]))?/y)!;
    const [, on = "", off = "", end] = open;
    if (open[0] === "(" && pattern[at] === "?" || /[^imsuU]/.test(on + off)) {
      fail(`there is no such group as ${pattern.slice(open.index, open.index + 4)}`, hint);
    }
    // The other flags change nothing within a line.
    if (on.includes("i")) ignoreCase = true;
    if (off.includes("i")) ignoreCase = false;
    if (end === ")") return { type: "all", nodes: [] };
    const inner = alternation();
    if (pattern[at++] !== ")") fail("a ( has no )", hint);
    ignoreCase = before;
    return inner;
  }

  function escaped(): Node {
    const class_ = take(CLASS_ESCAPE);
    if (class_) return { type: "set", set: brackets(classSource(class_), "", class_[1] === "d") };
    const [look] = take(/\\[bBAzZ<>]/y) ?? [];
    if (look) {
      if (/[bB<>]/.test(look)) word ??= brackets("\\w", "", false);
      return { type: "look", look: LOOKS[look[1]!]! };
    }
    if (take(/\\(?:[1-9]|k[<{])/y)) {
      fail("back-references are not supported", "Write what it refers to once more");
    }
    return literal(escapedCode());
  }

  /** The code point that an escape stands for. */
  function escapedCode(): number {
    const pair = take(/\\u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})/iy);
    if (pair) {
      return String.fromCharCode(parseInt(pair[1]!, 16), parseInt(pair[2]!, 16)).codePointAt(0)!;
    }
    const hex = take(/\\(?:x([\da-f]{2})|u([\da-f]{4})|[xuU]\{([\da-f]{1,6})\})/iy);
    if (hex) {
      const code = parseInt(hex[1] ?? hex[2] ?? hex[3]!, 16);
      return code <= 0x10ffff ? code : fail(`${hex[0]} is no character`);
    }
    const control = take(/\\(?:c([a-zA-Z])|([tnvfrae])|(0)(?!\d))/y);
    if (control?.[1]) return control[1].charCodeAt(0) % 32;
    if (control?.[3]) return 0;
    if (control) return CONTROLS[control[2]!]!;
    const [, plain] = take(/\\([^a-z\d])/iuy) ?? [];
    if (plain !== undefined) return plain.codePointAt(0)!;
    return fail(
      `\\${pattern[at + 1] ?? " at the end"} is no escape`,
      "To find a literal backslash write \\\\",
    );
  }

  /** The inside of brackets for `\d`, `\p{L}` and the like. */
  function classSource([whole, letter, name = ""]: RegExpExecArray): string {
    if (letter !== undefined) return CLASSES[letter]!;
    // Scripts go by their bare names elsewhere.
    const bare = name.replace(/^\{|\}$/g, "");
    for (const source of [`\\${whole[1]}{${bare}}`, `\\${whole[1]}{Script=${bare}}`]) {
      try {
        new RegExp(source, "v");
        return source;
      } catch {
        // Not this one.
      }
    }
    return fail(`there is no such property of characters as ${whole}`, "Try \\p{L} for letters");
  }

  function charClass(): CharSet {
    const [, not] = take(/\[(\^?)/y)!;
    const items: string[] = [];
    let ascii = true;
    let breaks = 0;
    const first = at;
    while (pattern[at] !== "]" || at === first) {
      if (take(/&&\[/y)) fail("sets of sets ([a&&[b]]) are not supported", "Write one set");
      const posix = take(/\[:(\^?)([a-z]+):\]/y);
      const class_ = posix ? undefined : take(CLASS_ESCAPE);
      if (posix) {
        const inside = posix[2] === "word" ? "0-9A-Za-z_" : POSIX_CLASSES.get(posix[2]!);
        if (inside === undefined) fail(`there is no such class as ${posix[0]}`);
        ascii &&= posix[1] === "";
        items.push(`[${posix[1]}${inside}]`);
      } else if (class_) {
        ascii &&= class_[1] === "d";
        items.push(`[${classSource(class_)}]`);
      } else {
        const from = classCode();
        // A hyphen before a class or at the end is one.
        const range = take(/-(?!\]|\\[dDsSwWpP]|\[:)/y);
        const to = range ? classCode() : from;
        if (to < from) fail("a range in [ ] is out of order", "To find a literal [ write \\[");
        ascii &&= to < 128;
        if (from === 10 && to === 10 || from === 13 && to === 13) breaks++;
        items.push(`${escapeCode(from)}-${escapeCode(to)}`);
      }
    }
    at++;
    if (not === "" && breaks === items.length && items.includes("\\u{a}-\\u{a}")) literal(10);
    return brackets(items.join(""), not as "^" | "", ascii);
  }

  function classCode(): number {
    if (take(/\\b/y)) return 8;
    if (pattern[at] === "\\") return escapedCode();
    const code = pattern.codePointAt(at);
    if (code === undefined) fail("a [ has no ]", "To find a literal [ write \\[");
    at += code > 0xffff ? 2 : 1;
    return code;
  }

  const root = alternation();
  if (at < pattern.length) fail("a ) has no (", "To find a literal ) write \\)");
  return { root, sets, word };
}

/** `\d` and the like, `\p{L}`, `\pL`. */
const CLASS_ESCAPE = /\\(?:([dDsSwW])|[pP](\{[^{}\\]*\}|[A-Z]))/y;

const escapeCode = (code: number) => `\\u{${code.toString(16)}}`;
