/**
 * Regular expressions for a search by line.
 *
 * Running an expression on every line apart is slow. So it is rewritten such that no part of it
 * matches a line break, which makes a match in the whole text a match in a line. And where it begins
 * with a repeat, which the engine tries at every place in vain (`.*x` takes the square of a line), a
 * text that every match contains is taken from it, and only the lines that have it are tried.
 *
 * @module
 */

import { POSIX_CLASSES } from "./ignore.ts";

/** An expression that matches within lines. */
export interface LinePattern {
  /** Flags `g` and `m`, stays within a line. */
  regex: RegExp;
  /** Finds what every match contains, where that is faster. */
  finder: RegExp | undefined;
  /** True where trying it may take more than a small multiple of the text's length. */
  backtracks: boolean;
  /** True where it asks for a line break, which never matches. */
  asksForBreak: boolean;
}

/** A part of an expression, rewritten. */
interface Part {
  source: string;
  /** Every match contains one of these; empty where nothing is known. */
  needs: readonly string[];
  /** True where a repeat without an end comes before the first of them. */
  slow: boolean;
  /** The character that it is, and nothing else. */
  char?: string;
}

/** More would be slower to look for than the expression itself. */
const MAX_NEEDS = 16;
/** Optional parts and alternatives multiply: up to so many, trying all takes no time. */
const MAX_CHOICES = 6;
/** Deeper nesting, which nobody means, would take more stack than there is. */
const MAX_DEPTH = 200;

/**
 * Compiles what a model wrote. Beyond JavaScript's syntax it takes what models write from habit: a
 * leading `(?i)`, `(?P<name>`, `[[:alpha:]]`, `\A`, `\z`, a literal `{`, needless backslashes.
 *
 * @throws {SyntaxError} when it is no regular expression; the message names the next move.
 */
