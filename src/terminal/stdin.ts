/**
 * This process's stdin, with one reader for all: nobody takes bytes that another waits for.
 *
 * @module
 */

import { ByteSource, KeySource, LineSource } from "./line/sources.ts";

let bytes: ByteSource | undefined;
let lines: LineSource | undefined;
let keys: KeySource | undefined;

function stdinBytes(): ByteSource {
  return bytes ??= new ByteSource({ read: (buffer) => Deno.stdin.read(buffer) });
}

export function stdinLines(): LineSource {
  return lines ??= new LineSource(stdinBytes());
}

/** The keys of stdin, for a terminal in raw mode. Keys typed while nobody asks are kept. */
export function stdinKeys(): KeySource {
  return keys ??= new KeySource(stdinBytes());
}
