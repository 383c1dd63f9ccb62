/**
 * Texts that are folded to a line each, and shown whole by Ctrl-O.
 *
 * @module
 */

/** The most texts, and the most characters of each. */
const MAX_TEXTS = 50;
const MAX_CHARS = 200_000;

/** The folded texts of a session. */
export class FoldedTexts {
  readonly #texts: { title: string; text: string }[] = [];
  /** Texts before this index were not shown yet. */
  #next = 0;

  add(title: string, text: string): void {
    this.#texts.push({ title, text: text.slice(0, MAX_CHARS) });
    if (this.#texts.length > MAX_TEXTS) this.#texts.shift();
    this.#next = this.#texts.length;
  }

  /** The newest text, and each time after that the one before it; undefined where there is none. */
  next(): { title: string; text: string } | undefined {
    const found = this.#texts[this.#next - 1];
    if (found !== undefined) this.#next--;
    return found;
  }
}
