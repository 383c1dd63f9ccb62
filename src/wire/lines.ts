/**
 * Bytes to lines, incrementally.
 *
 * @module
 */

import { BackendError } from "../errors.ts";

/** Takes a body's bytes in any pieces. What it decodes goes to the callback it was made with. */
export interface Decoder {
  /** Takes the next bytes, however they were cut. */
  push(chunk: Uint8Array): void;
  /** Takes the end of the body; call it once, and only when the body ended by itself. */
  end(): void;
}

/**
 * The most characters that one line, event or JSON answer may have. The longest real ones are a
 * whole file as one argument of a tool call; this bounds memory when a server never ends a line.
 */
export const MAX_CHARS = 64 * 2 ** 20;

/** Throws when `length` characters are more than {@linkcode MAX_CHARS}. */
export function checkLength(length: number, what: string): void {
  if (length <= MAX_CHARS) return;
  throw new BackendError(
    `Cannot read the answer as its ${what} must have at most ${MAX_CHARS} characters: it has more`,
    { kind: "protocol" },
  );
}

/**
 * Decodes UTF-8 into lines ended by `\n` or `\r\n` (with `loneCr`, by `\r` too), without their ends.
 * What is no UTF-8 becomes U+FFFD; a byte order mark at the start is dropped. A last line without an
 * end is delivered by `end`.
 *
 * @throws {BackendError} of kind `protocol`, from `push`, when one line is longer than 64 Mi characters.
 */
export function lineDecoder(
  onLine: (line: string) => void,
  { loneCr = false }: { loneCr?: boolean } = {},
): Decoder {
  // The decoder's own way drops a mark at the start of every chunk (Deno 2.9.6).
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  // A rope: each piece of a long line is appended, and looked at, once.
  let pending = "";
  /** What is dropped if it comes next. */
  let skip = "\ufeff";

  function line(tail: string): void {
    const whole = pending + tail;
    pending = "";
    onLine(!loneCr && whole.endsWith("\r") ? whole.slice(0, -1) : whole);
  }

  function take(text: string): void {
    let start = 0;
    if (skip !== "" && text !== "") {
      if (text.startsWith(skip)) start = 1;
      skip = "";
    }
    // Each position is searched again only once passed, so that text without one is read once.
    let lf = text.indexOf("\n", start);
    let cr = loneCr ? text.indexOf("\r", start) : -1;
    while (lf >= 0 || cr >= 0) {
      const end = lf < 0 || (cr >= 0 && cr < lf) ? cr : lf;
      line(text.slice(start, end));
      start = end + 1;
      if (end === cr) {
        if (start === text.length) skip = "\n";
        else if (text.charCodeAt(start) === 10) start++;
        cr = text.indexOf("\r", start);
      }
      if (lf >= 0 && lf < start) lf = text.indexOf("\n", start);
    }
    if (start < text.length) {
      pending += text.slice(start);
      checkLength(pending.length, "longest line");
    }
  }

  return {
    push: (chunk) => take(utf8.decode(chunk, { stream: true })),
    end() {
      take(utf8.decode());
      if (pending !== "") line("");
    },
  };
}
