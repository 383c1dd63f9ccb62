/** The states of files that the model knows: to edit an older one undoes others' work. @module */

import { digestOf } from "../../text/digest.ts";
import { readBytes } from "./regular_file.ts";

/** The first bytes of a file, of which all are not kept, that are compared beside its stamp. */
export const SAMPLE_BYTES = 1024 * 1024;
/** Files over this size, in bytes, are told apart by times alone: programs can set one of them back. */
export const MAX_DIGESTED_BYTES = 8 * 1024 * 1024;

/**
 * The state of a file in a short text, which changes with what the file holds.
 * @param bytes what it holds, where that is known
 * @throws {Error} when there is no such file.
 */
export async function stampOf(path: string, bytes?: Uint8Array): Promise<string> {
  if (bytes !== undefined && bytes.length <= MAX_DIGESTED_BYTES) return await digestOf(bytes);
  const { isFile, dev, ino, size, mtime, ctime } = await Deno.stat(path);
  const times = [dev, ino, size, mtime?.getTime(), ctime?.getTime()].join(":");
  if (!isFile || size > MAX_DIGESTED_BYTES) return times;
  try {
    using file = await Deno.open(path);
    return await digestOf(await readBytes(file, size));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw error;
    return times; // It cannot be read.
  }
}
