/** Line endings and byte order marks of texts. @module */

export type LineEnding = "\n" | "\r\n" | "\r";

/** The byte order mark, which some editors write before a text in UTF-8. */
export const BOM = "\ufeff";

/** True for bytes that begin with the mark of UTF-8. */
export function hasBom(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** The encoding of bytes that begin with a mark of UTF-16; undefined for others. */
export function utf16Label(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : undefined;
}

/** The ending that most lines of `text` have; undefined when it is a single line. */
export function dominantEnding(text: string): LineEnding | undefined {
  const counts = { "\n": 0, "\r\n": 0 };
  for (let at = -1; (at = text.indexOf("\n", at + 1)) !== -1;) {
    counts[text[at - 1] === "\r" ? "\r\n" : "\n"]++;
  }
  // A lone CR ends lines only where nothing else does; elsewhere it is a character like others.
  if (counts["\n"] + counts["\r\n"] === 0) return text.includes("\r") ? "\r" : undefined;
  return counts["\r\n"] > counts["\n"] ? "\r\n" : "\n";
}

/** The number of times that `ending`, one character, occurs from `from` up to `to`. */
export function lineEndsIn(text: string, ending: string, from = 0, to = text.length): number {
  let count = 0;
  for (let at = from - 1; (at = text.indexOf(ending, at + 1)) !== -1 && at < to;) count++;
  return count;
}
