/**
 * Repetition in a model's answer.
 *
 * Two rules. The first is spec 4.5: a sentence of at least 10 characters that occurs `maxRepeats`
 * times, anywhere. Honest answers break it (`    return None`), so nothing is ended while it streams
 * because of it. The second is a *runaway*: a model that is stuck in a cycle, see
 * {@linkcode repetitionWatcher}. That does end a request.
 *
 * A sentence ends at a line feed, at `.`, `!`, `?` before white space, and after `。`, `！`, `？`;
 * closing quotes and brackets belong to it.
 *
 * @module
 */

import { codeTracker } from "./code_tracker.ts";

/** What is appended where a text was cut. */
export const REPETITION_WARNING = "\n\n[Warning: repetitive output truncated]";
const MIN_TEXT = 200;
const MIN_SENTENCE = 10;

/** Options of {@linkcode truncateRepetition}. */
export interface RepetitionOptions {
  /** How often a sentence must occur: 3. Below 2 is the same as 2. */
  maxRepeats?: number;
}

/**
 * Cuts a repetitive text after the second occurrence of what is repeated and appends a warning
 * (spec 4.5). Texts shorter than 200 characters are returned unchanged. Where no sentence is
 * repeated, a runaway without sentences is.
 *
 * @throws {RangeError} when `maxRepeats` is no whole number of at least 1.
 */
export function truncateRepetition(
  text: string,
  { maxRepeats = 3 }: RepetitionOptions = {},
): string {
  if (!Number.isInteger(maxRepeats) || maxRepeats < 1) {
    throw new RangeError(
      `Cannot look for repetition as maxRepeats must be a whole number of at least 1: current value is ${maxRepeats}`,
    );
  }
  if (!hasChars(text, MIN_TEXT)) return text;
  const cut = secondOccurrence(text, Math.max(2, maxRepeats)) ?? repetitionWatcher().push(text);
  return cut === undefined ? text : text.slice(0, cut) + REPETITION_WARNING;
}

/** Whether `text` has at least `least` characters; one outside the basic plane has two units. */
function hasChars(text: string, least: number): boolean {
  return text.length >= 2 * least || text.length >= least && [...text].length >= least;
}

const OTHER = 0;
const SPACE = 1;
/** Ends a sentence where white space follows. */
const STOP = 2;
/** Ends a sentence whatever follows. */
const WIDE_STOP = 3;
/** A quote, bracket or emphasis that may close after a stop. */
const CLOSER = 4;

const KINDS = new Uint8Array(0x10000);
KINDS.fill(SPACE, 0, 33);
for (
  const [kind, chars] of [
    [SPACE, "\u00a0\u3000"],
    [STOP, ".!?"],
    [WIDE_STOP, "。！？"],
    [CLOSER, `"')]}*_\`’”»」』）】`],
  ] as const
) {
  for (const char of chars) KINDS[char.charCodeAt(0)] = kind;
}

/** The end of the second occurrence of the first sentence that occurs `maxRepeats` times. */
function secondOccurrence(text: string, maxRepeats: number): number | undefined {
  const seen = new Map<string, { count: number; secondEnd: number }>();
  let begin = -1;
  let end = 0;
  let stop = OTHER;

  function finish(): number | undefined {
    const sentence = begin < 0 ? "" : text.slice(begin, end);
    begin = -1;
    stop = OTHER;
    if (!hasChars(sentence, MIN_SENTENCE)) return undefined;
    const known = seen.get(sentence);
    if (!known) seen.set(sentence, { count: 1, secondEnd: 0 });
    else if (++known.count === 2) known.secondEnd = end;
    return known && known.count >= maxRepeats ? known.secondEnd : undefined;
  }

  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const kind = KINDS[unit]!;
    let found: number | undefined;
    if (kind === SPACE) {
      if (stop !== OTHER || unit === 10) found = finish();
    } else {
      if (stop === WIDE_STOP && kind !== WIDE_STOP && kind !== CLOSER) found = finish();
      if (begin < 0) begin = i;
      end = i + 1;
      if (kind !== CLOSER) stop = kind;
    }
    if (found !== undefined) return found;
  }
  return finish();
}

