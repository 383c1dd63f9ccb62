/**
 * Repetition in a model's answer.
 *
 * Two rules. The first is spec 4.5: a sentence of at least 10 characters that occurs `maxRepeats`
 * times, anywhere. Honest answers break it (`    return None`), so nothing is ended while it streams
 * because of it. The second is a *runaway*: a model that is stuck in a cycle, see
 * {@linkcode RepetitionWatcher}. That does end a request.
 *
 * A sentence ends at a line feed, at `.`, `!`, `?` before white space, and after `。`, `！`, `？`;
 * closing quotes and brackets belong to it.
 * @module
 */

import { CodeTracker } from "./code_tracker.ts";

/** Appended where a text was cut. */
export const REPETITION_WARNING = "\n\n[Warning: repetitive output truncated]";
/** Shorter texts are left alone, in characters. */
const MIN_TEXT = 200;
/** Shorter sentences do not count, in characters. */
const MIN_SENTENCE = 10;

/** Options of {@linkcode truncateRepetition}. */
export interface RepetitionOptions {
  /** The number of times that a sentence must occur: 3 by default; 1 counts as 2. */
  maxRepeats?: number;
}

/**
 * Cuts a repetitive text after the second occurrence of the repeated sentence and appends a warning
 * (spec 4.5). Texts shorter than 200 characters are returned unchanged. Without such a sentence, a
 * runaway is cut.
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
  const cut = secondOccurrence(text, Math.max(2, maxRepeats)) ?? new RepetitionWatcher().push(text);
  return cut === undefined ? text : text.slice(0, cut) + REPETITION_WARNING;
}

/** True where `text` has at least `least` characters; those beyond the basic plane have two units. */
function hasChars(text: string, least: number): boolean {
  return text.length >= 2 * least || text.length >= least && [...text].length >= least;
}

const OTHER_UNIT = 0;
const SPACE = 1;
const SENTENCE_STOP = 2; // ends a sentence where white space follows
const WIDE_STOP = 3; // ends a sentence whatever follows
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

/** The end of the second occurrence of the first sentence that occurs `maxRepeats` times. */
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

// The characters of a cycle that make a runaway. Honest cycles are data: tables of equal rows, zeros,
// padding, of a few thousand characters, and in code up to a matrix of 64 by 64 zeros and their
// commas. A stuck model goes on to its token limit, 100 000 characters and more: a tenth of that is
// soon enough in code, where an end by mistake costs a whole file.
const CYCLE = 4_000;
const CYCLE_IN_CODE = 12_500;
/**
 * The limit for text that nobody sees as it comes, such as arguments: mostly code, and higher still, so
 * that text that is shown as well ends by its own.
 */
export const HIDDEN_CYCLE = 16_000;
/** Long units, such as a whole page, must come four times: two or three may be a comparison. */
const MIN_REPEATS = 4;
const MAX_UNIT = 4_096;
// Sentences are no data: a block of them is a runaway after six times, or four that make 1200
// characters. Short units in lines of their own are not blocks: a person may want a hundred lines.
const MIN_BLOCK = 40;
const BLOCK_REPEATS = 6;
const BLOCK_CYCLE = 512;
const LONG_BLOCK_CYCLE = 1_200;
/** The characters between two looks at the end of the text. */
const LOOK_CHARS = 128;
/**
 * A few words that are repeated on one line are a runaway after these repetitions, which are some 100
 * tokens. Text that no one sees may contain a word list in a string, so it gets more.
 */
const ROW = { unit: 16, times: 64 };
const LONG_ROW = { unit: 64, times: 24 };
const HIDDEN_ROW_FACTOR = 4;
/** The characters at the end of the text that are kept: a runaway is seen before its cycle is longer. */
const TAIL = Math.max(MIN_REPEATS * MAX_UNIT, HIDDEN_CYCLE) + LOOK_CHARS;

