import { codeTracker, spanSearch } from "./code_tracker.ts";

/** What {@linkcode MarkerReader.next} read. */
export interface MarkedText {
  text: string;
  /** What stands behind the text. */
  marker?: string;
  /** Whether the marker is the first of its line. */
  isFirst?: boolean;
  /** Whether the marker is in a block quote, behind a quotation mark or bracket, or on a line shown. */
  isQuoted?: boolean;
}

/** Finds markers in text that streams: see {@linkcode markerReader}. */
export interface MarkerReader {
  /** Adds text at the end of what is unread. */
  push(text: string): void;
  /**
   * Reads up to and with the next marker. Without a marker, the text is all that is certainly not
   * part of one; with `final`, all there is. A marker that is text after all is to be told to
   * `keep`, any other to `drop`.
   */
  next(final: boolean): MarkedText;
  /** What `next` returned as a marker is text. */
  keep(marker: string): void;
  /** What `next` returned as a marker is cut out; what comes next begins a line. */
  drop(): void;
  /** Takes all that is unread. */
  take(): string;
  /** Puts text back before what is unread. */
  unread(text: string): void;
}

/** Longer than any marker; fences and the space around their info string are bounded by it. */
const MAX_MARKER = 80;

/**
 * Finds markers in text, piece by piece, wherever the pieces are cut. Holds back only what may be
 * the beginning of a marker, half a surrogate pair, and, behind a backtick of an earlier line, a
 * marker until that inline code or the paragraph ends.
 *
 * @param literals The markers, in upper or lower case; at most 64 characters each, none the
 * beginning of another.
 * @param options `fences`: info strings of which the line that opens a fenced block is a marker, line
 * feed included. `inCode`: also markers within Markdown code count; without it they do not.
 */
