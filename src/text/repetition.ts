/**
 * Repetition in a model's answer.
 *
 * There are two rules. Spec 4.5: a sentence of at least 10 characters that occurs `maxRepeats` times anywhere.
 * Honest answers break it (` return None`), so it does not end a stream. A *runaway*, a model stuck in a cycle
 * (see {@linkcode RepetitionWatcher}), does end a request.
 *
 * A sentence ends at a line feed, at `.`, `!`, `?` before white space, and after `。`, `！`, `？`, including closing
 * quotes and brackets.
 * @module
 */

import { CodeTracker } from "./code_tracker.ts";

/** Appended to a text that was cut. */
export const REPETITION_WARNING = "\n\n[Warning: repetitive output truncated]";
const MIN_TEXT = 200;
const MIN_SENTENCE = 10;

/** Options of {@linkcode truncateRepetition}. */
export interface RepetitionOptions {
  /** The number of times that a sentence must occur. Default: 3; 1 counts as 2. */
  maxRepeats?: number;
}

/**
 * Cuts a repetitive text after the second occurrence of the repeated sentence and appends a warning (spec 4.5).
 * Texts shorter than 200 characters stay unchanged. Without such a sentence, cuts a runaway.
 * @throws {RangeError} if `maxRepeats` is not a whole number of at least 1.
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
  const cut = secondOccurrence(text, Math.max(2, maxRepeats)) ?? new RepetitionWatcher().push(text);
  return cut === undefined ? text : text.slice(0, cut) + REPETITION_WARNING;
}

/** True if `text` has at least `least` characters. Those beyond the basic plane have two units. */
function hasChars(text: string, least: number): boolean {
  return text.length >= 2 * least || text.length >= least && [...text].length >= least;
}

const OTHER_UNIT = 0;
const SPACE = 1;
const SENTENCE_STOP = 2; // ends a sentence before white space
const WIDE_STOP = 3; // always ends a sentence
const CLOSER = 4; // a quote, bracket or emphasis that may close after a stop
const UNIT_KINDS = new Uint8Array(0x10000);
UNIT_KINDS.fill(SPACE, 0, 33);
const KNOWN_UNITS = [
  [SPACE, "\u00a0\u3000"],
  [SENTENCE_STOP, ".!?"],
  [WIDE_STOP, "。！？"],
  [CLOSER, `"')]}*_\`’”»」』）】`],
] as const;
for (const [kind, chars] of KNOWN_UNITS) {
  for (const char of chars) UNIT_KINDS[char.charCodeAt(0)] = kind;
}

/** Returns the end of the second occurrence of the first sentence that occurs `maxRepeats` times. */
function secondOccurrence(text: string, maxRepeats: number): number | undefined {
  const seen = new Map<string, { count: number; secondEnd: number }>();
  let begin = -1;
  let end = 0;
  let stop = OTHER_UNIT;

  function finish(): number | undefined {
    const sentence = begin === -1 ? "" : text.slice(begin, end);
    begin = -1;
    stop = OTHER_UNIT;
    if (!hasChars(sentence, MIN_SENTENCE)) return undefined;
    const known = seen.get(sentence);
    if (!known) seen.set(sentence, { count: 1, secondEnd: 0 });
    else if (++known.count === 2) known.secondEnd = end;
    return known && known.count >= maxRepeats ? known.secondEnd : undefined;
  }

  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const kind = UNIT_KINDS[unit]!;
    let found: number | undefined;
    if (kind === SPACE) {
      if (stop !== OTHER_UNIT || unit === 10) found = finish();
    } else {
      if (stop === WIDE_STOP && kind !== WIDE_STOP && kind !== CLOSER) found = finish();
      if (begin === -1) begin = i;
      end = i + 1;
      if (kind !== CLOSER) stop = kind;
    }
    if (found !== undefined) return found;
  }
  return finish();
}

// The characters of a runaway cycle. Honest cycles are data, such as tables of equal rows, zeros or padding: a
// few thousand characters, and in code up to a 64 by 64 matrix of zeros and commas. A stuck model continues to
// its token limit, 100 000 characters or more. A tenth of that is early enough in code, where a wrong stop loses
// a whole file.
const CYCLE = 4_000;
const CYCLE_IN_CODE = 12_500;
/** The limit for arguments and other hidden text, mostly code. Text that is displayed, too, ends by its own, lower one. */
export const HIDDEN_CYCLE = 16_000;
/** Long units, such as a whole page, must occur four times: two or three may be a comparison. */
const MIN_REPEATS = 4;
const MAX_UNIT = 4_096;
// Sentences are not data. A block of them is a runaway after six repetitions, or after four with 1200 characters.
// Short units on their own lines are not blocks: the user may want a hundred lines.
const MIN_BLOCK = 40;
const BLOCK_REPEATS = 6;
const BLOCK_CYCLE = 512;
const LONG_BLOCK_CYCLE = 1_200;
/** The characters between two checks of the end of the text. */
const LOOK_CHARS = 128;
/**
 * A few words repeated on one line are a runaway after this many repetitions, about 100 tokens. Text that is not
 * displayed may contain a word list in a string, so its limit is higher.
 */
