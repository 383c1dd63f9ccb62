/** Bytes to lines, incrementally. @module */

import { BackendError } from "../errors.ts";

/** Decodes a body's bytes in any pieces; the results go to the callback that it was made with. */
export interface Decoder {
  push(chunk: Uint8Array): void;
  /** Takes the end of the body; call it once, and only when the body ended by itself. */
  end(): void;
}

/**
 * The most characters of one line, event or JSON answer. The longest real ones hold a whole file as
 * an argument of a tool call; this bounds memory when a server never ends a line.
 */
const MAX_ANSWER_CHARS = 64 * 2 ** 20;

/** Throws when `length` characters are more than `max`. */
export function checkLength(length: number, what: string, max: number = MAX_ANSWER_CHARS): void {
  if (length <= max) return;
  throw new BackendError(
    `Cannot read the answer as its ${what} must have at most ${max} characters: it has more`,
    { kind: "protocol" },
  );
}

/**
 * Decodes UTF-8 into lines ended by `\n` or `\r\n` (with `loneCr`, by `\r` too), without their ends.
 * Invalid UTF-8 becomes U+FFFD; a byte order mark at the start is dropped. A last line without an end
 * is delivered by `end`. A line of over `maxChars` characters (by default 64 Mi) throws a `BackendError`
 * of kind `protocol`.
 */
export class LineDecoder implements Decoder {
  readonly #loneCr: boolean;
  readonly #maxChars: number | undefined;
  // By default the decoder drops a mark at the start of every chunk (Deno 2.9.6).
  readonly #utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  /** The line that is under way. A rope: each piece of a long line is appended and searched once. */
  #pending = "";
  /** A character that is dropped if it comes next. */
  #skip = "\ufeff";

  constructor(
    private readonly onLine: (line: string) => void,
    { loneCr = false, maxChars }: { loneCr?: boolean; maxChars?: number } = {},
  ) {
    this.#loneCr = loneCr;
    this.#maxChars = maxChars;
  }

  push(chunk: Uint8Array): void {
    this.#take(this.#utf8.decode(chunk, { stream: true }));
  }

  end(): void {
    this.#take(this.#utf8.decode());
    if (this.#pending !== "") this.#finish("");
  }

  #take(text: string): void {
    let start = 0;
    if (this.#skip !== "" && text !== "") {
      if (text.startsWith(this.#skip)) start = 1;
      this.#skip = "";
    }
    // Each position is searched again only once passed, so that text without one is read once.
    let lf = text.indexOf("\n", start);
    let cr = this.#loneCr ? text.indexOf("\r", start) : -1;
    while (lf >= 0 || cr >= 0) {
      const end = lf < 0 || (cr >= 0 && cr < lf) ? cr : lf;
      this.#finish(text.slice(start, end));
      start = end + 1;
      if (end === cr) {
        if (start === text.length) this.#skip = "\n";
        else if (text.charCodeAt(start) === 10) start++;
        cr = text.indexOf("\r", start);
      }
      if (lf >= 0 && lf < start) lf = text.indexOf("\n", start);
    }
    this.#pending += text.slice(start);
    checkLength(this.#pending.length, "longest line", this.#maxChars);
  }

  #finish(tail: string): void {
    const whole = this.#pending + tail;
    this.#pending = "";
    this.onLine(!this.#loneCr && whole.endsWith("\r") ? whole.slice(0, -1) : whole);
  }
}