export function markerReader(
  literals: readonly string[],
  { fences = [], inCode = false }: { fences?: readonly string[]; inCode?: boolean } = {},
): MarkerReader {
  const { find, begin } = patternsOf(literals, fences);
  let code = codeTracker();
  let rest = "";
  /** How much of `rest` the tracker has read. */
  let fed = 0;
  /** Looks ahead for whether the marker at the beginning of `rest` is code, and what it found. */
  let look: ((piece: string) => boolean | undefined) | undefined;
  let isCode: boolean | undefined;
  /** What came since: appended to `rest` piece by piece, it would be copied each time. */
  let waiting: string[] = [];

  function isMarker(at: number): boolean {
    if (inCode) return true;
    code.feed(rest, fed, at);
    fed = at;
    const sign = rest[at]!;
    return !code.inCode(sign) && (sign !== "`" && sign !== "~" || code.atLineStart());
  }

  function search(pattern: Finder, from: number): Found | undefined {
    let found = pattern(rest, from);
    while (found && !isMarker(found.index)) found = pattern(rest, found.index + 1);
    return found;
  }

  function read(end: number, upTo = end): string {
    if (!inCode) code.feed(rest, fed, end);
    const text = rest.slice(0, end);
    rest = rest.slice(upTo);
    fed = 0;
    return text;
  }

  /** Whether it is still open if what `search` found is in inline code. */
  function isOpen({ index, marker }: Found, final: boolean): boolean {
    const span = inCode || /^[`~]/.test(marker) ? 0 : code.openSpan();
    if (span === 0) return false;
    if (!look) {
      look = spanSearch(span);
      isCode = look(rest.slice(index));
    }
    if (isCode === undefined && !final) return true;
    rest += waiting.join("");
    code.decideSpan(isCode ?? look("\n") ?? false);
    waiting = [];
    look = undefined;
    return false;
  }

  return {
    push(text) {
      if (!look) rest += text;
      else {
        waiting.push(text);
        isCode ??= look(text);
      }
    },
    next(final) {
      if (look && isCode === undefined && !final) return { text: "" };
      let match = search(find, 0);
      while (match) {
        if (isOpen(match, final)) return { text: read(match.index) };
        if (isMarker(match.index)) break;
        match = search(find, match.index + 1);
      }
      if (match) {
        const { marker } = match;
        const isFirst = code.isFirst();
        const isQuoted = code.isQuoted();
        const text = read(match.index, match.index + marker.length);
        return { text, marker, isFirst, isQuoted };
      }
      if (final) return { text: read(rest.length) };
      const start = search(begin, Math.max(fed, rest.length - MAX_MARKER))?.index;
      const half = (rest.charCodeAt(rest.length - 1) & 0xfc00) === 0xd800 ? 1 : 0;
      return { text: read(start ?? rest.length - half) };
    },
    keep(marker) {
      if (!inCode) code.feed(marker, 0, marker.length);
    },
    drop() {
      code = codeTracker(true);
    },
    take() {
      const text = rest;
      rest = "";
      fed = 0;
      return text;
    },
    unread(text) {
      rest = text + rest;
      fed = 0;
    },
  };
}

/** A marker, or the beginning of one. */
interface Found {
  index: number;
  marker: string;
}

/** Looks from an index on. */
type Finder = (text: string, from: number) => Found | undefined;

interface Patterns {
  /** A whole marker. */
  find: Finder;
  /** The beginning of one, at the end of the text. */
  begin: Finder;
}

/** There are as many as there are sets of markers in the program, and readers by the thousand. */
const patterns = new Map<string, Patterns>();

function patternsOf(literals: readonly string[], fences: readonly string[]): Patterns {
  const key = [...literals, "", ...fences].join("\n");
  let known = patterns.get(key);
  if (!known) {
    // Not one pattern for all: some hundred literals take the engine 10 ms to compile.
    const tree = treeOf(literals);
    known = {
      find: finder(tree, false, sticky(fences.flatMap(fence))),
      begin: finder(tree, true, sticky(fences.flatMap(fenceBeginning), "$")),
    };
    patterns.set(key, known);
  }
  return known;
}

/** Literals in lower case, character by character; a leaf is where one ends. */
type Tree = Map<number, Tree>;

function treeOf(literals: readonly string[]): Tree {
  const tree: Tree = new Map();
  for (const literal of literals.map((one) => one.toLowerCase())) {
    let node = tree;
    for (let i = 0; i < literal.length; i++) {
      const code = literal.charCodeAt(i);
      let next = node.get(code);
      if (!next) node.set(code, next = new Map());
      node = next;
    }
  }
  return tree;
}

const lower = (code: number): number => code > 64 && code < 91 ? code + 32 : code;

function sticky(sources: readonly string[], end = ""): RegExp | undefined {
  return sources.length === 0 ? undefined : new RegExp(`(?:${sources.join("|")})${end}`, "iy");
}

const BACKTICK = 0x60;
const TILDE = 0x7e;

/** Finds literals, or, `cut`, what of one stands at the end; and what `fence` matches. */
function finder(tree: Tree, cut: boolean, fence: RegExp | undefined): Finder {
  return (text, from) => {
    for (let index = from; index < text.length; index++) {
      const code = text.charCodeAt(index);
      let node = tree.get(lower(code));
      let at = index + 1;
      while (node !== undefined && node.size > 0 && at < text.length) {
        node = node.get(lower(text.charCodeAt(at++)));
      }
      if (node !== undefined && (node.size > 0) === cut) {
        return { index, marker: text.slice(index, at) };
      }
      if (fence === undefined || code !== BACKTICK && code !== TILDE) continue;
      fence.lastIndex = index;
      const [marker] = fence.exec(text) ?? [];
      if (marker !== undefined) return { index, marker };
    }
  };
}

/** `abc` -> `a(?:b)?`: any beginning of it, but not all. */
function beginning(literal: string): string {
  const chars = [...literal].slice(0, -1).map(RegExp.escape);
  return chars.reduceRight((rest, char) => rest === "" ? char : `${char}(?:${rest})?`, "");
}

function fence(info: string): string[] {
  const line = `[ \\t]{0,8}${RegExp.escape(info)}[ \\t]{0,8}\\r?\\n`;
  return ["`", "~"].map((char) => `(?<!${char})${char}{3,16}${line}`);
}

function fenceBeginning(info: string): string[] {
  const line = `[ \\t]{0,8}(?:${beginning(info)}|${RegExp.escape(info)}[ \\t]{0,8}\\r?)?`;
  return ["`", "~"].map((char) => `${char}{1,2}|${char}{3,16}${line}`);
}
