/** The states of files that the model knows: editing an older state would undo other changes. @module */

import { digestOf } from "../../text/digest.ts";
import { openToRead, readBytes } from "./regular_file.ts";

export interface SeenState {
  stamp: string; // empty for a new file
  bytes?: Uint8Array; // its content; missing if it is larger than {@linkcode MAX_DIGESTED_BYTES}
}

/** Larger files, in bytes, are not edited, and compared only by times, of which programs can reset one. */
export const MAX_DIGESTED_BYTES = 16 * 1024 * 1024;
/** The reason why a file cannot be restored. */
export const TOO_LARGE = "its old content was too large to store";

/** Returns a text that changes with a file: its inode, size, times and mode. A program can set `mtime`. */
export const stampOfInfo = ({ ino, size, mtime, ctime, mode }: Deno.FileInfo): string =>
  [ino, size, mtime?.getTime(), ctime?.getTime(), mode].join(":");

/**
 * Returns a short text for the state of a file, which changes with its content.
 * @param bytes its content, if known
 * @throws {Error} if there is no such file.
 */
export async function stampOf(path: string, bytes?: Uint8Array): Promise<string> {
  if (bytes !== undefined && bytes.length <= MAX_DIGESTED_BYTES) return await digestOf(bytes);
  const info = await Deno.stat(path);
  if (!info.isFile || info.size > MAX_DIGESTED_BYTES) return stampOfInfo(info);
  try {
    using file = await openToRead(path);
    return await digestOf(await readBytes(file, info.size));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw error;
    return stampOfInfo(info); // It cannot be read.
  }
}
