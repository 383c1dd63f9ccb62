/** Bounded reads of untrusted files. @module */

import { isStill, openToRead, readBytes } from "../tools/files/regular_file.ts";

/** Returns up to `maxBytes` of a file, with a note if there is more; undefined outside of `root`, or without a file. */
export async function readBoundedText(
  path: string,
  maxBytes: number,
  root?: string,
): Promise<string | undefined> {
  try {
    if (!Deno.statSync(path).isFile) return undefined;
    const since = Date.now();
    using file = await openToRead(path);
    const info = file.statSync();
    const isSame = root === undefined || isStill(path, info, root, since);
    if (!info.isFile || !isSame) return undefined;
    const bytes = await readBytes(file, maxBytes + 1);
    const text = new TextDecoder().decode(bytes.subarray(0, maxBytes));
    if (bytes.length <= maxBytes) return text;
    return `${text}\n[The rest is left out: ${maxBytes} bytes are read]\n`;
  } catch {
    return undefined;
  }
}