/** A line that is repeated this often is a runaway everywhere, in a block of code too. */
const SAME_LINES = 300;
/** A line of words is a runaway sooner outside of code, but a person may ask for a hundred of them. */
const SAME_LINES_OF_WORDS = 110;
const LINE_OF_WORDS = /^[ >*#-]*\p{L}[\p{L}\p{N}'’]*(?:[ ,:;]+[\p{L}\p{N}'’-]+){2,}[.!?…]*\s*$/u;

/** A row of a table, of JSON or of numbers, of which there may be as many as somebody wants. */
const DATA_ROW = /^\s*(?:[|[\]{}<]|[\d\s.,;:+-]+$)/;

/** Counts how often the newest line came in a row. */
class LineCounter {
  #line = "";
  #before: string | undefined;
  #times = 0;
  #position = 0;
  #secondEnd = 0;

  /** Takes the next piece; returns the end of the second of lines that are a runaway. */
  push(piece: string, inCode: boolean): number | undefined {
    const [first, ...lines] = piece.split("\n");
    this.#add(first!);
    for (const line of lines) {
      this.#end();
      const isWords = this.#times === SAME_LINES_OF_WORDS && !inCode &&
        LINE_OF_WORDS.test(this.#before!);
      if (isWords || this.#times >= SAME_LINES) return this.#secondEnd;
      this.#position++;
      this.#add(line);
    }
    return undefined;
  }

  #add(part: string): void {
    this.#position += part.length;
    if (this.#line.length <= MAX_UNIT) this.#line += part;
  }

  #end(): void {
    const line = this.#line;
    const isSame = line === this.#before && line.length <= MAX_UNIT && line.trim() !== "" &&
      !DATA_ROW.test(line);
    this.#times = isSame ? this.#times + 1 : 1;
    if (this.#times === 2) this.#secondEnd = this.#position;
    this.#before = line;
    this.#line = "";
  }
}

/**
 * Watches a text as it streams for a runaway: a unit of at most 4096 characters that has been
 * repeated without a break until now, four times at least, for 4000 characters, or 12 500 in code and
 * data; of sentences, six times are enough, or four for 1200 characters; of a line, 300 times, or 110 of
 * a line of words; of a few words on one line, 64 times. The text is to be cut after the second unit.
 * However it is cut into pieces, the answer is the same.
 */
export class RepetitionWatcher {
  readonly #code = new CodeTracker();
  readonly #lines = new LineCounter();
  /** The last characters. */
  #tail = "";
  #position = 0;
  #inCode = false;
  #cut: number | undefined;

  /**
   * @param limit The characters that a cycle needs, in place of those numbers; of white space alone,
   * 4000 are enough with any limit, and of a few words on one line 256 repetitions.
   */
  constructor(private readonly limit?: number) {}

  /** Takes the next piece; returns where to cut the whole text, once there is a runaway. */
  push(piece: string): number | undefined {
    const before = this.#tail.length;
    // Flattened by the first look: a rope that grows between the looks is copied by each of them.
    const text = this.#tail + piece;
    for (let i = 0; i < piece.length && this.#cut === undefined;) {
      const end = Math.min(piece.length, i + LOOK_CHARS - this.#position % LOOK_CHARS);
      this.#code.feed(piece, i, end);
      if (this.limit === undefined) this.#cut = this.#lines.push(piece.slice(i, end), this.#inCode);
      this.#position += end - i;
      i = end;
      if (this.#cut !== undefined || this.#position % LOOK_CHARS !== 0) continue;
      this.#look(text.slice(Math.max(0, before + end - TAIL), before + end));
    }
    this.#tail = text.length < TAIL + LOOK_CHARS ? text : text.slice(-TAIL);
    return this.#cut;
  }

  /** Looks for a runaway that `tail` ends with. */
  #look(tail: string): void {
    const { limit } = this;
    // The meaning of a row of backticks depends on the text that follows.
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

/** A line of a table, of indented code, of JSON, of markup, or of numbers; also its beginning. */
const DATA_LINE = /^(?: {4}|\t|\s*(?:[|[\]{}<]|[\d\s.,;:+-]+$))/;

/** True where `text` is data from the line of `start` on. */
function isData(text: string, start: number): boolean {
  const lines = text.slice(text.lastIndexOf("\n", start) + 1).split("\n")
    .filter((line) => line.trim() !== "");
  return lines.length > 0 && lines.every((line) => DATA_LINE.test(line));
}

/** A blank to fill in. */
const FORM_BLANK = /_{3}|\.{4}|…{2}/;
/** The beginning of a line of a log: a time, or a word in capitals. */
const LOG_LINE = /^\s*(?:\d+[-:/.]\d|[A-Z]{3,}\b)/;

/** True where the cycle that ends `text` is sentences: neither data, nor a form, nor a log. */
function isProse(text: string, { start, unit }: Cycle): boolean {
  const block = text.slice(-2 * unit);
  // The end of a sentence, behind a word. Made here: the set of letters takes the engine half a millisecond.
  const hasSentence = /\p{L}{2}[)\]"'*_`’”]*[.!?]\s|[。！？]/u.test(block);
  if (!hasSentence || FORM_BLANK.test(block) || isData(text, start)) return false;
  const lines = block.split("\n").slice(1, -1).filter((line) => line.trim() !== "");
  return lines.length === 0 || !lines.every((line) => LOG_LINE.test(line));
}

/** The words that `text` repeats at its end, on one line, `factor` times as often as they need. */
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

/** True for words: neither a rule, a number or a hexadecimal one, nor a cell of a table, nor values in code. */
function isWords(unit: string, mayBeCode: boolean): boolean {
  if (new Set(unit.match(/\p{L}/gu)).size < 2 || /^[\da-fx_\s]*$/i.test(unit)) return false;
  return mayBeCode ? /^[\p{L}\p{N}_ .-]*$/u.test(unit) : !/[\r\n|<>{}[\]"\\]/.test(unit);
}

interface Cycle {
  /** The position where it begins. */
  start: number;
  /** The length of its unit. */
  unit: number;
}

/**
 * The characters at the end that must have occurred before: some, which is seen fastest, then all of the
 * shortest cycle but one of its units, as some occur again wherever calls or rows are much alike.
 */
const ENDINGS = [32, BLOCK_CYCLE * (1 - 1 / MIN_REPEATS)];
/** The Z function; {@linkcode cycleAtEnd} fills it anew in each call. */
const matchLengths = new Int32Array(MAX_UNIT + 1);

/** The cycle of at least `limit` characters, or the block that may be shorter, that `text` ends with. */
function cycleAtEnd(text: string, limit: number, mayBeBlock: boolean): Cycle | undefined {
  // Fast path, ten times as fast as the search below: text that ends with new characters.
  for (const ending of ENDINGS) {
    if (!text.slice(-ending - MAX_UNIT, -1).includes(text.slice(-ending))) return undefined;
  }
  // The Z function of the text read backwards: the number of characters at the end that equal those
  // ending `unit` characters earlier. Each character is compared a bounded number of times.
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
    // A short unit is no block, but for a sentence without a line feed.
    const isLine = unit >= MIN_SENTENCE && !text.slice(-unit).includes("\n");
    if (unit < MIN_BLOCK && !isLine) mayBeBlock = false;
    const isEnough = cycle >= Math.min(BLOCK_REPEATS * unit, LONG_BLOCK_CYCLE);
    if (!mayBeBlock || !isEnough) continue;
    if (isProse(text, found)) return found;
    mayBeBlock = false; // longer units are multiples of this one
  }
  return undefined;
}

/** The end of the second unit, or of the word that it ends in: a cycle may begin within a word. */
function endOfSecondUnit(text: string, { start, unit }: Cycle): number {
  const end = start + 2 * unit;
  const word = text.slice(end - 1, end + unit).search(/\s/);
  if (word !== -1) return start + text.slice(start, Math.max(end, end - 1 + word)).trimEnd().length;
  return (text.charCodeAt(end) & 0xfc00) === 0xdc00 ? end - 1 : end;
}