// How much of a cycle makes a runaway. Honest cycles are data: tables of equal rows, zeros, padding,
// of a few thousand characters, and in code up to a matrix of 64 by 64 zeros and their commas. A
// stuck model goes on to its token limit, 100 000 characters and more: a tenth of that is soon enough
// in code, where an end by mistake costs a whole file. What nobody sees (arguments, text within a
// call) is mostly code too, and has more still: what is shown as well is to be cut as such.
const CYCLE = 4_000;
const CYCLE_IN_CODE = 12_500;
/** For {@linkcode repetitionWatcher}: of text that may be data, and is not shown as it comes. */
export const HIDDEN_CYCLE = 16_000;
/** Long units, such as a whole page, must come four times: two or three may be a comparison. */
const MIN_REPEATS = 4;
const MAX_UNIT = 4_096;
// Sentences are no data: a block of them is a runaway after six times, or four that make 1200
// characters. Lines of short ones are written a hundred times where a person wants so.
const MIN_BLOCK = 40;
const BLOCK_REPEATS = 6;
const BLOCK_CYCLE = 512;
const LONG_BLOCK_CYCLE = 1_200;
/** How often the end of the text is looked at, in characters. */
const STEP = 128;
/** The end of the text that is kept: a runaway is seen before its cycle is longer. */
const TAIL = Math.max(MIN_REPEATS * MAX_UNIT, HIDDEN_CYCLE) + STEP;

/** Watches text that streams: see {@linkcode repetitionWatcher}. */
export interface RepetitionWatcher {
  /**
   * Takes the next piece. Once there is a runaway, returns where the text is to be cut: how many
   * characters of all the pieces stay.
   */
  push(piece: string): number | undefined;
}

/**
 * Watches a text as it streams for a runaway: a unit of at most 4096 characters that has been
 * repeated without a break until now, four times at least, for 4000 characters, or 12 500 in code and
 * data; of sentences, six times are enough, or four for 1200 characters. The text is to be cut after
 * the second unit. However it is cut into pieces, the answer is the same.
 *
 * @param limit How many characters of a cycle are needed, instead of those numbers; of nothing but
 * white space, 4000 always do.
 */
