/** Replaces a text in the text of a file, whatever line endings either has. @module */

import { explainMiss } from "./closest_lines.ts";
import { readEdit } from "./edit_readings.ts";
import { dominantEnding, type LineEnding, lineEndsIn } from "./line_endings.ts";

/** The most places that an error or a result names. */
const MAX_NAMED_PLACES = 20;
/** The most replacements whose places are returned. */
const MAX_REPLACEMENTS = 1000;

/** A replacement as a call gives it. */
interface TextEditRequest {
  oldText: string;
  newText: string;
  all: boolean; // true where every match is replaced; else there must be only one
  maxLength: number; // the most characters of the result, unless the file has more already
  mayQuote: boolean; // false where errors do not quote the text: the file is a secret
}

export interface Replacement {
  /** The range of the match in the old text. */
  start: number;
  end: number;
  /** The range within it that differs from the new text. */
  from: number;
  to: number;
}

export interface TextEdit {
  /** The new text as UTF-8. */
  bytes: Uint8Array;
  /** The text that was replaced and the one that took its place, with `\n` line endings. */
  before: string;
  after: string;
  count: number;
  /** The first of `count` replacements. */
  replacements: readonly Replacement[];
  /** The text that takes the place of the differing range of each replacement. */
  insert: string;
  /** The first replacement: its line, from 1, and its position in `bytes`. */
  firstLine: number;
  firstByte: number;
  where: string; // `line 3` or `lines 3, 7, 9`
  isReindented: boolean; // true where `oldText` matched but for its indentation
  how?: string; // how `oldText` was read, where it matched in another form
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
  const ending = dominantEnding(text) ?? "\n";
  let before = unified(oldText, ending);
  // Where lines end in LF, a CR is there on purpose, unless all that was given has it.
  const isAsGiven = ending === "\n" && !oldText.includes("\r\n");
  let after = isAsGiven ? newText : unified(newText, ending);
  if (before === after) {
    throw refuse(
      "old_string and new_string differ in line endings alone, which stay as the file has them: use run_bash to convert it",
    );
  }
  const pieces = piecesIn(text, ending);
  const first: number[] = [];
  let count = 0;
  for (const place of placesOf(text, pieces(before), all)) {
    if (count++ <= MAX_NAMED_PLACES) first.push(place);
  }
  const isRead = count === 0;
  let how: string | undefined;
  if (isRead) {
    const lines = unified(text, ending);
    const read = readEdit(lines, before, after);
    if (!read) throw refuse(missReason(lines, before, after, mayQuote));
    const column = read.at - (read.at === 0 ? 0 : lines.lastIndexOf("\n", read.at - 1) + 1);
    const start = startOfLine(text, ending, lineEndsIn(lines, "\n", 0, read.at));
    count = first.push(start + column);
    ({ before, after, how } = read);
    if (before === after) throw refuse("old_string and new_string are then the same");
  }
  const isReindented = isRead && how === undefined;
  const lines = lineNumbersAt(text, first, ending);
  const where = lineList(lines);
  if (count > 1 && !all) {
    const next = "add lines around it until it is unique, or set replace_all";
    throw refuse(`old_string appears ${count} times (${where}): ${next}`);
  }
  const length = text.length + count * (after.length - before.length);
  if (length > Math.max(text.length, maxLength)) {
    const reason = `the result must have at most ${maxLength} characters: it would have ${length}`;
    throw refuse(reason, RangeError);
  }
  const places = count === first.length ? first : placesOf(text, pieces(before), true);
  return {
    ...replaced(text, { before, after, ending, places, pieces }),
    ...{ before, after, count, where, isReindented, ending },
    ...how !== undefined && { how },
    firstLine: lines[0]!,
  };
}

/** Why the text to replace is not there; all have `\n` line endings. */
function missReason(lines: string, before: string, after: string, mayQuote: boolean): string {
  if (!mayQuote) return "old_string was not found";
  const at = after.trim() === "" ? -1 : lines.indexOf(after);
  if (at !== -1) {
    const line = lineEndsIn(lines, "\n", 0, at) + 1;
    return `old_string was not found. new_string is there already (line ${line}): was this edit made before? If so, go on.\n${
      explainMiss(lines, before)
    }`;
  }
  return `old_string was not found.\n${explainMiss(lines, before)}`;
}

/** `text` with `\n` for its line endings. */
function unified(text: string, ending: LineEnding): string {
  // `replaceAll` would take ten times as long.
  const lines = text.split("\r\n").join("\n");
  return ending === "\r" ? lines.split("\r").join("\n") : lines;
}

