/** A long text that comes in small pieces. @module */

/** The pieces that wait to be joined. */
const MAX_PIECES = 1024;

/**
 * Joins its pieces now and then: a string made with `+=` alone is kept as a tree, which takes some
 * 50 bytes for each piece until the text is first read.
 */
export class GrowingText {
  #joined = "";
  readonly #pieces: string[] = [];

  add(piece: string): void {
    if (this.#pieces.push(piece) >= MAX_PIECES) this.#join();
  }

  /** All of the text so far. */
  get whole(): string {
    this.#join();
    return this.#joined;
  }

  #join(): void {
    this.#joined += this.#pieces.join("");
    this.#pieces.length = 0;
  }
}
