/** Texts as UTF-8, one after the other: joined as text, they would take as much memory again. @module */

/** Shorter texts are joined before they are encoded, up to these numbers: each call takes its time. */
const MAX_JOINED_CHARS = 64 * 1024;
const MAX_JOINED_TEXTS = 10_000;

const encoder = new TextEncoder();

/** The bytes of a short text as UTF-8. */
export const utf8Length = (text: string): number => encoder.encode(text).length;

export class Utf8Buffer {
  readonly #buffer: Uint8Array;
  #size = 0;
  #texts: string[] = [];
  #chars = 0;

  /** @param maxBytes the most bytes that all texts have */
  constructor(maxBytes: number) {
    this.#buffer = new Uint8Array(maxBytes);
  }

  /** Adds a text without half characters. */
  add(text: string): void {
    if (text.length > MAX_JOINED_CHARS) {
      this.#flush();
      this.#encode(text);
      return;
    }
    this.#chars += text.length;
    this.#texts.push(text);
    if (this.#chars > MAX_JOINED_CHARS || this.#texts.length >= MAX_JOINED_TEXTS) this.#flush();
  }

  /** The number of bytes so far. */
  get size(): number {
    this.#flush();
    return this.#size;
  }

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.size);
  }

  #flush(): void {
    this.#encode(this.#texts.join(""));
    this.#texts = [];
    this.#chars = 0;
  }

  #encode(text: string): void {
    this.#size += encoder.encodeInto(text, this.#buffer.subarray(this.#size)).written;
  }
}
