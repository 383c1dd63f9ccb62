import { Dfa, Meter } from "./dfa.ts";
import { parseRegex } from "./parse.ts";

const LINE_FEED = 10;

/** A matching line: its bounds without the line feed, and the end of its first match. */
interface MatchingLine {
  start: number;
  end: number;
  at: number;
}

/** Finds the next matching line, from `from` (a line's start) on. */
export type FindLine = (bytes: Uint8Array, from: number) => MatchingLine | undefined;

/**
 * Compiles `pattern`. Its search takes linear time.
 * @param stop called about every millisecond; if it returns true, the search throws a `Stopped`
 * @throws {SyntaxError} if it is not a regular expression; the message suggests the next step.
 */
export function compileLinePattern(pattern: string, stop: () => boolean = () => false): FindLine {
  const dfa = new Dfa(parseRegex(pattern), new Meter(stop));
  return (bytes, from) => {
    const at = dfa.findEnd(bytes, from, bytes.length);
    if (at === -1) return undefined;
    return { start: findLineStart(bytes, at), end: findLineEnd(bytes, at), at };
  };
}

/** Returns the start of the line at `at`. A loop: `lastIndexOf` takes longer for usual lines. */
export function findLineStart(bytes: Uint8Array, at: number): number {
  while (at > 0 && bytes[at - 1] !== LINE_FEED) at--;
  return at;
}

export function findLineEnd(bytes: Uint8Array, at: number): number {
  while (at < bytes.length && bytes[at] !== LINE_FEED) at++;
  return at;
}
