/** Formats the matching lines of a file. @module */

import { type FindLine, findLineEnd, findLineStart } from "./regex/line_pattern.ts";

export interface FileMatches {
  /** The shown path, by which files are sorted. */
  path: string;
  /** The lines of output. `match` is false for a line of context and for `--`. */
  lines: { text: string; match: boolean }[];

  /** The number of matching lines, including those missing from `lines`. */
  count: number;
}

const SHOWN_LINE_CHARS = 500;
/** The number of characters shown before the end of the match. */
const LEAD_CHARS = 250;
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Returns the matching lines of a UTF-8 text as `path:12:line`, with `contextLines` around them as `path-12-line` and
 * `--` between groups that do not touch. After `maxChars`, the rest is only counted. Returns undefined if no line
 * matches.
 */
export function matchLines(
  bytes: Uint8Array,
  find: FindLine,
  options: { path: string; contextLines: number; maxChars: number },
): FileMatches | undefined {
  const { path, contextLines, maxChars } = options;
  const lines: FileMatches["lines"] = [];
  let chars = 0;
  let count = 0;
  /** The start and the number of the next line that is not shown yet. */
  let next = 0;
  let number = 1;
  /** The number of lines after it that are context of the last match. */
  let after = 0;

  function show(mark: ":" | "-", end: number, at = next): void {
    const line = bytes.subarray(next, bytes[end - 1] === 13 ? end - 1 : end);
    const text = shownPart(line, at - next);
    lines.push({ text: `${path}${mark}${number++}${mark}${text}`, match: mark === ":" });
    chars += lines.at(-1)!.text.length + 1;
    next = end + 1;
  }

  for (let found = find(bytes, 0); found; found = find(bytes, found.end + 1)) {
    count++;
    if (chars > maxChars) continue;
    for (; after > 0 && next < found.start; after--) show("-", findLineEnd(bytes, next));
    let from = found.start;
    for (let i = 0; i < contextLines && from > next; i++) from = findLineStart(bytes, from - 1);
    if (from > next && contextLines > 0 && lines.length > 0) {
      lines.push({ text: "--", match: false });
    }
    for (; next < from; next++) if (bytes[next] === 10) number++;
    while (next < found.start) show("-", findLineEnd(bytes, next));
    show(":", found.end, found.at);
    after = contextLines;
  }
  for (; after > 0 && next < bytes.length && chars <= maxChars; after--) {
    show("-", findLineEnd(bytes, next));
  }
  return count === 0 ? undefined : { path, lines, count };
}

/** Returns at most {@linkcode SHOWN_LINE_CHARS} characters of a line, around the position `at`. */
function shownPart(bytes: Uint8Array, at: number): string {
  const line = utf8.decode(bytes);
  if (line.length <= SHOWN_LINE_CHARS) return line;
  const lead = utf8.decode(bytes.subarray(0, at)).length - LEAD_CHARS;
  const from = Math.max(0, Math.min(lead, line.length - SHOWN_LINE_CHARS));
  const to = from + SHOWN_LINE_CHARS;
  // Drop half a surrogate pair at either end.
  const part = line.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  const [before, behind] = [from > 0 ? "..." : "", to < line.length ? "..." : ""];
  return `${before}${part}${behind} [cut: the line has ${line.length} characters]`;
}
