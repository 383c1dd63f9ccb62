/**
 * This process's stdin, with one reader for all: nobody takes bytes that another waits for; and
 * stdout, written at once.
 *
 * @module
 */

import { KeySource } from "./line/key_source.ts";
import { ByteSource, LineSource } from "./line/line_source.ts";

let bytes: ByteSource | undefined;
let lines: LineSource | undefined;
let keys: KeySource | undefined;

function stdinBytes(): ByteSource {
  return bytes ??= new ByteSource({ read: (buffer) => Deno.stdin.read(buffer) });
}

/** The lines of stdin. */
export function stdinLines(): LineSource {
  return lines ??= new LineSource(stdinBytes());
}

/** The keys of stdin, for a terminal in raw mode. Keys typed while nobody asks are kept. */
export function stdinKeys(): KeySource {
  return keys ??= new KeySource(stdinBytes());
}

/** Writes all of `text` to stdout before it returns. */
export function writeStdout(text: string): void {
  const encoded = new TextEncoder().encode(text);
  for (let at = 0; at < encoded.length;) at += Deno.stdout.writeSync(encoded.subarray(at));
}