export function repetitionWatcher(limit?: number): RepetitionWatcher {
  const code = codeTracker();
  /** The last characters; a rope, flattened once for each step. */
  let tail = "";
  let position = 0;
  let inCode = false;
  let cut: number | undefined;

  function look(): void {
    tail = tail.slice(-TAIL);
    // What a row of backticks means depends on what follows.
    if (!/[`~]$/.test(tail)) inCode = code.inCode("a");
    const mayBeBlock = limit === undefined && !inCode;
    const cycle = cycleAtEnd(tail, limit ?? (inCode ? CYCLE_IN_CODE : CYCLE), mayBeBlock);
    if (!cycle) return;
    const isShort = limit === undefined && tail.length - cycle.start < CYCLE_IN_CODE;
    if (!isShort || !isData(tail, cycle.start)) {
      cut = position - tail.length + endOfSecondUnit(tail, cycle);
    }
  }

  return {
    push(piece) {
      for (let i = 0; i < piece.length && cut === undefined;) {
        const end = Math.min(piece.length, i + STEP - position % STEP);
        code.feed(piece, i, end);
        tail += piece.slice(i, end);
        position += end - i;
        i = end;
        if (position % STEP === 0) look();
      }
      return cut;
    },
  };
}

/** A line of a table, of indented code, of JSON, of markup, or of numbers; also its beginning. */
const DATA = /^(?: {4}|\t|\s*(?:[|[\]{}<]|[\d\s.,;:+-]+$))/;

/** Whether `text` is data from the line of `start` on. */
function isData(text: string, start: number): boolean {
  const lines = text.slice(text.lastIndexOf("\n", start) + 1).split("\n")
    .filter((line) => line.trim() !== "");
  return lines.length > 0 && lines.every((line) => DATA.test(line));
}

/** The end of a sentence, behind a word. */
const SENTENCE = /\p{L}{2}[)\]"'*_`’”]*[.!?]\s|[。！？]/u;
/** A blank to fill in. */
const BLANK = /_{3}|\.{4}|…{2}/;
/** How a line of a log begins: with a time, or a word in capitals. */
const LOG = /^\s*(?:\d+[-:/.]\d|[A-Z]{3,}\b)/;

/** Whether what ends `text`, a cycle, is sentences: neither data, nor a form, nor a log. */
function isProse(text: string, { start, unit }: Cycle): boolean {
  const block = text.slice(-2 * unit);
  if (!SENTENCE.test(block) || BLANK.test(block) || isData(text, start)) return false;
  const lines = block.split("\n").slice(1, -1).filter((line) => line.trim() !== "");
  return lines.length === 0 || !lines.every((line) => LOG.test(line));
}

interface Cycle {
  /** Where it begins. */
  start: number;
  /** How long its unit is. */
  unit: number;
}

/** Shorter than any cycle is longer than its unit. */
const ENDING = 32;
/** Filled anew by each call of {@linkcode cycleAtEnd}. */
const same = new Int32Array(MAX_UNIT + 1);

/** The cycle of at least `limit` characters, or the block that may be shorter, that `text` ends with. */
function cycleAtEnd(text: string, limit: number, mayBeBlock: boolean): Cycle | undefined {
  // Most text ends with what was not there a unit before, which is found out ten times as fast.
  const ending = text.slice(-ENDING);
  if (!text.slice(-ENDING - MAX_UNIT, -1).includes(ending)) return undefined;
  // The Z function of the text read backwards: how many characters before the end equal those that
  // end `unit` characters earlier. Each is a comparison of characters not compared before.
  const last = text.length - 1;
  let left = 0;
  let right = 0;
  for (let unit = 1; unit <= MAX_UNIT && unit < text.length; unit++) {
    let length = unit < right ? Math.min(right - unit, same[unit - left]!) : 0;
    while (
      unit + length <= last &&
      text.charCodeAt(last - length) === text.charCodeAt(last - unit - length)
    ) length++;
    same[unit] = length;
    if (unit + length > right) {
      left = unit;
      right = unit + length;
    }
    const cycle = unit + length;
    if (cycle < Math.min(limit, BLOCK_CYCLE) || cycle < MIN_REPEATS * unit) continue;
    const found = { start: text.length - cycle, unit };
    if (cycle >= limit || cycle >= CYCLE && text.slice(-unit).trim() === "") return found;
    // Several short units are no block, but for sentences in one line.
    const isLine = unit >= MIN_SENTENCE && !text.slice(-unit).includes("\n");
    if (unit < MIN_BLOCK && !isLine) mayBeBlock = false;
    const isEnough = cycle >= Math.min(BLOCK_REPEATS * unit, LONG_BLOCK_CYCLE);
    if (!mayBeBlock || !isEnough) continue;
    if (isProse(text, found)) return found;
    mayBeBlock = false; // nor are its multiples
  }
  return undefined;
}

/** Where the second unit ends, or the next word does: a cycle may begin, and so its units end, within one. */
function endOfSecondUnit(text: string, { start, unit }: Cycle): number {
  const end = start + 2 * unit;
  const word = text.slice(end - 1, end + unit).search(/\s/);
  if (word >= 0) return start + text.slice(start, Math.max(end, end - 1 + word)).trimEnd().length;
  return (text.charCodeAt(end) & 0xfc00) === 0xdc00 ? end - 1 : end;
}
