export type LineEnding = "\n" | "\r\n" | "\r";

/** The byte order mark, which some editors write at the start of UTF-8 text. */
export const BOM = "\ufeff";

export function hasBom(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** Returns the encoding of bytes that start with a UTF-16 mark; undefined for others. */
export function utf16Label(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : undefined;
}

/** Returns the most frequent line ending of `text`; undefined for a single line. */
export function dominantEnding(text: string): LineEnding | undefined {
  const counts = { "\n": 0, "\r\n": 0 };
  for (let at = -1; (at = text.indexOf("\n", at + 1)) !== -1;) {
    counts[text[at - 1] === "\r" ? "\r\n" : "\n"]++;
  }
  // A lone CR is a line ending only if there is no other.
  if (counts["\n"] + counts["\r\n"] === 0) return text.includes("\r") ? "\r" : undefined;
  return counts["\r\n"] > counts["\n"] ? "\r\n" : "\n";
}

/** Returns the number of the line of a position in a text with `\n` line endings, from 1. */
export function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = -1; (at = text.indexOf("\n", at + 1)) !== -1 && at < position;) line++;
  return line;
}
