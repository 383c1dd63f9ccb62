import { type LineSource, lineSource } from "./line_source.ts";

let shared: LineSource | undefined;

/** The lines of this process's stdin; one source for all, so that no reader takes another's line. */
export function stdinLines(): LineSource {
  return shared ??= lineSource(Deno.stdin.readable);
}

/** Writes all of `text` to stdout, at once. */
export function show(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}
