/**
 * This process's own terminal, or whatever stands in its place: one reader for all, so that nobody
 * takes what another waits for.
 *
 * @module
 */

import { type KeySource, keySource } from "./line/key_source.ts";
import { type ByteSource, byteSource, type LineSource, lineSource } from "./line/line_source.ts";

let bytes: ByteSource | undefined;
let lines: LineSource | undefined;
let keys: KeySource | undefined;

function stdinBytes(): ByteSource {
  return bytes ??= byteSource({ read: (buffer) => Deno.stdin.read(buffer) });
}

/** The lines of stdin. */
export function stdinLines(): LineSource {
  return lines ??= lineSource(stdinBytes());
}

/** The keys of stdin, for a terminal in raw mode. What is typed while nobody asks is kept. */
export function stdinKeys(): KeySource {
  return keys ??= keySource(stdinBytes());
}

/** Writes all of `text` to stdout, at once. */
export function show(text: string): void {
  const encoded = new TextEncoder().encode(text);
  for (let at = 0; at < encoded.length;) at += Deno.stdout.writeSync(encoded.subarray(at));
}
