/** Reading files as text. @module */

import { countUnreadable, type Tally } from "./walk.ts";

/** Larger files are not searched: a text takes memory several times over. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** A NUL byte among so many at the beginning tells a binary file, as git has it. */
const BINARY_CHECK_BYTES = 8192;

/** One buffer for all files: measured, a new one for each takes half as long again. */
let buffer = new Uint8Array(256 * 1024);
const utf8 = new TextDecoder();

/**
 * The text of a file; undefined, and counted in `tally`, where it cannot be read, is binary or too
 * large. Bytes that are not UTF-8 become U+FFFD; UTF-16 is known by its byte order mark.
 */
export function readText(path: string, tally: Tally): string | undefined {
  let length = 0;
  try {
    using file = Deno.openSync(path);
    for (let n; (n = file.readSync(buffer.subarray(length))) !== null;) {
      length += n;
      if (length > MAX_FILE_BYTES) {
        tally.large++;
        return undefined;
      }
      if (length === buffer.length) {
        const larger = new Uint8Array(Math.min(4 * length, MAX_FILE_BYTES + 1));
        larger.set(buffer);
        buffer = larger;
      }
    }
  } catch (error) {
    countUnreadable(error, tally);
    return undefined;
  }
  const bytes = buffer.subarray(0, length);
  const utf16 = utf16Label(bytes);
  if (utf16 !== undefined) return new TextDecoder(utf16).decode(bytes);
  if (bytes.subarray(0, BINARY_CHECK_BYTES).includes(0)) {
    tally.binary++;
    return undefined;
  }
  return utf8.decode(bytes);
}

function utf16Label(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : undefined;
}
