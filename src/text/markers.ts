/** Finds markers (tags, signs of tool calls, fences) in text that streams. @module */

import { CodeTracker, GRAVE, spanSearch, TILDE } from "./code_tracker.ts";

/** The result of {@linkcode MarkerReader.next}. */
export interface MarkedText {
  text: string;
  /** The marker behind the text. */
  marker?: string;
  /** True where the marker is the first of its line. */
  isFirst?: boolean;
  /** As {@linkcode CodeTracker.isQuoted} says at the marker. */
  isQuoted?: boolean;
}

/** The sign that a tag begins with. */
const TAG = 60;

const NO_FENCES: readonly string[] = [];
/** Longer than any marker; fences and the space around their info string are bounded by it. */
const MAX_MARKER = 200;

/**
 * Finds markers in text, however it is cut into pieces. Holds back only a possible beginning of a marker,
 * half a surrogate pair, and, behind a backtick of an earlier line, a marker until that code ends.
 */
export class MarkerReader {
  readonly #find: Finder;
  readonly #findBeginning: Finder;
  readonly #findsInCode: boolean;
  #code = new CodeTracker();
  #rest = "";
  /** The length of the part of `#rest` that the tracker has read. */
  #tracked = 0;
  /** Searches the text that follows for the end of the inline code that `#rest` may begin in. */
  #search: ReturnType<typeof spanSearch> | undefined;
  /** The result of that search. */
  #isCode: boolean | undefined;
  /** The text since: appended to `#rest` piece by piece, it would be copied each time. */
  #waiting: string[] = [];

