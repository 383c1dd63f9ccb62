/** Finds markers (tags, marks of tool calls, fences) in streamed text. @module */

import { CodeTracker, GRAVE, TILDE } from "./code_tracker.ts";

/** The result of {@linkcode MarkerReader.next}. */
export interface MarkedText {
  text: string;
  marker?: string;
  /** True if the marker is the first text of its line. */
  isFirst?: boolean;
  /** {@linkcode CodeTracker.isQuoted} at the marker. */
  isQuoted?: boolean;
}

const TAG = 60;

const NO_FENCES: readonly string[] = [];
/** Longer than any marker. It limits fences and the space around their info string. */
const MAX_MARKER = 200;

/**
 * Finds markers in text that is split into any pieces. Holds back only a possible start of a marker, and half a
 * surrogate pair.
 */
export class MarkerReader {
  readonly #find: Finder;
  readonly #findBeginning: Finder;
  readonly #findsInCode: boolean;
  #code = new CodeTracker();
  #rest = "";
  /** The length of the part of `#rest` that the tracker has read. */
  #tracked = 0;

  /**
   * @param literals The markers, in any spelling that {@linkcode foldMarker} folds, of at most 64 characters. No
   * marker may be the start of another one. In a marker that starts with `<*:`, `*` matches any namespace that no
   * other marker has.
   * @param options `fences`: info strings whose line, with its line feed, is a marker. `inCode`: true to find
   * markers in Markdown code too. `tokens`: patterns of further markers that start with `<`; `begun` matches
   * every start of them.
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
    this.#rest += text;
  }

  /**
   * Reads up to and including the next marker. Without a marker, returns the text that is certainly not part of
   * one; with `final`, all of it. Then the caller calls {@linkcode keep} or {@linkcode drop}.
   */
  next(final: boolean): MarkedText {
    const match = this.#match(this.#find, 0);
    if (match) {
      const { index, marker } = match;
      const [isFirst, isQuoted] = [this.#code.isFirst(), this.#code.isQuoted()];
      return { text: this.#read(index, index + marker.length), marker, isFirst, isQuoted };
    }
    if (final) return { text: this.#read(this.#rest.length) };
    const from = Math.max(this.#tracked, this.#rest.length - MAX_MARKER);
    const begun = this.#match(this.#findBeginning, from);
    const isPairCut = (this.#rest.charCodeAt(this.#rest.length - 1) & 0xfc00) === 0xd800;
    return { text: this.#read(begun?.index ?? this.#rest.length - (isPairCut ? 1 : 0)) };
  }

  keep(marker: string): void {
    if (!this.#findsInCode) this.#code.feed(marker, 0, marker.length);
  }

  /** Cuts out the marker that `next` returned. The next text is at the start of a line. */
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
}

type MarkerMatch = { index: number; marker: string };
type Finder = (text: string, from: number) => MarkerMatch | undefined;
type Finders = readonly [whole: Finder, beginning: Finder];
/** A program has few sets of markers, and creates thousands of readers. */
const finders = new Map<string, Finders>();

/** Finds complete markers, and the start of one at the end of the text. */
function findersOf(
  literals: readonly string[],
  fences: readonly string[],
  tokens: readonly string[],
  cut: string,
): Finders {
  const key = [...literals, "", ...fences, "", ...tokens].join("\n");
  const known = finders.get(key);
  if (known) return known;
  // Not one pattern: the engine takes 10 ms to compile several hundred literals.
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

/** The start of a marker in any namespace, and the pattern of such a tag up to its colon. */
const ANY_NAMESPACE = "<*:";
const NAMESPACE_TAG = "<[a-z][\\w.-]{0,23}";

/** `abc` -> `a(?:b)?`: any start of it, but not all of it. */
function beginningsOf(text: string): string {
  return [...text].slice(0, -1).map(RegExp.escape)
    .reduceRight((rest, char) => rest === "" ? char : `${char}(?:${rest})?`, "");
}

/**
 * Literals with the same start up to character `depth`. Those of equal length are one literal, in any case.
 * Children are sorted on first use, because most of the several hundred markers never occur.
 */
interface Tree {
  literals: readonly string[];
  depth: number;
  next?: Map<number, Tree>;
}

const isLeaf = ({ literals, depth }: Tree): boolean => literals[0]?.length === depth;

/** Returns the literals of `tree` that continue with `unit`, if any. */
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
/** Folds a character of a marker: to lower case, `｜` and `‖` to `|`, `▁` to `_`. */
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

/** Folds a marker for {@linkcode MarkerReader}. Servers and models spell special tokens in many ways. */
export function foldMarker(text: string): string {
  return text.toLowerCase().replace(/[｜‖]/g, "|").replaceAll("▁", "_")
    .replace(/ +(?=\|)|(?<=\|) +/g, "").replace(/\|{2,}/g, "|");
}

function sticky(sources: readonly string[], end = ""): RegExp | undefined {
  return sources.length === 0 ? undefined : new RegExp(`(?:${sources.join("|")})${end}`, "iy");
}

/** Finds literals, or with `isCut` the start of one at the end, and matches of `make`'s pattern at a fence or tag. */
function finder(tree: Tree, isCut: boolean, make: () => RegExp | undefined): Finder {
  let made: { pattern: RegExp | undefined } | undefined;
  const starts = tree.next ?? childrenOf(tree);
  return (text, from) => {
    for (let index = from; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      // A marker that starts with a letter does not match within a word.
      const isInWord = isLetterUnit(unit) && isLetterUnit(text.charCodeAt(index - 1));
      let node = isInWord ? undefined : starts.get(lower(unit));
      let at = index + 1;
      while (node !== undefined && !isLeaf(node) && at < text.length) {
        const next = text.charCodeAt(at++);
        const isBehindBar = lower(text.charCodeAt(at - 2)) === BAR;
        // Spaces around a bar, and a second bar, as in `< | DSML | invoke`.
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
