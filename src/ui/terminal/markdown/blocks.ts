/**
 * The start of a line of Markdown (CommonMark 0.31), without underlined headings: their text would wait. @module
 */

import { FENCE } from "../../../text/fence.ts";

/** The block that a line starts; `marker`, or the first `length` characters, are not its text. */
export type BlockStart =
  | { kind: "text" | "row" }
  | { kind: "rule" }
  | { kind: "item" | "task"; marker: string }
  | { kind: "heading"; level: number; length: number }
  | { kind: "fence"; fence: string; info: string };

const MAX_START = 256;
const TEXT_BLOCK: BlockStart = { kind: "text" };
/** Signs that more text may make the start of a block. */
const UNDECIDED =
  /^(?:([-*_])(?:[ \t]*\1)*[ \t]*|=+[ \t]*|[+]|\d{1,9}[.)]?|#{1,6}[ \t]*|`{1,2}|~{1,2}|\[(?:[ xX]\]?)?)$/;

/**
 * The block that `rest` starts, which has no leading white space; undefined if it needs more text.
 * `ended`: the line ends with `rest`; `after`: an open paragraph, or a list marker on the same line,
 * comes before.
 */
export function blockStart(
  rest: string,
  ended: boolean,
  after: { paragraph: boolean; marker: boolean },
): BlockStart | undefined {
  // Fast path: most lines start with a letter.
  if (/^[^-*_+=#`~|[\d]/.test(rest)) return TEXT_BLOCK;
  if (rest[0] === "|") return { kind: "row" };
  const line = rest.slice(0, MAX_START);
  const isShort = rest.length <= MAX_START;
  if (!ended && isShort && (UNDECIDED.test(line) || FENCE.test(line))) return undefined;
  if (isShort && /^([-*_])(?:[ \t]*\1){2,}[ \t]*$/.test(line)) return { kind: "rule" };
  if (isShort && after.paragraph && /^=+[ \t]*$/.test(line)) return { kind: "rule" };
  let match = /^(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)/.exec(line);
  if (match) return { kind: "item", marker: match[0] };
  match = /^(#{1,6})(?:[ \t]+|$)/.exec(line);
  if (match) return { kind: "heading", level: match[1]!.length, length: match[0].length };
  match = isShort ? FENCE.exec(line) : null;
  if (match) return { kind: "fence", fence: match[1]!, info: match[2]!.trim() };
  match = /^\[[ xX]\](?=[ \t]|$)/.exec(line);
  if (after.marker && match) return { kind: "task", marker: match[0].toLowerCase() };
  return TEXT_BLOCK;
}

export interface Container {
  quote: boolean;
  /** The column of an item's marker, counted from the last quotation's sign; -2 for a quotation. */
  column: number;
  marker: string;
  shown: boolean;
}

/** The containers of a line, by its indentation. Two columns are enough for an item, unlike in CommonMark. */
export function fitting(containers: Container[], from: number, indent: number): number {
  const outer = containers.findIndex(({ quote, column }, depth) =>
    depth >= from && (quote || column + 2 > indent)
  );
  return outer === -1 ? Math.max(from, containers.length) : outer;
}