const ROW = { unit: 16, times: 64 };
const LONG_ROW = { unit: 64, times: 24 };
const HIDDEN_ROW_FACTOR = 4;
/** The characters to store at the end of the text. A runaway is detected before its cycle is longer. */
const TAIL = Math.max(MIN_REPEATS * MAX_UNIT, HIDDEN_CYCLE) + LOOK_CHARS;

/**
 * Detects a runaway in streamed text: a unit of at most 4096 characters, repeated without a break until now, at
 * least four times, for 4000 characters, or 12 500 in code and data. For sentences, six times suffice, or four
 * with 1200 characters; for a few words on one line, 64 times.
 * The text should be cut after the second unit. The result does not depend on how the text is split.
 */
export class RepetitionWatcher {
  readonly #code = new CodeTracker();
  #tail = "";
  #position = 0;
  #inCode = false;
  #cut: number | undefined;

  /**
   * @param limit The characters of a cycle, in place of those numbers. For white space, 4000 always suffice, and
   * for a few words on one line, 256 repetitions.
   */
  constructor(private readonly limit?: number) {}

  /** Reads the next piece. Returns where to cut the whole text once there is a runaway. */
  push(piece: string): number | undefined {
    const before = this.#tail.length;
    // The first check flattens it. Each check would copy a rope that grows between checks.
    const text = this.#tail + piece;
    for (let i = 0; i < piece.length && this.#cut === undefined;) {
      const end = Math.min(piece.length, i + LOOK_CHARS - this.#position % LOOK_CHARS);
      this.#code.feed(piece, i, end);
      this.#position += end - i;
      i = end;
      if (this.#position % LOOK_CHARS !== 0) continue;
      this.#look(text.slice(Math.max(0, before + end - TAIL), before + end));
    }
    this.#tail = text.length < TAIL + LOOK_CHARS ? text : text.slice(-TAIL);
    return this.#cut;
  }

  /** Finds a runaway at the end of `tail`. */
  #look(tail: string): void {
    const { limit } = this;
    // The next text decides the meaning of a row of backticks.
    if (!"`~".includes(tail.at(-1)!)) this.#inCode = this.#code.inCode("a");
    const mayBeBlock = limit === undefined && !this.#inCode;
    const row = rowAtEnd(tail, !mayBeBlock, limit === undefined ? 1 : HIDDEN_ROW_FACTOR);
    if (row) {
      this.#cut = this.#position - tail.length + endOfSecondUnit(tail, row);
      return;
    }
    const cycle = cycleAtEnd(tail, limit ?? (this.#inCode ? CYCLE_IN_CODE : CYCLE), mayBeBlock);
    if (!cycle) return;
    const isShort = limit === undefined && tail.length - cycle.start < CYCLE_IN_CODE;
    if (!isShort || !isData(tail, cycle.start)) {
      this.#cut = this.#position - tail.length + endOfSecondUnit(tail, cycle);
    }
  }
}

/** A line of a table, of indented code, of JSON, of markup or of numbers, or the start of one. */
const DATA_LINE = /^(?: {4}|\t|\s*(?:[|[\]{}<]|[\d\s.,;:+-]+$))/;

function isData(text: string, start: number): boolean {
  const lines = text.slice(text.lastIndexOf("\n", start) + 1).split("\n")
    .filter((line) => line.trim() !== "");
  return lines.length > 0 && lines.every((line) => DATA_LINE.test(line));
}

const FORM_BLANK = /_{3}|\.{4}|…{2}/;
/** The start of a log line: a time, or a word in capitals. */
const LOG_LINE = /^\s*(?:\d+[-:/.]\d|[A-Z]{3,}\b)/;

/** True if the cycle at the end of `text` is sentences: not data, a form or a log. */
function isProse(text: string, { start, unit }: Cycle): boolean {
  const block = text.slice(-2 * unit);
  // The end of a sentence after a word. Created here, because the set of letters takes the engine 0.5 ms.
  const hasSentence = /\p{L}{2}[)\]"'*_`’”]*[.!?]\s|[。！？]/u.test(block);
  if (!hasSentence || FORM_BLANK.test(block) || isData(text, start)) return false;
  const lines = block.split("\n").slice(1, -1).filter((line) => line.trim() !== "");
  return lines.length === 0 || !lines.every((line) => LOG_LINE.test(line));
}

/** Finds words repeated at the end of `text` on one line, `factor` times as often as the limit. */
function rowAtEnd(text: string, mayBeCode: boolean, factor: number): Cycle | undefined {
  for (let unit = 1; unit <= LONG_ROW.unit; unit++) {
    const needed = Math.max(ROW.times * Math.min(unit, ROW.unit), LONG_ROW.times * unit) * factor;
    const least = text.length - needed;
    let start = text.length - unit;
    while (start > least && text[start - 1] === text[start - 1 + unit]) start--;
    if (start > least || least < 0) continue;
    if (!isWords(text.slice(-unit), mayBeCode)) return undefined;
    while (start > 0 && text[start - 1] === text[start - 1 + unit]) start--;
    return { start, unit };
  }
  return undefined;
}

/** True for words, not for a rule, a number in decimal or hex, a table cell, or values in code. */
function isWords(unit: string, mayBeCode: boolean): boolean {
  if (new Set(unit.match(/\p{L}/gu)).size < 2 || /^[\da-fx_\s]*$/i.test(unit)) return false;
  return mayBeCode ? /^[\p{L}\p{N}_ .-]*$/u.test(unit) : !/[\r\n|<>{}[\]"\\]/.test(unit);
}

interface Cycle {
  start: number;
  unit: number;
}

/**
 * The characters at the end that must have occurred before. First a few, which is the fastest test, then the
 * shortest cycle but one unit, because some occur again in any text with similar calls or rows.
 */
const ENDINGS = [32, BLOCK_CYCLE * (1 - 1 / MIN_REPEATS)];
/** The Z function. Each call of {@linkcode cycleAtEnd} fills it again. */
const matchLengths = new Int32Array(MAX_UNIT + 1);

/** Returns the cycle of at least `limit` characters, or the shorter block, at the end of `text`. */
function cycleAtEnd(text: string, limit: number, mayBeBlock: boolean): Cycle | undefined {
  // Fast path for text that ends with new characters: ten times as fast as the search below.
  for (const ending of ENDINGS) {
    if (!text.slice(-ending - MAX_UNIT, -1).includes(text.slice(-ending))) return undefined;
  }
  // The Z function of the reversed text: the number of characters at the end that equal those `unit` characters
  // earlier. Each character is compared a bounded number of times.
  const last = text.length - 1;
  let left = 0;
  let right = 0;
  for (let unit = 1; unit <= MAX_UNIT && unit < text.length; unit++) {
    let length = unit < right ? Math.min(right - unit, matchLengths[unit - left]!) : 0;
    while (
      unit + length <= last &&
      text.charCodeAt(last - length) === text.charCodeAt(last - unit - length)
    ) length++;
    matchLengths[unit] = length;
    const cycle = unit + length;
    if (cycle > right) {
      left = unit;
      right = cycle;
    }
    if (cycle < Math.min(limit, BLOCK_CYCLE) || cycle < MIN_REPEATS * unit) continue;
    const found = { start: text.length - cycle, unit };
    if (cycle >= limit || cycle >= CYCLE && text.slice(-unit).trim() === "") return found;
    // A short unit is not a block, except for a sentence without a line feed.
    const isLine = unit >= MIN_SENTENCE && !text.slice(-unit).includes("\n");
    if (unit < MIN_BLOCK && !isLine) mayBeBlock = false;
    const isEnough = cycle >= Math.min(BLOCK_REPEATS * unit, LONG_BLOCK_CYCLE);
    if (!mayBeBlock || !isEnough) continue;
    if (isProse(text, found)) return found;
    mayBeBlock = false; // longer units are multiples of this one
  }
  return undefined;
}

/** Returns the end of the second unit, or of the word it ends in: a cycle may start within a word. */
function endOfSecondUnit(text: string, { start, unit }: Cycle): number {
  const end = start + 2 * unit;
  const word = text.slice(end - 1, end + unit).search(/\s/);
  if (word !== -1) return start + text.slice(start, Math.max(end, end - 1 + word)).trimEnd().length;
  return (text.charCodeAt(end) & 0xfc00) === 0xdc00 ? end - 1 : end;
}
