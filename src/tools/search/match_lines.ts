/**
 * Finding lines in a text, and showing them.
 *
 * @module
 */

import type { LinePattern } from "./pattern.ts";

/** One line of output. */
export interface Shown {
  text: string;
  /** False for a line of context and for `--`. */
  match: boolean;
}

/** What was found in one file. */
export interface FileMatches {
  /** As shown, and sorted by. */
  path: string;
  lines: Shown[];
  /** How many lines match in all, those left out of `lines` included. */
  count: number;
}

/** The most characters of a line that are shown. */
const MAX_LINE_CHARS = 500;
/** How many of them come before the match. */
const LEAD_CHARS = 100;

/** The next line from `from` on, the start of a line, that matches; `at` is where in the text. */
function nextMatch(
  text: string,
  { regex, finder }: LinePattern,
  from: number,
): { start: number; end: number; at: number } | undefined {
  const search = finder ?? regex;
  while (from < text.length) {
    search.lastIndex = from;
    let at = search.exec(text)?.index;
    if (at === undefined) return undefined;
    const start = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
    // What follows the last line break is no line if it is empty.
    if (start === text.length) return undefined;
    const end = endOfLine(text, at);
    if (finder !== undefined) {
      regex.lastIndex = 0;
      const inLine = regex.exec(text.slice(start, end))?.index;
      at = inLine === undefined ? undefined : start + inLine;
    }
    // The place between a carriage return and a line feed is in no line.
    const between = at === end && text[end - 1] === "\r" && end > start;
    if (at !== undefined && !between) return { start, end, at };
    from = end + 1;
  }
  return undefined;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

/** Whether any line matches. */
export function anyLineMatches(text: string, pattern: LinePattern): boolean {
  return nextMatch(text, pattern, 0) !== undefined;
}

/**
 * The lines of `text` that match, as `path:12:line`, with `contextLines` around them as
 * `path-12-line` and `--` between groups that do not touch. Once `maxChars` are shown the rest is
 * only counted. Undefined where nothing matches.
 */
export function matchLines(
  text: string,
  pattern: LinePattern,
  options: { path: string; contextLines: number; maxChars: number },
): FileMatches | undefined {
  const { path, contextLines, maxChars } = options;
  const lines: Shown[] = [];
  let chars = 0;
  let count = 0;
  /** Where the next line that is not shown yet begins, and its number. */
  let next = 0;
  let number = 1;
  /** How many of the lines from there are context of the last match. */
  let after = 0;

  function show(mark: ":" | "-", end: number, at = next): void {
    const line = cut(
      text.slice(next, text[end - 1] === "\r" && end > next ? end - 1 : end),
      at - next,
    );
    lines.push({ text: `${path}${mark}${number++}${mark}${line}`, match: mark === ":" });
    chars += lines.at(-1)!.text.length + 1;
    next = end + 1;
  }

  for (
    let found = nextMatch(text, pattern, 0);
    found;
    found = nextMatch(text, pattern, found.end + 1)
  ) {
    count++;
    if (chars > maxChars) continue;
    for (; after > 0 && next < found.start; after--) show("-", endOfLine(text, next));
    let from = found.start;
    for (let i = 0; i < contextLines && from > next; i++) {
      from = from === 1 ? 0 : text.lastIndexOf("\n", from - 2) + 1;
    }
    if (from > next && contextLines > 0 && lines.length > 0) {
      lines.push({ text: "--", match: false });
    }
    for (; next < from; number++) next = endOfLine(text, next) + 1;
    while (next < found.start) show("-", endOfLine(text, next));
    show(":", found.end, found.at);
    after = contextLines;
  }
  for (; after > 0 && next < text.length && chars <= maxChars; after--) {
    show("-", endOfLine(text, next));
  }
  return count === 0 ? undefined : { path, lines, count };
}

/** At most {@linkcode MAX_LINE_CHARS} characters of a line, around the place `at`. */
function cut(line: string, at: number): string {
  if (line.length <= MAX_LINE_CHARS) return line;
  const from = Math.max(0, Math.min(at - LEAD_CHARS, line.length - MAX_LINE_CHARS));
  const to = from + MAX_LINE_CHARS;
  // Half a surrogate pair is no character.
  const part = line.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  const [before, behind] = [from > 0 ? "..." : "", to < line.length ? "..." : ""];
  return `${before}${part}${behind} [cut: the line has ${line.length} characters]`;
}
