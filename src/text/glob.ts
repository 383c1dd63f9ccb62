import { globToRegExp } from "@std/path/posix/glob-to-regexp";
import { attempt } from "../attempt.ts";

/** Braces multiply a pattern; no pattern that is meant comes near. */
const MAX_EXPANDED_CHARS = 5_000;

/**
 * Translates a glob pattern (spec 4.5) into a regular expression that matches whole paths with `/`.
 *
 * `*` is any characters but `/`, `**` any characters, `?` one character but `/`; a part that is only
 * `**` is any number of parts, also none. `[a-z]`, `[!a-z]` and `[[:alpha:]]` are one character but
 * `/`, `{a,b}` is either, `\` takes the next character literally. Brackets and braces without a
 * partner are literal, and so are braces without a comma, as `{a}`. Names that begin with a dot are
 * names like any other.
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
  // An atomic group, which is never matched another way; JavaScript has no `(?>...)`.
  const atomic = (source: string): string => `(?=(?<g${++atoms}>${source}))\\k<g${atoms}>`;
  const branches = expandBraces(globTokens(pattern)).map((list) => translate(list, atomic));
  return new RegExp(`^(?:${branches.join("|")})$`, "u");
}

/** A wildcard, a brace sign, or an expression that matches exactly one character. */
type GlobToken = "*" | "**" | "{" | "," | "}" | { source: string };
const SLASH_TOKEN: GlobToken = { source: "\\/" };
const ANY_TOKEN: GlobToken = { source: "[^/]" };
/** Groups: an escaped character; stars; a set's negation and inside. Anything else is literal. */
const TOKEN_PATTERN = /\\([^])|(\*+)|\[([!^]?)(\]?(?:\\[^/]|\[:[a-z]+:\]|[^\]\\/]){0,200})\]|[^]/gu;

function globTokens(pattern: string): GlobToken[] {
  checkSize(pattern.length);
  const list: GlobToken[] = [];
  // Open braces, each with the commas directly in it: they become signs once it is closed.
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
      // As in bash, `{a}` is no choice: templates have folders called `{{name}}`.
      if (!group?.commas.length) continue;
      list[group.at] = "{";
      for (const comma of group.commas) list[comma] = ",";
      list[at] = "}";
    }
  }
  return list;
}

/** The source of an expression that matches exactly `text`. */
export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function literal(char: string): GlobToken {
  return char === "/" ? SLASH_TOKEN : { source: escapeRegex(char) };
}

/** The token of a set, undefined for an impossible one, such as `[z-a]`. */
function setOf(not: string, set: string): [GlobToken] | undefined {
  const glob = `[${not && "!"}${set.replace(/^\]/, "\\]")}]`;
  return attempt(() => {
    const source = globToRegExp(glob).source.match(/^\^(\[.*\])/s)![1]!;
    return [{ source: new RegExp(`(?!\\/)${source}`, "u").source }];
  });
}

/** The lists of tokens without braces that a list with braces expands to. */
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

/** A wildcard and the source of the literal text up to the next; `parts` is a `**` with its slash. */
type Piece = { wild: "" | "*" | "**" | "parts"; source: string };

/**
 * The expression for tokens without braces. Every wildcard but the last of its kind stays with its
 * nearest match: what a later match would leave for the next wildcard, that one leaves as well.
 */
function translate(list: readonly GlobToken[], atomic: (source: string) => string): string {
  let before = "";
  let block = "";
  // The first block is anchored, so there is no other way to match it.
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
    // Wildcards side by side are the wider of the two.
    if (!joins) all.push(last = { wild, source: "" });
    else if (last.wild !== "**") last.wild = wild;
  }
  return all;
}
