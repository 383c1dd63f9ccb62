/**
 * Repetition in a model's answer.
 *
 * Two rules. The first is spec 4.5: a sentence of at least 10 characters that occurs `maxRepeats`
 * times, anywhere. Honest answers with code break it (`    return None`), so nothing is ended while
 * it streams because of it. The second is a *runaway*: the same unit (a character, a phrase, a page
 * of up to 4096) over and over without a break, three times at least, for 400 characters, or 2000
 * in fenced code, where tables of equal rows are honest. That does end a request.
 *
 * Where text is cut is decided by whichever rule it broke first, so that what the watcher cuts when
 * a runaway has begun is what {@linkcode truncateRepetition} makes of the text.
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

/** Options of {@linkcode truncateRepetition} and {@linkcode repetitionWatcher}. */
export interface RepetitionOptions {
  /** How often a sentence must occur: 3. Below 2 is the same as 2. */
  maxRepeats?: number;
}

/**
 * Cuts a repetitive text after the second occurrence of what is repeated and appends a warning
 * (spec 4.5). Texts shorter than 200 characters are returned unchanged.
 *
 * @throws {RangeError} when `maxRepeats` is no whole number of at least 1.
 */
export function truncateRepetition(text: string, options: RepetitionOptions = {}): string {
  const watcher = repetitionWatcher(options);
  watcher.push(text);
  const cut = watcher.end();
  return cut === undefined ? text : text.slice(0, cut) + REPETITION_WARNING;
}

/** Watches an answer that streams: see {@linkcode repetitionWatcher}. */
export interface RepetitionWatcher {
  /**
   * Takes the next piece. Once a runaway has begun, returns where the text is to be cut: how many
   * characters of all the pieces stay.
   */
  push(piece: string): number | undefined;
  /** The same for the complete text, by either rule. */
  end(): number | undefined;
}

/**
 * Watches an answer as it streams, wherever it is cut into pieces, in memory that grows with the
 * number of sentences only.
 *
 * @throws {RangeError} when `maxRepeats` is no whole number of at least 1.
 */
export function repetitionWatcher({ maxRepeats = 3 }: RepetitionOptions = {}): RepetitionWatcher {
  if (!Number.isInteger(maxRepeats) || maxRepeats < 1) {
    throw new RangeError(
      `Cannot look for repetition as maxRepeats must be a whole number of at least 1: current value is ${maxRepeats}`,
    );
  }
  const code = codeTracker();
  const sentences = sentenceCounter(Math.max(2, maxRepeats));
  const runaway = runawayDetector();
  let position = 0;
  let chars = 0;
  let limit = RUNAWAY;
  let cut: number | undefined;
  let ranAway = false;
  return {
    push(piece) {
      let fed = 0;
      for (let i = 0; i < piece.length && !ranAway; i++, position++) {
        const unit = piece.charCodeAt(i);
        if (!isLowSurrogate(unit)) chars++;
        if (unit === 10) {
          code.feed(piece, fed, i + 1);
          fed = i + 1;
          limit = code.inCode("a") ? RUNAWAY_IN_CODE : RUNAWAY;
        }
        cut ??= sentences.add(unit, position);
        const start = runaway.add(unit, position, limit);
        if (start === undefined) continue;
        ranAway = true;
        cut ??= start;
      }
      if (!ranAway) code.feed(piece, fed, piece.length);
      return ranAway ? cut : undefined;
    },
    end() {
      if (!ranAway) cut ??= sentences.end();
      return chars < MIN_TEXT ? undefined : cut;
    },
  };
}

function isLowSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
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

/**
 * Counts equal sentences, without the white space around them. `add` and `end` return the end of
 * the second occurrence of the first sentence that occurred `maxRepeats` times.
 */