/** Makes of a text with `\n` line endings the pieces that are looked for, with a line ending between. */
type Pieces = (wanted: string) => string[];

/** The pieces that `text` has: whole texts, but for files in which lines end in two ways, or in CRLF. */
function piecesIn(text: string, ending: LineEnding): Pieces {
  if (ending === "\r") return (wanted) => [wanted.replaceAll("\n", "\r")];
  return text.includes("\r\n") ? (wanted) => wanted.split("\n") : (wanted) => [wanted];
}

/**
 * The positions of `pieces`, without overlaps; a second match may overlap the first unless `all`. The
 * text is searched as it is, as another with `\n` for all line endings takes as much memory.
 */
function* placesOf(text: string, pieces: string[], all: boolean): Generator<number> {
  const wanted = pieces[0] || "\n";
  const endsInCr = pieces.at(-1)!.endsWith("\r");
  let mayOverlap = !all;
  for (let at = 0; (at = text.indexOf(wanted, at)) !== -1;) {
    const start = pieces[0] === "" && text[at - 1] === "\r" ? at - 1 : at;
    const end = endOf(text, start, pieces);
    if (end === -1 || endsInCr && text[end] === "\n") {
      at++;
      continue;
    }
    yield start;
    // `aa` in `aaa` is ambiguous too.
    at = mayOverlap ? at + 1 : end;
    mayOverlap = false;
  }
}

/** The end of `pieces`, the first of which stands at `at`; -1 where the others do not follow. */
function endOf(text: string, at: number, pieces: readonly string[]): number {
  let end = at + pieces[0]!.length;
  for (let i = 1; i < pieces.length; i++) {
    if (text[end] === "\n" && text[end - 1] !== "\r") end += 1;
    else if (text.startsWith("\r\n", end)) end += 2;
    else return -1;
    if (!text.startsWith(pieces[i]!, end)) return -1;
    end += pieces[i]!.length;
  }
  return end;
}

interface ReplaceOrder extends Pick<TextEdit, "before" | "after" | "ending"> {
  places: Iterable<number>;
  pieces: Pieces;
}

/** The text with `before` replaced at `places`, as far as it and `after` differ. */
function replaced(text: string, { before, after, ending, places, pieces }: ReplaceOrder) {
  const { head, tail } = common(before, after);
  const [whole, same, other] = [
    before,
    before.slice(0, head),
    before.slice(head, before.length - tail),
  ].map(pieces);
  const insert = after.slice(head, after.length - tail).replaceAll("\n", ending);

  const replacements: Replacement[] = [];
  const output: string[] = [];
  let done = 0;
  for (const start of places) {
    const from = endOf(text, start, same!);
    const to = endOf(text, from, other!);
    if (replacements.length < MAX_REPLACEMENTS) {
      replacements.push({ start, end: endOf(text, start, whole!), from, to });
    }
    output.push(text.slice(done, from), insert);
    done = to;
  }
  output.push(text.slice(done));
  const encoder = new TextEncoder();
  const firstByte = encoder.encode(text.slice(0, replacements[0]?.start)).length;
  return { bytes: encoder.encode(output.join("")), firstByte, replacements, insert };
}

/** The lengths of the parts that two texts begin and end with alike, in whole characters. */
function common(before: string, after: string): { head: number; tail: number } {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  if (/[\ud800-\udbff]/.test(before[head - 1] ?? "")) head--;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  if (/[\udc00-\udfff]/.test(before.at(-tail) ?? "") && tail > 0) tail--;
  return { head, tail };
}

/** The start of the line after `lines` others. */
function startOfLine(text: string, ending: LineEnding, lines: number): number {
  let at = 0;
  for (let line = 0; line < lines; line++) at = text.indexOf(ending.at(-1)!, at) + 1;
  return at;
}

function lineNumbersAt(text: string, positions: readonly number[], ending: LineEnding): number[] {
  let [line, from] = [1, 0];
  return positions.map((position) => {
    line += lineEndsIn(text, ending.at(-1)!, from, position);
    from = position;
    return line;
  });
}

function lineList(lines: readonly number[]): string {
  const more = lines.length > MAX_NAMED_PLACES ? ", ..." : "";
  const named = lines.slice(0, MAX_NAMED_PLACES).join(", ");
  return `${lines.length === 1 ? "line" : "lines"} ${named}${more}`;
}
