import { globToRegExp } from "@std/path/posix/glob-to-regexp";
import { attempt } from "../attempt.ts";

/** The maximum number of patterns that braces may expand to. */
const MAX_EXPANDED_CHARS = 5_000;

/**
 * Translates a glob pattern (spec 4.5) into a regular expression that matches whole paths with `/`.
 *
 * `*` matches any characters except `/`, `**` any characters, `?` one character except `/`. A part that is only
 * `**` matches zero or more parts. `[a-z]`, `[!a-z]` and `[[:alpha:]]` match one character except `/`, `{a,b}`
 * matches either, and `\` makes the next character literal. Unmatched brackets and braces are literal, and so are
 * braces without a comma, such as `{a}`. A leading dot has no special meaning.
 *
 * @throws {RangeError} when the pattern is longer than 5000 characters with its braces expanded.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { globToRegex } from "@copilot/copilot";
 *
 * assertEquals(globToRegex("src/*.{ts,js}").test("src/mod.ts"), true);
 * assertEquals(globToRegex("*.ts").test("src/mod.ts"), false);
 * ```
 */
export function globToRegex(pattern: string): RegExp {
  let atoms = 0;
  // Returns an atomic group, which is never matched in another way. JavaScript lacks `(?>...)`.
  const atomic = (source: string): string => `(?=(?<g${++atoms}>${source}))\\k<g${atoms}>`;
  const branches = expandBraces(globTokens(pattern)).map((list) => translate(list, atomic));
  return new RegExp(`^(?:${branches.join("|")})$`, "u");
}

/** A wildcard, a brace, or an expression that matches exactly one character. */
type GlobToken = "*" | "**" | "{" | "," | "}" | { source: string };
const SLASH_TOKEN: GlobToken = { source: "\\/" };
const ANY_TOKEN: GlobToken = { source: "[^/]" };
/** Groups: an escaped character; stars; the negation and content of a set. Anything else is literal. */
const TOKEN_PATTERN = /\\([^])|(\*+)|\[([!^]?)(\]?(?:\\[^/]|\[:[a-z]+:\]|[^\]\\/]){0,200})\]|[^]/gu;

function globTokens(pattern: string): GlobToken[] {
  checkSize(pattern.length);
  const list: GlobToken[] = [];
  // The open braces with their direct commas. They become operators once the brace is closed.
  const open: { at: number; commas: number[] }[] = [];
  for (const [text, escaped, stars, not, set] of pattern.matchAll(TOKEN_PATTERN)) {
    const at = list.length;
    if (set !== undefined) list.push(...setOf(not!, set) ?? Array.from(text, literal));
    else if (stars) list.push(stars.length === 1 ? "*" : "**");
    else list.push(text === "?" ? ANY_TOKEN : literal(escaped ?? text));
    if (text === "{") open.push({ at, commas: [] });
    else if (text === ",") open.at(-1)?.commas.push(at);
    else if (text === "}") {
      const group = open.pop();
      // As in bash, `{a}` is not a choice: templates have folders named `{{name}}`.
      if (!group?.commas.length) continue;
      list[group.at] = "{";
      for (const comma of group.commas) list[comma] = ",";
      list[at] = "}";
    }
  }
  return list;
}

/** Returns the source of an expression that matches exactly `text`. */
export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function literal(char: string): GlobToken {
  return char === "/" ? SLASH_TOKEN : { source: escapeRegex(char) };
}

/** Returns the token of a set; undefined for an impossible one, such as `[z-a]`. */
function setOf(not: string, set: string): [GlobToken] | undefined {
  const glob = `[${not && "!"}${set.replace(/^\]/, "\\]")}]`;
  return attempt(() => {
    const source = globToRegExp(glob).source.match(/^\^(\[.*\])/s)![1]!;
    return [{ source: new RegExp(`(?!\\/)${source}`, "u").source }];
  });
}

function expandBraces(list: readonly GlobToken[]): GlobToken[][] {
  const outer: { lists: GlobToken[][]; done: GlobToken[][] }[] = [];
  let lists: GlobToken[][] = [[]];
  let done: GlobToken[][] = [];
  for (const token of list) {
    if (token === "{") {
      outer.push({ lists, done });
      [lists, done] = [[[]], []];
    } else if (token === ",") {
      done = done.concat(lists);
      lists = [[]];
    } else if (token === "}") {
      const inner = done.concat(lists);
      const before = outer.pop()!;
      checkSize(before.lists.length * inner.length * list.length);
      lists = before.lists.flatMap((start) => inner.map((end) => [...start, ...end]));
      done = before.done;
    } else lists.forEach((one) => one.push(token));
  }
  return lists;
}

function checkSize(chars: number): void {
  if (chars <= MAX_EXPANDED_CHARS) return;
  throw new RangeError(
    `Cannot use a glob pattern as it must have at most ${MAX_EXPANDED_CHARS} characters with its braces expanded: it has up to ${chars}`,
  );
}

/** A wildcard, and the source of the literal text up to the next one. `parts`: `**` with its slash. */
type Piece = { wild: "" | "*" | "**" | "parts"; source: string };

/**
 * Returns the expression for tokens without braces. Every wildcard but the last of its kind takes its nearest
 * match, because the next wildcard covers any text that a later match would cover.
 */
function translate(list: readonly GlobToken[], atomic: (source: string) => string): string {
  let before = "";
  let block = "";
  // The first block is anchored, so it matches in one way only.
  let anchored = true;
  const all = pieces(list);
  for (const [i, { wild, source }] of all.entries()) {
    const next = all[i + 1]?.wild;
    if (wild === "*") block += next ? atomic(`[^/]*?${source}`) : `[^/]*${source}`;
    else if (wild === "**") block = `[^]*?${source}`;
    else block = wild === "parts" ? `(?:[^]*?\\/)??${source}` : source;
    if (next === "**" || next === "parts") {
      before += anchored ? block : atomic(block);
      anchored = false;
    }
  }
  return before + block;
}

function pieces(list: readonly GlobToken[]): Piece[] {
  let last: Piece = { wild: "", source: "" };
  const all = [last];
  for (let i = 0; i < list.length; i++) {
    const token = list[i] as Exclude<GlobToken, "{" | "," | "}">;
    if (typeof token === "object") {
      last.source += token.source;
      continue;
    }
    const atStart = i === 0 || list[i - 1] === SLASH_TOKEN;
    const wild = token === "**" && atStart && list[i + 1] === SLASH_TOKEN ? "parts" : token;
    if (wild === "parts") i++;
    const joins = last.source === "" && last.wild !== "" && (last.wild !== "parts" || wild !== "*");
    // Adjacent wildcards become the wider one.
    if (!joins) all.push(last = { wild, source: "" });
    else if (last.wild !== "**") last.wild = wild;
  }
  return all;
}
