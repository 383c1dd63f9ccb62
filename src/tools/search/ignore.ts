/** `.gitignore` rules as git interprets them (gitignore(5); git's `dir.c` and `wildmatch.c`). @module */

import { escapeRegex } from "../../text/glob.ts";
import { POSIX_CLASSES } from "./regex/char_sets.ts";
import { Stopped } from "./regex/dfa.ts";

/** The verdict of rules on a path: true ignores it, false (a `!` rule) includes it. */
export type IgnoreVerdict = boolean | undefined;

interface IgnoreRule {
  regex: RegExp;
  /** True if it is matched against the path from the rules' folder, false for the bare name. */
  anchored: boolean;
  keep: boolean;
  dirOnly: boolean;
}

export interface Rules {
  /** The last line first, because the last match decides. */
  readonly list: readonly IgnoreRule[];
  /** All rules in a few expressions, which quickly reject most paths. */
  readonly names: readonly RegExp[];
  readonly paths: readonly RegExp[];
  /** The share of {@linkcode MAX_RULES_COST} that the rules use. */
  readonly cost: number;
  /** True if rules were dropped because they exceed the allowed cost. */
  readonly isCut: boolean;
}

/**
 * The maximum cost of the rules for one path: the characters of their lines, plus {@linkcode LINE_COST} for each line.
 * Real rules are far below it. Matching a name against that many takes milliseconds.
 */
export const MAX_RULES_COST = 256 * 1024;
const LINE_COST = 32;

/** No path is longer, so no longer pattern can match. */
const MAX_PATTERN_CHARS = 4096;
/** The rules in one expression, and its approximate maximum length: the engine rejects larger ones. */
const RULES_PER_UNION = 100;
const UNION_CHARS = 10_000;
const ASCII = /^[\0-\x7f]*$/;

/**
 * Parses a `.gitignore`. Drops lines that can match nothing, and all lines after those that cost `room`.
 * @param stop called for each line; if it returns true, this throws a `Stopped`
 */
export function parseIgnore(text: string, room = MAX_RULES_COST, stop = () => false): Rules {
  const list: IgnoreRule[] = [];
  let cost = 0;
  let isCut = false;
  for (const line of (ASCII.test(text) ? text : byBytes(text)).split("\n")) {
    if (stop()) throw new Stopped();
    const rule = parseIgnoreRule(line.replace(/\r$/, ""));
    if (rule === undefined) continue;
    isCut = cost + line.length + LINE_COST > room;
    if (isCut) break;
    cost += line.length + LINE_COST;
    list.push(rule);
  }
  list.reverse();
  const [names, paths] = [list.filter((r) => !r.anchored), list.filter((r) => r.anchored)];
  return { list, names: unions(names, stop), paths: unions(paths, stop), cost, isCut };
}

/**
 * Applies `rules` to a file or folder with `path`, relative to their folder, and its last part `name`.
 * @param stop called about every millisecond; if it returns true, this throws a `Stopped`
 */
export function verdict(
  rules: Rules,
  path: string,
  name: string,
  isDir: boolean,
  stop = () => false,
): IgnoreVerdict {
  if (!ASCII.test(path)) {
    path = byBytes(path);
    name = byBytes(name);
  }
  const test = (regex: RegExp, text: string) => {
    if (stop()) throw new Stopped();
    return regex.test(text);
  };
  if (!rules.names.some((r) => test(r, name)) && !rules.paths.some((r) => test(r, path))) return;
  for (const rule of rules.list) {
    if (rule.dirOnly && !isDir) continue;
    if (test(rule.regex, rule.anchored ? path : name)) return !rule.keep;
  }
}

/** Returns one character per UTF-8 byte: in git, `?` matches a byte. */
function byBytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

function unions(rules: readonly IgnoreRule[], stop: () => boolean): RegExp[] {
  const list: RegExp[] = [];
  for (let i = 0; i < rules.length;) {
    if (stop()) throw new Stopped();
    const sources: string[] = [];
    for (let chars = 0; chars < UNION_CHARS && sources.length < RULES_PER_UNION; i++) {
      if (i === rules.length) break;
      chars += sources[sources.push(rules[i]!.regex.source) - 1]!.length;
    }
    list.push(new RegExp(sources.join("|"), "su"));
  }
  return list;
}

function parseIgnoreRule(line: string): IgnoreRule | undefined {
  if (line.startsWith("#") || line.length > MAX_PATTERN_CHARS) return undefined;
  let pattern = withoutTrailingSpaces(line);
  const keep = pattern.startsWith("!");
  if (keep) pattern = pattern.slice(1);
  const dirOnly = pattern.endsWith("/");
  if (dirOnly) pattern = pattern.slice(0, -1);
  const anchored = pattern.includes("/");
  if (pattern.startsWith("/")) pattern = pattern.slice(1);
  const source = pattern === "" ? undefined : wildmatch(pattern);
  if (source === undefined) return undefined;
  return { regex: new RegExp(`^(?:${source})$`, "su"), anchored, keep, dirOnly };
}

function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === " ") end--;
  if (end === line.length) return line;
  let slashes = 0;
  while (line[end - 1 - slashes] === "\\") slashes++;
  return line.slice(0, slashes % 2 === 1 ? end + 1 : end);
}

