/** Bounded reads of untrusted files. @module */

import { isStill } from "../tools/files/regular_file.ts";

/** Returns up to `maxBytes` of a file, with a note if there is more; undefined outside of `root`. @throws {Error} */
export function readBoundedText(path: string, maxBytes: number, root?: string): string | undefined {
  // Opening a pipe would block.
  if (!Deno.statSync(path).isFile) return undefined;
  const since = Date.now();
  using file = Deno.openSync(path);
  if (root !== undefined && !isStill(path, file.statSync(), root, since)) return undefined;
  const bytes = new Uint8Array(maxBytes + 1);
  let length = 0;
  for (let read; length < bytes.length && (read = file.readSync(bytes.subarray(length)));) {
    length += read;
  }
  const text = new TextDecoder().decode(bytes.subarray(0, Math.min(length, maxBytes)));
  if (length <= maxBytes) return text;
  return `${text}\n[The rest is left out: ${maxBytes} bytes are read]\n`;
}
