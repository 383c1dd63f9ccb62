/** Replaces a text in the text of a file, whatever line endings either has. @module */

import { explainMiss } from "./closest_lines.ts";
import { reindented } from "./indentation.ts";
import { dominantEnding, type LineEnding, lineEndsIn } from "./line_endings.ts";

/** The most places that an error or a result names. */
const MAX_NAMED_PLACES = 20;
const PART_CHARS = 256 * 1024;
/** The most replacements whose places are returned. */
const MAX_REPLACEMENTS = 1000;

interface EditSource {
  text: string;
  lines: string; // the same with `\n` for every line ending
  /** The line ending of most lines. */
  ending: LineEnding;
}

/** A replacement as a call gives it. */
interface TextEditRequest {
  oldText: string;
  newText: string;
  all: boolean; // true where every match is replaced; else there must be only one
  maxLength: number; // the most characters of the result, unless the file has more already
  mayQuote: boolean; // false where errors do not quote the text: the file is a secret
}

export interface Replacement {
  /** The range of the replaced text in the old text. */
  start: number;
  end: number;
  newLength: number; // the length of what takes its place in the new text
}

export interface TextEdit {
  text: string;
  /** The text that was replaced and the one that took its place, with `\n` line endings. */
  before: string;
  after: string;
  count: number;
  /** The first of `count` replacements. */
  replacements: readonly Replacement[];
  where: string; // `line 3` or `lines 3, 7, 9`
  isReindented: boolean; // true where `oldText` matched but for its indentation
  /** The line ending of most lines of the file. */
  ending: LineEnding;
}

/**
 * Replaces `oldText` by `newText`; `refuse` makes an error from the clause that says why.
 * @throws {Error} when `oldText` is not found, is ambiguous, or the result would be too long.
 */
export function editText(
  text: string,
  { oldText, newText, all, maxLength, mayQuote }: TextEditRequest,
  refuse: (reason: string, kind?: ErrorConstructor) => Error,
): TextEdit {
  const whole = editSourceOf(text);
  let before = unified(oldText, whole.ending);
  // Where lines end in LF, a CR is there on purpose, unless all that was given has it.
  const isAsGiven = whole.ending === "\n" && !oldText.includes("\r\n");
  let after = isAsGiven ? newText : unified(newText, whole.ending);
  if (before === after) {
    throw refuse(
      "old_string and new_string differ in line endings alone, which stay as the file has them: use run_bash to convert it",
    );
  }
  const { source, spelt } = searched(whole, before);
  const matches: number[] = [];
  let count = 0;
  for (const match of placesOf(source.lines, spelt(before), all)) {
    if (count++ <= MAX_NAMED_PLACES) matches.push(match);
  }
  const fitted = count === 0 ? reindented(source.lines, before, after) : undefined;
  if (fitted) {
    count = matches.push(fitted.at);
    ({ before, after } = fitted);
  }
  if (count === 0) {
    const closest = mayQuote ? `.\n${explainMiss(source.lines, before)}` : "";
    throw refuse(`old_string was not found${closest}`);
  }
  const where = lineList(source.lines, matches);
  if (count > 1 && !all) {
    const next = "add lines around it until it is unique, or set replace_all";
    throw refuse(`old_string appears ${count} times (${where}): ${next}`);
  }
  const length = text.length + count * (after.length - before.length);
  if (length > Math.max(text.length, maxLength)) {
    const reason = `the result must have at most ${maxLength} characters: it would have ${length}`;
    throw refuse(reason, RangeError);
  }
  const places = fitted ? [fitted.at] : placesOf(source.lines, spelt(before), true);
  return {
    ...replaced(source, spelt(before), spelt(after), places),
    ...{ before, after, count, where },
    isReindented: fitted !== undefined,
    ending: whole.ending,
  };
}

function editSourceOf(text: string): EditSource {
  const ending = dominantEnding(text) ?? "\n";
  let lines: string | undefined;
  return {
    text,
    ending,
    get lines() {
      return lines ??= unified(text, ending);
    },
  };
}

