/** Patterns for a search by line. @module */

import { createDfa, createMeter } from "./dfa.ts";
import { parseRegex } from "./parse.ts";
import { createRunFinder } from "./required_bytes.ts";

const LINE_FEED = 10;

/** A line that matches: from where to where it goes, and where in it the first match ends. */
export interface MatchingLine {
  start: number;
  end: number;
  at: number;
}

/** The next line from `from` on, the start of a line, that matches. */
export type FindLine = (bytes: Uint8Array, from: number) => MatchingLine | undefined;

/**
 * Compiles `pattern`; finding its lines takes linear time.
 *
 * @param stop asked every millisecond or so; when it says true, finding throws a `Stopped`
 * @throws {SyntaxError} when it is no regular expression; the message names the next move.
 */
export function compileLinePattern(pattern: string, stop: () => boolean = () => false): FindLine {
  const regex = parseRegex(pattern);
  const meter = createMeter(stop);
  const findEnd = createDfa(regex, meter);
  const findRun = createRunFinder(regex.root, meter);
  return (bytes, from) => {
    if (findRun === undefined) {
      const at = findEnd(bytes, from, bytes.length);
      return at === -1 ? undefined : { start: lineStart(bytes, at), end: lineEnd(bytes, at), at };
    }
    for (let run; from < bytes.length && (run = findRun(bytes, from)) !== -1;) {
      const [start, end] = [lineStart(bytes, run), lineEnd(bytes, run)];
      const at = findEnd(bytes, start, end);
      if (at !== -1) return { start, end, at };
      from = end + 1;
    }
    return undefined;
  };
}

/** Where the line begins that `at` is in. By a loop: for lines as they are, a call takes longer. */
export function lineStart(bytes: Uint8Array, at: number): number {
  while (at > 0 && bytes[at - 1] !== LINE_FEED) at--;
  return at;
}

/** Where it ends, without its line feed. */
export function lineEnd(bytes: Uint8Array, at: number): number {
  while (at < bytes.length && bytes[at] !== LINE_FEED) at++;
  return at;
}
