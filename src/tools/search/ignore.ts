/** `.gitignore` rules as git interprets them (gitignore(5); git's `dir.c` and `wildmatch.c`). @module */

import { gitignoreRegex } from "../../text/glob.ts";
import { SearchStopped } from "./regex/dfa.ts";

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
  /** True if rules were dropped. */
  readonly isCut: boolean;
}

/** Real files have far fewer rules. Matching a name against that many takes milliseconds. */
const MAX_IGNORE_RULES = 5000;
/** No path is longer, so no longer pattern can match. */
const MAX_PATTERN_CHARS = 4096;
/** The rules in one expression, and its approximate maximum length: the engine rejects larger ones. */
const RULES_PER_UNION = 100;
const UNION_CHARS = 10_000;
const ASCII = /^[\0-\x7f]*$/;

/**
 * Parses a `.gitignore`. Drops lines that can match nothing, and those after the first {@linkcode MAX_IGNORE_RULES}.
 * @param stop called for each line; if it returns true, this throws a `Stopped`
 */
export function parseIgnore(text: string, stop = () => false): Rules {
  const list: IgnoreRule[] = [];
  let isCut = false;
  for (const line of (ASCII.test(text) ? text : byBytes(text)).split("\n")) {
    if (stop()) throw new SearchStopped();
    const rule = parseIgnoreRule(line.replace(/\r$/, ""));
    if (rule === undefined) continue;
    isCut = list.length === MAX_IGNORE_RULES;
    if (isCut) break;
    list.push(rule);
  }
  list.reverse();
  const [names, paths] = [list.filter((r) => !r.anchored), list.filter((r) => r.anchored)];
  return { list, names: unions(names, stop), paths: unions(paths, stop), isCut };
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
    if (stop()) throw new SearchStopped();
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
    if (stop()) throw new SearchStopped();
    const sources: string[] = [];
    for (let chars = 0; chars < UNION_CHARS && sources.length < RULES_PER_UNION; i++) {
      if (i === rules.length) break;
      chars += sources[sources.push(rules[i]!.regex.source) - 1]!.length;
    }
    list.push(new RegExp(sources.join("|"), "u"));
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
  const regex = pattern === "" ? undefined : gitignoreRegex(pattern);
  return regex && { regex, anchored, keep, dirOnly };
}

function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === " ") end--;
  if (end === line.length) return line;
  let slashes = 0;
  while (line[end - 1 - slashes] === "\\") slashes++;
  return line.slice(0, slashes % 2 === 1 ? end + 1 : end);
}