/** Stars within a name, any number of folders, everything below, or the source for one character. */
type IgnoreToken = "*" | "**/" | "**" | { source: string };

const SLASH_SIGN: IgnoreToken = { source: "\\/" };
// Outside brackets, a backslash does not escape a hyphen.
const escapeSigns = (text: string) => escapeRegex(text).replaceAll("-", "\\x2d");

/** Returns the source of an expression for `pattern`; undefined if it matches nothing in git. */
function wildmatch(pattern: string): string | undefined {
  // Git compares the text before the first special character separately, and starts the pattern after it: in `a/b**/c`
  // the stars are folders, in `a/?b**/c` they are not.
  const special = pattern.search(/[*?[\\]/);
  if (special === -1) return escapeSigns(pattern);
  const tokens = tokenize(pattern.slice(special));
  return tokens && escapeSigns(pattern.slice(0, special)) + foldersSource(tokens);
}

function tokenize(pattern: string): IgnoreToken[] | undefined {
  const tokens: IgnoreToken[] = [];
  for (let i = 0; i < pattern.length;) {
    const char = String.fromCodePoint(pattern.codePointAt(i)!);
    if (char === "*") {
      let end = i;
      while (pattern[end] === "*") end++;
      const before = tokens.at(-1);
      const atStart = before === undefined || before === SLASH_SIGN || before === "**/";
      const isWhole = end - i > 1 && atStart;
      if (isWhole && pattern[end] === "/") {
        if (before !== "**/") tokens.push("**/");
        end++;
      } else tokens.push(isWhole && end === pattern.length ? "**" : "*");
      i = end;
    } else if (char === "[") {
      const set = bracketSet(pattern, i + 1);
      if (set === undefined) return undefined;
      tokens.push({ source: set.source });
      i = set.end;
    } else if (char === "\\") {
      if (i + 1 === pattern.length) return undefined;
      const next = String.fromCodePoint(pattern.codePointAt(i + 1)!);
      tokens.push(next === "/" ? SLASH_SIGN : { source: escapeSigns(next) });
      i += 1 + next.length;
    } else {
      if (char === "/") tokens.push(SLASH_SIGN);
      else tokens.push({ source: char === "?" ? "[^\\/]" : escapeSigns(char) });
      i += char.length;
    }
  }
  return tokens;
}

/** Parses a set after its `[`. */
function bracketSet(pattern: string, start: number): { source: string; end: number } | undefined {
  const negated = /[!^]/.test(pattern[start] ?? "");
  const begin = start + (negated ? 1 : 0);
  const item = /\[:([^\]]*):\]|(\\?)([^])/uy;
  const rangeEnd = /\\?([^])/uy;
  let inside = "";
  let previous = "";
  for (item.lastIndex = begin;;) {
    const at = item.lastIndex;
    const found = item.exec(pattern);
    if (found === null) return undefined;
    const [, posix, slash, char = ""] = found;
    if (char === "]" && slash === "" && at > begin) {
      return { source: `(?!\\/)[${negated ? "^" : ""}${inside}]`, end: item.lastIndex };
    }
    if (posix !== undefined) {
      if (!POSIX_CLASSES.has(posix)) return undefined;
      inside += POSIX_CLASSES.get(posix);
      previous = "";
    } else if (char === "-" && slash === "" && previous !== "" && pattern[at + 1] !== "]") {
      rangeEnd.lastIndex = at + 1;
      const last = rangeEnd.exec(pattern)?.[1];
      if (last === undefined) return undefined;
      item.lastIndex = rangeEnd.lastIndex;
      if (last.codePointAt(0)! >= previous.codePointAt(0)!) {
        inside += `${escapeSigns(previous)}-${escapeSigns(last)}`;
      }
      previous = "";
    } else {
      inside += escapeSigns(char);
      previous = char;
    }
  }
}

/*
 * A star matches as little as possible: the pattern from it to the next star has a fixed length, so the first place
 * that fits is as good as any later one. The lookaheads below keep the engine from trying later ones, which would take
 * exponential time. The same applies to `**` + `/`.
 */

function foldersSource(tokens: readonly IgnoreToken[]): string {
  const groups = splitAt(tokens, (token) => token === "**/");
  return groups.map((group, i) => {
    const source = splitAt(group, (token) => token === SLASH_SIGN).map(name).join("\\/");
    if (i === 0) return source;
    const skip = i < groups.length - 1 && source !== "" ? `(?!${source})` : "";
    return `(?:${skip}[^\\/]*\\/)*${source}`;
  }).join("");
}

function name(tokens: readonly IgnoreToken[]): string {
  const parts = splitAt(tokens, (token) => token === "*");
  return parts.map((part, i) => {
    const source = part.map((token) => typeof token === "string" ? ".*" : token.source).join("");
    if (i === 0) return source;
    return i < parts.length - 1 ? `(?:(?!${source})[^\\/])*${source}` : `[^\\/]*${source}`;
  }).join("");
}

function splitAt<T>(list: readonly T[], at: (item: T) => boolean): T[][] {
  const parts: T[][] = [[]];
  for (const item of list) at(item) ? parts.push([]) : parts.at(-1)!.push(item);
  return parts;
}
