/**
 * Writes a file for the model, and reports it.
 *
 * @module
 */

import type { ToolContext } from "../../types/tool.ts";
import { type Seen, writeAtomically, type Written } from "./atomic_write.ts";
import { noteSeen, stampOf } from "./seen_files.ts";

/** Files over this size, in bytes, are reported without the bytes that they had. */
const MAX_SAVED_BYTES = 16 * 1024 * 1024;

/**
 * Writes as {@linkcode writeAtomically} does, remembers that the model knows the file, and calls
 * `onWritten`.
 */
export async function writeSeen(
  context: ToolContext,
  path: string,
  shown: string,
  bytes: Uint8Array,
  seen: Seen | undefined,
): Promise<Written> {
  const before = context.onWritten && await versionOf(context.grant?.realPath ?? path, seen);
  const written = await writeAtomically(path, shown, bytes, seen, context);
  const info = await Deno.stat(written.realPath);
  noteSeen(context, written.realPath, info);
  context.onWritten?.({
    path: written.realPath,
    stamp: stampOf(info),
    ...!written.created && { before: before ?? { stamp: "" } },
  });
  return written;
}

/**
 * The file at `path` before it is written, which begins with `seen`; without bytes where it cannot
 * be read.
 */
async function versionOf(
  path: string,
  seen: Seen | undefined,
): Promise<{ stamp: string; bytes?: Uint8Array } | undefined> {
  const info = await Deno.stat(path).catch(() => undefined);
  if (info === undefined) return undefined;
  const stamp = stampOf(info);
  if (seen === undefined || seen.size > MAX_SAVED_BYTES) return { stamp };
  return { stamp, bytes: seen.head.length === seen.size ? seen.head : await Deno.readFile(path) };
}
