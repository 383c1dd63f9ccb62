/** Splits bytes into lines, incrementally. @module */

import { BackendError } from "../errors.ts";

/** Decodes a body's bytes in pieces of any size. The results go to the callback of its constructor. */
export interface Decoder {
  push(chunk: Uint8Array): void;
  /** Handles the end of the body. Call it once, only if the body ended by itself. */
  end(): void;
}

/** The maximum characters of a line. Real ones may contain a file as an argument. */
const MAX_ANSWER_CHARS = 64 * 2 ** 20;

/**
 * Decodes UTF-8 into lines that end with `\n` or `\r\n` (with `loneCr`, also `\r`), without their ends. Invalid
 * UTF-8 becomes U+FFFD, and a byte order mark at the start is dropped. `end` delivers a last line without an end.
 * A line of over `maxChars` characters (default 64 Mi) throws a `BackendError` of kind `protocol`.
 */
export class LineDecoder implements Decoder {
  readonly #loneCr: boolean;
  readonly #maxChars: number;
  // By default the decoder drops a mark at the start of every chunk (Deno 2.9.6).
  readonly #utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  /** The incomplete line. It is a rope: each piece is appended and searched once. */
  #pending = "";
  /** A character to drop if it comes next. */
  #skip = "\ufeff";

  constructor(
    private readonly onLine: (line: string) => void,
    { loneCr = false, maxChars = MAX_ANSWER_CHARS }: { loneCr?: boolean; maxChars?: number } = {},
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
    // Each position is searched again only once passed, so text without a match is read once.
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
    if (this.#pending.length <= this.#maxChars) return;
    throw new BackendError(
      `Cannot read the answer as its longest line must have at most ${this.#maxChars} characters: it has more`,
      { kind: "protocol" },
    );
  }

  #finish(tail: string): void {
    const whole = this.#pending + tail;
    this.#pending = "";
    this.onLine(!this.#loneCr && whole.endsWith("\r") ? whole.slice(0, -1) : whole);
  }
}
