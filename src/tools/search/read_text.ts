/** Reading files as UTF-8. @module */

import { hasBom, utf16Label } from "../files/line_endings.ts";
import { Stopped } from "./regex/dfa.ts";
import { countUnreadable, type Tally } from "./walk.ts";

/** Larger files are not searched: each thread has a whole file in memory. */
const MAX_SEARCHED_BYTES = 64 * 1024 * 1024;
/** A file with a NUL byte among its first bytes is binary, as in git. */
const BINARY_CHECK_BYTES = 8192;
/** The maximum size of one read in bytes, so that each is short. */
const READ_BYTES = 4 * 1024 * 1024;

/** One buffer for all files: a new one for each takes 1.5 times as long. */
let buffer = new Uint8Array(256 * 1024);

/**
 * Calls `use` with the text of a file as UTF-8 and the open file. A file that is unreadable, binary or too large is
 * counted in `tally` instead. UTF-16 is recognized by its byte order mark. `unsaved` is the editor's text of the file.
 * @throws {Stopped} if `stop`, called between reads, returns true.
 */
export function withFileText(
  path: string,
  tally: Tally,
  stop: () => boolean,
  use: (text: Uint8Array, file: Deno.FsFile) => void,
  unsaved?: string,
): void {
  let file: Deno.FsFile | undefined;
  try {
    let text: Uint8Array | undefined;
    try {
      file = Deno.openSync(path);
      text = unsaved === undefined
        ? readUtf8(file, tally, stop)
        : new TextEncoder().encode(unsaved);
    } catch (error) {
      if (error instanceof Stopped) throw error;
      return countUnreadable(path, error, tally);
    }
    if (text !== undefined) use(text, file);
  } finally {
    file?.close();
  }
}

/** Returns the whole text, valid until the next call; undefined if the file is counted instead. */
function readUtf8(file: Deno.FsFile, tally: Tally, stop: () => boolean): Uint8Array | undefined {
  let length = 0;
  for (let n; (n = file.readSync(buffer.subarray(length, length + READ_BYTES))) !== null;) {
    length += n;
    if (length > MAX_SEARCHED_BYTES) {
      tally.large++;
      return undefined;
    }
    if (length > READ_BYTES && stop()) throw new Stopped("The search was stopped");
    if (length === buffer.length) {
      const larger = new Uint8Array(Math.min(4 * length, MAX_SEARCHED_BYTES + 1));
      larger.set(buffer);
      buffer = larger;
    }
  }
  const bytes = buffer.subarray(0, length);
  const utf16 = utf16Label(bytes);
  if (utf16 !== undefined) return new TextEncoder().encode(new TextDecoder(utf16).decode(bytes));
  if (bytes.subarray(0, BINARY_CHECK_BYTES).includes(0)) {
    tally.binary++;
    return undefined;
  }
  return hasBom(bytes) ? bytes.subarray(3) : bytes;
}