export function compileLinePattern(pattern: string): LinePattern {
  const [, inline = "", rest = ""] = /^((?:\(\?[imsu]+\))*)([^]*)$/.exec(pattern)!;
  const flags = inline.includes("i") ? "gimu" : "gmu";
  let parsed = parse(rest);
  // In a line, whatever comes first is no condition; but trying it costs the square of the length.
  const leading = /^\^?\.\*\??(?![*+?{])/.exec(rest);
  if (leading !== null && !parsed.alternatives) parsed = parse(rest.slice(leading[0].length));
  const { needs, slow, source, backtracks, asksForBreak } = parsed;
  const any = needs.map(escape).join("|");
  try {
    return {
      regex: new RegExp(source, flags),
      finder: slow && any !== "" ? new RegExp(any, flags) : undefined,
      backtracks,
      asksForBreak,
    };
  } catch (error) {
    const reason = (error as Error).message.replace(/^.*\/[a-z]+: /s, "");
    throw new SyntaxError(
      `Cannot search for ${
        quote(pattern)
      } as it must be a JavaScript regular expression: ${reason}. ` +
        nextMove(reason),
      { cause: error },
    );
  }
}

function nextMove(reason: string): string {
  if (/group/i.test(reason)) {
    return "To find a literal ( or ) write \\( or \\); to ignore case, begin with (?i)";
  }
  if (/unmatched/i.test(reason)) return "To find a literal ) write \\)";
  if (/character class/i.test(reason)) return "To find a literal [ write \\[";
  if (/repeat|quantifier/i.test(reason)) return "To find a literal * + ? or { put \\ before it";
  if (/escape/i.test(reason)) return "To find a literal backslash write \\\\";
  return "To find a literal text put \\ before each of \\ ^ $ . * + ? ( ) [ ] { } |";
}

const quote = (text: string) =>
  JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}...` : text);

const escape = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** What stands for an escape that means something else here, or may match a line break. */
const ESCAPES: Readonly<Record<string, string>> = {
  s: "[^\\S\\n\\r]",
  W: "[^\\w\\n\\r]",
  D: "[^\\d\\n\\r]",
  A: "^",
  z: "$",
  Z: "$",
  n: "[]",
};

function parse(pattern: string): Part & {
  alternatives: boolean;
  backtracks: boolean;
  asksForBreak: boolean;
} {
  let at = 0;
  let depth = 0;
  let choices = 0;
  let unbounded = false;
  let asksForBreak = false;

  /** Takes what `regex` (sticky) matches here. */
  function take(regex: RegExp): string | undefined {
    regex.lastIndex = at;
    const found = regex.exec(pattern)?.[0];
    at += found?.length ?? 0;
    return found;
  }

  function alternation(): Part & { alternatives: boolean } {
    const branches = [sequence()];
    while (pattern[at] === "|") {
      at++;
      choices++;
      branches.push(sequence());
    }
    const needs = branches.flatMap((branch) => branch.needs);
    const known = branches.every((branch) => branch.needs.length > 0) && needs.length <= MAX_NEEDS;
    return {
      source: branches.map((branch) => branch.source).join("|"),
      needs: known ? needs : [],
      slow: branches.some((branch) => branch.slow),
      alternatives: branches.length > 1,
    };
  }

  function sequence(): Part {
    let source = "";
    let run = "";
    let slow = false;
    let needs: readonly string[] = [];
    const offer = (found: readonly string[]) => {
      const shortest = (list: readonly string[]) => Math.min(...list.map((text) => text.length));
      if (found.length > 0 && (needs.length === 0 || shortest(found) > shortest(needs))) {
        needs = found;
      }
    };
    const endRun = () => {
      if (run !== "") offer([run]);
      run = "";
    };
    while (at < pattern.length && pattern[at] !== "|" && pattern[at] !== ")") {
      const part = atom();
      const quantifier = take(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y);
      source += part.source + (quantifier ?? "");
      const optional = /^[*?]|^\{0+[,}]/.test(quantifier ?? "");
      const endless = /^[*+]|,\}/.test(quantifier ?? "");
      slow ||= (part.slow || endless) && run === "" && needs.length === 0;
      if (quantifier?.startsWith("?")) choices++;
      else if (quantifier !== undefined) unbounded = true;
      if (part.char !== undefined && !optional) run += part.char;
      if (part.char === undefined || quantifier !== undefined) endRun();
      if (!optional) offer(part.needs);
    }
    endRun();
    return { source, needs, slow };
  }

  const unknown = (source: string): Part => ({ source, needs: [], slow: false });
  const literal = (char: string): Part => ({ source: escape(char), needs: [], slow: false, char });

  function atom(): Part {
    if (pattern[at] === "(") return group();
    if (pattern[at] === "[") return unknown(set());
    if (pattern[at] === "\\") return escaped();
    const special = take(/[.^$*+?]/y);
    if (special !== undefined) return unknown(special);
    const char = String.fromCodePoint(pattern.codePointAt(at)!);
    at += char.length;
    if (char === "\n") asksForBreak = true;
    return literal(char);
  }

  function group(): Part {
    const open = take(/\((?:\?(?:[:=!]|<[=!]|P?<[^>]*>|[a-z]*-?[a-z]*:)?)?/y)!;
    if (++depth > MAX_DEPTH) {
      throw new SyntaxError(
        `Cannot search for a pattern with groups nested over ${MAX_DEPTH} deep`,
      );
    }
    const inner = alternation();
    depth--;
    const close = take(/\)/y) ?? "";
    const source = open.replace("?P<", "?<") + inner.source + close;
    const plain = /^\((?:$|\?:|\?P?<[^=!])/.test(open);
    return { source, needs: plain ? inner.needs : [], slow: inner.slow };
  }

  function escaped(): Part {
    const whole = take(
      /\\(?:[pP]\{[^}]*\}|k<[^>]*>|x[\da-f]{2}|u\{[\da-f]+\}|u[\da-f]{4}|c[a-z]|\d+|[a-z])/iy,
    );
    if (whole === undefined) {
      const char = pattern.codePointAt(at + 1);
      at += 1 + (char === undefined ? 0 : String.fromCodePoint(char).length);
      return char === undefined ? unknown("\\") : literal(String.fromCodePoint(char));
    }
    if (whole === "\\n") asksForBreak = true;
    if (whole.startsWith("\\P")) return unknown(`(?:(?![\\n\\r])${whole})`);
    return unknown(ESCAPES[whole.slice(1)] ?? whole);
  }

  function set(): string {
    const open = take(/\[\^?/y)!;
    let inside = "";
    let mayBreak = false;
    while (at < pattern.length && pattern[at] !== "]") {
      const posix = take(/\[:[a-z]+:\]/y);
      const char = posix ?? take(/\\[^]|[^]/y) ?? "\\";
      mayBreak ||= /^\[:|^\\[^\dwdSt\W]|\n/.test(char);
      // The engine refuses a backslash where none is needed.
      const bare = /^\\[^a-z\d^$\\.*+?()[\]{}|/-]/i.test(char);
      inside += bare ? char.slice(1) : POSIX_CLASSES.get(posix?.slice(2, -2) ?? "") ?? char;
    }
    const source = `${open}${open === "[^" ? "\\n\\r" : ""}${inside}${take(/\]/y) ?? ""}`;
    return mayBreak && open === "[" ? `(?:(?![\\n\\r])${source})` : source;
  }

  const { source, needs, slow, alternatives } = alternation();
  return {
    // A parenthesis without a partner is left over: the engine names it.
    source: source + pattern.slice(at),
    needs,
    slow,
    alternatives,
    backtracks: unbounded || choices > MAX_CHOICES,
    asksForBreak,
  };
}