/**
 * What to search for `before`, and how texts are spelt there. Where all lines end in CRLF that is the
 * text itself, spelt so, if `before` is in it: its lines with other endings take as much memory.
 */
function searched(source: EditSource, before: string) {
  const { text, ending } = source;
  const spelt = (one: string) => one.replaceAll("\n", ending);
  const isDirect = ending === "\r\n" && !before.includes("\r") && !/(?<!\r)\n/.test(text) &&
    text.includes(spelt(before));
  if (!isDirect) return { source, spelt: (one: string) => one };
  return { source: { text, lines: text, ending: "\n" as const }, spelt };
}

function unified(text: string, ending: LineEnding): string {
  const lines = replaceInParts(text, "\r\n");
  return ending === "\r" ? replaceInParts(lines, "\r") : lines;
}

/** `text` with `\n` in place of all `ending`. */
function replaceInParts(text: string, ending: string): string {
  if (!text.includes(ending)) return text;
  const parts: string[] = [];
  // A part at a time, as the lines of a whole file take more memory than it.
  for (let at = 0; at < text.length;) {
    const next = text.indexOf(ending, at + PART_CHARS);
    const end = next === -1 ? text.length : next + ending.length;
    // `replaceAll` would take ten times as long.
    parts.push(text.slice(at, end).split(ending).join("\n"));
    at = end;
  }
  return parts.join("");
}

/** The positions of `wanted`, without overlaps; a second match may overlap the first unless `all`. */
function* placesOf(text: string, wanted: string, all: boolean): Generator<number> {
  let at = text.indexOf(wanted);
  // `aa` in `aaa` is ambiguous too.
  for (let step = all ? wanted.length : 1; at !== -1; step = wanted.length) {
    yield at;
    at = text.indexOf(wanted, at + step);
  }
}

/** The text with `before` replaced at `places`, as far as it and `after` differ. */
function replaced(source: EditSource, before: string, after: string, places: Iterable<number>) {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const insert = after.slice(head, after.length - tail).replaceAll("\n", source.ending);

  const replacements: Replacement[] = [];
  const position = originalPositions(source);
  const parts: string[] = [];
  let pieces: string[] = [];
  let done = 0;
  for (const match of places) {
    const isRecorded = replacements.length < MAX_REPLACEMENTS;
    const start = isRecorded ? position(match) : 0;
    const from = position(match + head);
    const to = position(match + before.length - tail);
    pieces.push(source.text.slice(done, from), insert);
    done = to;
    if (isRecorded) {
      const end = position(match + before.length);
      replacements.push({ start, end, newLength: from - start + insert.length + end - to });
    }
    // Millions of short strings take many times the memory of their text.
    if (pieces.length >= 10_000) {
      parts.push(pieces.join(""));
      pieces = [];
    }
  }
  return { text: parts.concat(pieces, source.text.slice(done)).join(""), replacements };
}

/** Maps positions in `source.lines`, asked for in rising order, to positions in `source.text`. */
function originalPositions(source: EditSource): (position: number) => number {
  if (source.text.length === source.lines.length) return (position) => position;
  let [unifiedAt, originalAt] = [0, 0];
  let next = source.text.indexOf("\r\n");
  return (position) => {
    while (next !== -1 && unifiedAt + (next - originalAt) < position) {
      unifiedAt += next - originalAt + 1;
      originalAt = next + 2;
      next = source.text.indexOf("\r\n", originalAt);
    }
    return originalAt + (position - unifiedAt);
  };
}

function lineList(text: string, positions: number[]): string {
  const lines: number[] = [];
  let [line, from] = [1, 0];
  for (const position of positions.slice(0, MAX_NAMED_PLACES)) {
    line += lineEndsIn(text, "\n", from, position);
    from = position;
    lines.push(line);
  }
  const more = positions.length > MAX_NAMED_PLACES ? ", ..." : "";
  return `${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}${more}`;
}
