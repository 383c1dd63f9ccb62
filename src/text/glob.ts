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
  checkSize(pattern.length);
  const branches = expandBraces(globTokens(pattern)).map(translate);
  return new RegExp(`^(?:${branches.join("|")})$`, "u");
}

/** Returns the expression for a pattern of a `.gitignore`, without its `!` and outer slashes; undefined if it matches nothing. */
export function gitignoreRegex(pattern: string): RegExp | undefined {
  // Git compares the text before the first special character separately, and starts the pattern after it: in `a/b**/c`
  // the stars are folders, in `a/?b**/c` they are not.
  const special = pattern.search(/[*?[\\]|$/);
  const list = globTokens(pattern.slice(special), true);
  return list && new RegExp(`^${escapeRegex(pattern.slice(0, special))}${translate(list)}$`, "u");
}

/** A wildcard, a brace, or an expression that matches exactly one character. */
type GlobToken = "*" | "**" | "{" | "," | "}" | { source: string };

const SLASH_TOKEN: GlobToken = { source: "\\/" };
const ANY_TOKEN: GlobToken = { source: "[^/]" };

/** Returns the tokens of a pattern. `isGit`: those of a `.gitignore`, in which invalid ones match nothing. */
function globTokens(pattern: string, isGit: true): GlobToken[] | undefined;
function globTokens(pattern: string): GlobToken[];
function globTokens(pattern: string, isGit = false): GlobToken[] | undefined {
  const list: GlobToken[] = [];
  // The open braces with their direct commas. They become operators once the brace is closed.
  const open: { at: number; commas: number[] }[] = [];
  // Groups: an escaped character; stars.
  const token = /\\([^])|(\*+)|[^]/gu;
  for (let found; (found = token.exec(pattern));) {
    const [text, escaped, stars] = found;
    const at = list.length;
    const set = text === "[" ? bracketSet(pattern, token.lastIndex) : undefined;
    if (isGit && (text === "\\" || text === "[" && !set)) return undefined;
    if (set && (isGit || set.isUsual)) {
      list.push({ source: set.source });
      token.lastIndex = set.end;
    } else if (stars) {
      const atStart = at === 0 || list[at - 1] === SLASH_TOKEN;
      const isWhole = atStart &&
        /^(?:\/|$)/.test(pattern.slice(token.lastIndex, token.lastIndex + 1));
      list.push(stars.length === 1 || isGit && !isWhole ? "*" : "**");
    } else list.push(text === "?" ? ANY_TOKEN : literal(escaped ?? text));
    if (isGit) continue;
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

// Outside brackets, a backslash does not escape a hyphen.
const escapeInSet = (char: string): string => escapeRegex(char).replace("-", "\\x2d");

function literal(char: string): GlobToken {
  return char === "/" ? SLASH_TOKEN : { source: escapeRegex(char) };
}

/** The maximum length of a set. */
const MAX_SET_CHARS = 200;

/** Parses a set after its `[`, as git does. `isUsual`: it has characters, and no slash. */
function bracketSet(
  pattern: string,
  start: number,
): { source: string; end: number; isUsual: boolean } | undefined {
  const negated = /[!^]/.test(pattern[start] ?? "");
  const begin = start + (negated ? 1 : 0);
  const item = /\[:([^\]]*):\]|(\\?)([^])/uy;
  const rangeEnd = /\\?([^])/uy;
  let inside = "";
  let previous = "";
  for (item.lastIndex = begin; item.lastIndex <= start + MAX_SET_CHARS;) {
    const at = item.lastIndex;
    const found = item.exec(pattern);
    if (found === null) return undefined;
    const [, posix, slash, char = ""] = found;
    if (char === "]" && slash === "" && at > begin) {
      const isUsual = inside !== "" && !pattern.slice(begin, at).includes("/");
      const source = `(?!\\/)[${negated ? "^" : ""}${inside}]`;
      return { source, end: item.lastIndex, isUsual };
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
        inside += `${escapeInSet(previous)}-${escapeInSet(last)}`;
      }
      previous = "";
    } else {
      inside += escapeInSet(char);
      previous = char;
    }
  }
}

/** The characters of each `[:name:]`, as the inside of brackets. */
export const POSIX_CLASSES: ReadonlyMap<string, string> = new Map([
  ["alnum", "0-9A-Za-z"],
  ["alpha", "A-Za-z"],
  ["blank", " \\t"],
  ["cntrl", "\\x00-\\x1f\\x7f"],
  ["digit", "0-9"],
  ["graph", "\\x21-\\x7e"],
  ["lower", "a-z"],
  ["print", "\\x20-\\x7e"],
  ["punct", "!-\\/:-@\\[-`\\{-~"],
  ["space", "\\t-\\r "],
  ["upper", "A-Z"],
  ["xdigit", "0-9A-Fa-f"],
]);

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
function translate(list: readonly GlobToken[]): string {
  let atoms = 0;
  // Returns an atomic group, which is never matched in another way. JavaScript lacks `(?>...)`.
  const atomic = (source: string): string => `(?=(?<g${++atoms}>${source}))\\k<g${atoms}>`;
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
