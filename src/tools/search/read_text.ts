/** Reading files as UTF-8. @module */

import { Stopped } from "./regex/dfa.ts";
import { countUnreadable, type Tally } from "./walk.ts";

/** Files over this size, in bytes, are not searched: each thread holds a whole one. */
const MAX_SEARCHED_FILE_BYTES = 64 * 1024 * 1024;
/** A file with a NUL byte among this number of first bytes is binary, as for git. */
const BINARY_CHECK_BYTES = 8192;

/** The bytes of one read, so that none takes longer than a moment. */
const READ_BYTES = 4 * 1024 * 1024;

/** One buffer for all files: measured, a new one for each takes half as long again. */
let buffer = new Uint8Array(256 * 1024);

/**
 * Gives `use` a file in UTF-8, open still; counts it in `tally` instead where it cannot be read, is
 * binary or too large. UTF-16 is known by its byte order mark.
 *
 * @param stop asked between reads
 * @throws {Stopped} when it says true.
 */
export function readSearchedText(
  path: string,
  tally: Tally,
  stop: () => boolean,
  use: (text: Uint8Array, file: Deno.FsFile) => void,
): void {
  let file: Deno.FsFile | undefined;
  try {
    let text: Uint8Array | undefined;
    try {
      file = Deno.openSync(path);
      text = bytesOfText(file, tally, stop);
    } catch (error) {
      if (error instanceof Stopped) throw error;
      return countUnreadable(path, error, tally);
    }
    if (text !== undefined) use(text, file);
  } finally {
    file?.close();
  }
}

/** The bytes of the whole text, which stay until the next call. */
function bytesOfText(file: Deno.FsFile, tally: Tally, stop: () => boolean): Uint8Array | undefined {
  let length = 0;
  for (let n; (n = file.readSync(buffer.subarray(length, length + READ_BYTES))) !== null;) {
    length += n;
    if (length > MAX_SEARCHED_FILE_BYTES) {
      tally.large++;
      return undefined;
    }
    if (length > READ_BYTES && stop()) throw new Stopped("The search was stopped");
    if (length === buffer.length) {
      const larger = new Uint8Array(Math.min(4 * length, MAX_SEARCHED_FILE_BYTES + 1));
      larger.set(buffer);
      buffer = larger;
    }
  }
  const bytes = buffer.subarray(0, length);
  const utf16 = utf16Label(bytes);
  if (utf16 !== undefined) {
    return new TextEncoder().encode(new TextDecoder(utf16).decode(bytes));
  }
  if (bytes.subarray(0, BINARY_CHECK_BYTES).includes(0)) {
    tally.binary++;
    return undefined;
  }
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return hasMark ? bytes.subarray(3) : bytes;
}

function utf16Label(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : undefined;
}