  /**
   * @param literals The markers, as {@linkcode foldMarker} has them or in any spelling that it folds; of at
   * most 64 characters, none the beginning of another. In one that begins with `<*:`, the sign stands for any
   * namespace that no other marker has.
   * @param options `fences`: info strings whose line, its line feed included, is a marker. `inCode`: true
   * where markers within Markdown code count; by default they do not. `tokens`: patterns of further markers
   * that begin with `<`, and `begun`, of which every one's beginning matches.
   */
  constructor(
    literals: readonly string[],
    { fences = NO_FENCES, inCode = false, tokens = NO_FENCES, begun = "" }: {
      fences?: readonly string[];
      inCode?: boolean;
      tokens?: readonly string[];
      begun?: string;
    } = {},
  ) {
    [this.#find, this.#findBeginning] = findersOf(literals, fences, tokens, begun);
    this.#findsInCode = inCode;
  }

  push(text: string): void {
    if (this.#search) {
      this.#waiting.push(text);
      this.#isCode ??= this.#search(text);
    } else this.#rest += text;
  }

  /**
   * Reads up to and with the next marker. Without one, the text is all that is certainly not part of one;
   * with `final`, all there is. The caller then calls {@linkcode keep} or {@linkcode drop}.
   */
  next(final: boolean): MarkedText {
    if (this.#search && this.#isCode === undefined && !final) return { text: "" };
    for (let from = 0;;) {
      const match = this.#match(this.#find, from);
      if (!match) break;
      const { index, marker } = match;
      if (this.#mayBeInSpan(match, final)) return { text: this.#read(index) };
      if (this.#isMarker(index)) {
        const [isFirst, isQuoted] = [this.#code.isFirst(), this.#code.isQuoted()];
        return { text: this.#read(index, index + marker.length), marker, isFirst, isQuoted };
      }
      from = index + 1;
    }
    if (final) return { text: this.#read(this.#rest.length) };
    const from = Math.max(this.#tracked, this.#rest.length - MAX_MARKER);
    const begun = this.#match(this.#findBeginning, from);
    const isPairCut = (this.#rest.charCodeAt(this.#rest.length - 1) & 0xfc00) === 0xd800;
    return { text: this.#read(begun?.index ?? this.#rest.length - (isPairCut ? 1 : 0)) };
  }

  /** The marker that `next` returned is text. */
  keep(marker: string): void {
    if (!this.#findsInCode) this.#code.feed(marker, 0, marker.length);
  }

  /** The marker that `next` returned is cut out; what follows begins a line. */
  drop(): void {
    this.#code = new CodeTracker(true);
  }

  get rest(): string {
    return this.#rest;
  }

  take(): string {
    const text = this.#rest;
    this.#rest = "";
    this.#tracked = 0;
    return text;
  }

  /** Puts text back before what is unread. */
  unread(text: string): void {
    this.#rest = text + this.#rest;
    this.#tracked = 0;
  }

  #isMarker(at: number): boolean {
    if (this.#findsInCode) return true;
    this.#code.feed(this.#rest, this.#tracked, at);
    this.#tracked = at;
    const sign = this.#rest[at]!;
    return !this.#code.inCode(sign) && (sign !== "`" && sign !== "~" || this.#code.atLineStart());
  }

  #match(find: Finder, from: number): MarkerMatch | undefined {
    let match = find(this.#rest, from);
    while (match && !this.#isMarker(match.index)) match = find(this.#rest, match.index + 1);
    return match;
  }

  #read(end: number, upTo = end): string {
    if (!this.#findsInCode) this.#code.feed(this.#rest, this.#tracked, end);
    const text = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(upTo);
    this.#tracked = 0;
    return text;
  }

  /** True while only text to come can decide whether a match is in inline code. */
  #mayBeInSpan({ index, marker }: MarkerMatch, final: boolean): boolean {
    const length = this.#findsInCode || /^[`~]/.test(marker) ? 0 : this.#code.openSpan();
    if (length === 0) return false;
    if (!this.#search) {
      this.#search = spanSearch(length);
      this.#isCode = this.#search(this.#rest.slice(index));
    }
    if (this.#isCode === undefined && !final) return true;
    this.#rest += this.#waiting.join("");
    this.#code.decideSpan(this.#isCode ?? this.#search("\n") ?? false);
    this.#waiting = [];
    this.#search = undefined;
    return false;
  }
}

/** A marker, or the beginning of one. */
type MarkerMatch = { index: number; marker: string };
type Finder = (text: string, from: number) => MarkerMatch | undefined;
type Finders = readonly [whole: Finder, beginning: Finder];
/** A program has few sets of markers, and makes readers by the thousand. */
const finders = new Map<string, Finders>();
/** The same by the list itself, as the key is long; each with the fences that it came with last. */
const findersOfList = new WeakMap<
  readonly string[],
  { fences: readonly string[]; found: Finders }
>();

/** Finds whole markers, and the beginning of one at the end of the text. */
function findersOf(
  literals: readonly string[],
  fences: readonly string[],
  tokens: readonly string[],
  begun: string,
): Finders {
  const last = findersOfList.get(literals);
  if (last?.fences === fences) return last.found;
  const found = findersOfKey(literals, fences, tokens, begun);
  findersOfList.set(literals, { fences, found });
  return found;
}

function findersOfKey(
  literals: readonly string[],
  fences: readonly string[],
  tokens: readonly string[],
  cut: string,
): Finders {
  const key = [...literals, "", ...fences, "", ...tokens].join("\n");
  const known = finders.get(key);
  if (known) return known;
  // Not one pattern for all: the engine takes 10 ms to compile some hundred literals.
  const plain = literals.filter((literal) => !literal.startsWith(ANY_NAMESPACE));
  const tree: Tree = { literals: plain, depth: 0 };
  const names = literals.filter((literal) => literal.startsWith(ANY_NAMESPACE))
    .map((literal) => literal.slice(ANY_NAMESPACE.length));
  const isNamed = names.length > 0;
  const whole = isNamed ? [`${NAMESPACE_TAG}:(?:${names.map(RegExp.escape).join("|")})`] : [];
  const begun = isNamed ? [`${NAMESPACE_TAG}(?::(?:${names.map(beginningsOf).join("|")})?)?`] : [];
  whole.push(...tokens);
  if (cut !== "") begun.push(cut);
  const pair = [
    finder(tree, false, () => sticky([...fences.flatMap(fencePatterns), ...whole])),
    finder(tree, true, () => sticky([...fences.flatMap(fenceBeginnings), ...begun], "$")),
  ] as const;
  finders.set(key, pair);
  return pair;
}

/** The beginning of a marker in any namespace, and the pattern of such a tag up to its colon. */
const ANY_NAMESPACE = "<*:";
const NAMESPACE_TAG = "<[a-z][\\w.-]{0,23}";

/** `abc` -> `a(?:b)?`: any beginning of it, but not all. */
function beginningsOf(text: string): string {
  return [...text].slice(0, -1).map(RegExp.escape)
    .reduceRight((rest, char) => rest === "" ? char : `${char}(?:${rest})?`, "");
}

/**
 * Literals that begin alike, up to their character `depth`; those of one length are one literal, in any
 * case. What follows is sorted where a text first gets there: most of some hundred markers never are met.
 */
interface Tree {
  literals: readonly string[];
  depth: number;
  next?: Map<number, Tree>;
}

const isLeaf = ({ literals, depth }: Tree): boolean => literals[0]?.length === depth;

/** The literals of `tree` that go on with `unit`; undefined where none does. */
const childOf = (tree: Tree, unit: number): Tree | undefined =>
  (tree.next ?? childrenOf(tree)).get(lower(unit));

function childrenOf(tree: Tree): Map<number, Tree> {
  const { literals, depth } = tree;
  const groups = Map.groupBy(literals, (literal) => lower(literal.charCodeAt(depth)));
  const next = [...groups].map(([unit, literals]) =>
    [unit, { literals, depth: depth + 1 }] as const
  );
  return tree.next = new Map<number, Tree>(next);
}

const BAR = 124;
/** A character as its markers have it: in lower case, `｜` and `‖` as `|`, `▁` as `_`. */
const lower = (unit: number): number =>
  unit > 64 && unit < 91
    ? unit + 32
    : unit === 0xff5c || unit === 0x2016
    ? BAR
    : unit === 0x2581
    ? 95
    : unit;

const isLetterUnit = (unit: number): boolean =>
  unit > 96 && unit < 123 || unit > 64 && unit < 91 || unit === 95;

/** A marker as {@linkcode MarkerReader} compares it: servers and models spell special tokens in many ways. */
export function foldMarker(text: string): string {
  return text.toLowerCase().replace(/[｜‖]/g, "|").replaceAll("▁", "_")
    .replace(/ +(?=\|)|(?<=\|) +/g, "").replace(/\|{2,}/g, "|");
}

function sticky(sources: readonly string[], end = ""): RegExp | undefined {
  return sources.length === 0 ? undefined : new RegExp(`(?:${sources.join("|")})${end}`, "iy");
}

/** Finds literals, or, with `isCut`, the beginning of one at the end; and what the pattern that `make` makes matches, from a fence or a tag on. */
function finder(tree: Tree, isCut: boolean, make: () => RegExp | undefined): Finder {
  let made: { pattern: RegExp | undefined } | undefined;
  const starts = tree.next ?? childrenOf(tree);
  return (text, from) => {
    for (let index = from; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      // What begins with a letter is no marker within a word.
      const isInWord = isLetterUnit(unit) && isLetterUnit(text.charCodeAt(index - 1));
      let node = isInWord ? undefined : starts.get(lower(unit));
      let at = index + 1;
      while (node !== undefined && !isLeaf(node) && at < text.length) {
        const next = text.charCodeAt(at++);
        const isBehindBar = lower(text.charCodeAt(at - 2)) === BAR;
        // Blanks around a bar, and a second bar, as in `< | DSML | invoke`.
        const isBlank = next === 32 && (isBehindBar || childOf(node, BAR) !== undefined) ||
          isBehindBar && lower(next) === BAR;
        if (!isBlank || at - index > MAX_MARKER) node = childOf(node, next);
      }
      if (node !== undefined && isLeaf(node) !== isCut) {
        return { index, marker: text.slice(index, at) };
      }
      if (unit !== GRAVE && unit !== TILDE && unit !== TAG) continue;
      const { pattern } = made ??= { pattern: make() };
      if (pattern === undefined) continue;
      pattern.lastIndex = index;
      const [marker] = pattern.exec(text) ?? [];
      if (marker !== undefined) return { index, marker };
    }
  };
}

function fencePatterns(info: string): string[] {
  const line = `[ \\t]{0,8}${RegExp.escape(info)}[ \\t]{0,8}\\r?\\n`;
  return ["`", "~"].map((char) => `(?<!${char})${char}{3,16}${line}`);
}

function fenceBeginnings(info: string): string[] {
  const cut = beginningsOf(info);
  const line = `[ \\t]{0,8}(?:${cut}|${RegExp.escape(info)}[ \\t]{0,8}\\r?)?`;
  return ["`", "~"].map((char) => `${char}{1,2}|${char}{3,16}${line}`);
}