function sentenceCounter(maxRepeats: number) {
  // Sentences are known by 53 bits of hash: two that differ are taken for one in 10^5 of them with a
  // chance below 10^-6.
  const counts = new Map<number, number>();
  const secondEnds = new Map<number, number>();
  // Two hashes and the length up to now, and as they were after the last that was no white space.
  let a = 0, b = 0, length = 0;
  let lastA = 0, lastB = 0, lastLength = 0, end = 0;
  let stop = OTHER;

  function finish(): number | undefined {
    const enough = lastLength >= MIN_SENTENCE;
    a =
      b =
      length =
      lastLength =
        0;
    stop = OTHER;
    if (!enough) return undefined;
    const key = (lastA >>> 0) * 0x200000 + (lastB >>> 11);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count === 2) secondEnds.set(key, end);
    return count >= maxRepeats ? secondEnds.get(key) : undefined;
  }

  function add(unit: number, position: number): number | undefined {
    if (unit === 10) return finish();
    const kind = KINDS[unit]!;
    let found: number | undefined;
    if (kind === SPACE) {
      if (stop !== OTHER) return finish();
      if (length === 0) return undefined;
    } else if (stop === WIDE_STOP && kind !== WIDE_STOP && kind !== CLOSER) found = finish();
    a = Math.imul(a ^ unit, 0x01000193) + 0x9e37 | 0;
    b = Math.imul(b + unit | 0, 0x5bd1e995) ^ b >>> 15;
    if (!isLowSurrogate(unit)) length++;
    if (kind === SPACE) return undefined;
    lastA = a;
    lastB = b;
    lastLength = length;
    end = position + 1;
    if (kind !== CLOSER) stop = kind;
    return found;
  }

  return { add, end: finish };
}

const RUNAWAY = 400;
const RUNAWAY_IN_CODE = 2000;
const MIN_UNITS = 3;
const MAX_UNIT = 4096;
/** A power of two that holds a unit, its repetition so far, and what is compared before. */
const RING = 2 * MAX_UNIT;
/** How many equal characters make it worth while to look whether a stretch goes on repeating. */
const GRAM = 16;
const TABLE_BITS = 14;
const BASE = 0x01000193;
/** BASE to the power of GRAM, by which the oldest character has been multiplied when it leaves. */
const LEAVING = Array.from({ length: GRAM }).reduce((power: number) => Math.imul(power, BASE), 1);

/**
 * Sees a stretch of text that repeats itself without a break. `add` returns the end of the second
 * unit, about, once the stretch has at least `limit` characters and three units.
 *
 * One candidate at a time: the distance to where the last 16 characters occurred before, found by a
 * rolling hash and verified. While characters equal those at that distance, the stretch grows.
 */
function runawayDetector() {
  const ring = new Uint16Array(RING);
  /** Position + 1 of the last occurrence, by the hash of 16 characters. */
  const table = new Int32Array(1 << TABLE_BITS);
  let hash = 0;
  let unitLength = 0;
  let stretch = 0;

  const at = (position: number): number => ring[position & RING - 1]!;

  function equalBefore(position: number, distance: number): number {
    let n = 0;
    while (
      n < 2 * GRAM && n + distance <= position && at(position - n) === at(position - n - distance)
    ) {
      n++;
    }
    return n;
  }

  function add(unit: number, position: number, limit: number): number | undefined {
    hash = Math.imul(hash, BASE) + unit | 0;
    if (position >= GRAM) hash = hash - Math.imul(at(position - GRAM), LEAVING) | 0;
    ring[position & RING - 1] = unit;
    if (unitLength > 0 && unit === at(position - unitLength)) stretch++;
    else unitLength = 0;
    const slot = Math.imul(hash, 0x9e3779b1) >>> 32 - TABLE_BITS;
    const distance = position + 1 - table[slot]!;
    if (unitLength === 0 && distance <= Math.min(position, MAX_UNIT)) {
      const equal = equalBefore(position, distance);
      if (equal >= GRAM) {
        unitLength = distance;
        stretch = equal + distance;
      }
    }
    table[slot] = position + 1;
    if (unitLength === 0 || stretch < limit || stretch < MIN_UNITS * unitLength) return undefined;
    return tidyEnd(position + 1 - stretch + 2 * unitLength, unitLength);
  }

  /** `end`, or the next end of a word: a stretch may begin, and so its units end, within one. */
  function tidyEnd(end: number, most: number): number {
    const isSpace = (position: number): boolean => KINDS[at(position)] === SPACE;
    let cut = end;
    while (cut < end + most && !isSpace(cut) && !isSpace(cut - 1)) cut++;
    if (cut === end + most) return isLowSurrogate(at(end)) ? end - 1 : end;
    while (cut > end - most && isSpace(cut - 1)) cut--;
    return cut;
  }

  return { add };
}
