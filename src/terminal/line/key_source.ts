/**
 * Keys as they are typed, one at a time for whoever asks next.
 *
 * @module
 */

import { type Key, KeyDecoder } from "./keys.ts";
import type { ByteSource } from "./line_source.ts";

/**
 * The milliseconds that the rest of a key may take: the bytes of one key come together, and nobody
 * presses Escape and the next key so fast.
 */
const PAUSE_MS = 40;

/** The keys in a stream of bytes. Keys typed before anyone asked are not lost. */
export class KeySource {
  readonly #source: ByteSource;
  readonly #pauseMs: number;
  readonly #decoder = new KeyDecoder();
  #keys: Key[] = [];
  /** The next of the keys. */
  #at = 0;

  constructor(source: ByteSource, pauseMs = PAUSE_MS) {
    this.#source = source;
    this.#pauseMs = pauseMs;
  }

  /** True when a key is there already. */
  get ready(): boolean {
    return this.#at < this.#keys.length;
  }

  /** The next key; null at the end of the input, or once `signal` is aborted. */
  async next(signal?: AbortSignal): Promise<Key | null> {
    while (!this.ready && !signal?.aborted) {
      if (await this.#read(signal, this.#decoder.pending ? this.#pauseMs : undefined)) continue;
      if (signal?.aborted) break;
      if (this.#decoder.pending) this.#add(this.#decoder.flush());
      else if (this.#source.ended) return null;
    }
    return signal?.aborted ? null : this.#keys[this.#at++] ?? null;
  }

  /**
   * Drops the keys typed so far, so that they do not answer a question that was not asked yet. Waits
   * until the terminal has been silent for {@linkcode PAUSE_MS}.
   */
  async discard(signal?: AbortSignal): Promise<void> {
    while (await this.#read(signal, this.#pauseMs));
    this.#decoder.flush();
    this.#keys = [];
    this.#at = 0;
  }

  /** Reads one piece, waiting `ms` milliseconds at most; false when none came. */
  async #read(signal: AbortSignal | undefined, ms?: number): Promise<boolean> {
    if (ms === undefined) return this.#decode(await this.#source.next(signal));
    const pause = new AbortController();
    const timer = setTimeout(() => pause.abort(), ms);
    try {
      const either = signal ? AbortSignal.any([signal, pause.signal]) : pause.signal;
      return this.#decode(await this.#source.next(either));
    } finally {
      clearTimeout(timer);
    }
  }

  #decode(bytes: Uint8Array | null): boolean {
    if (bytes !== null) this.#add(this.#decoder.push(bytes));
    return bytes !== null;
  }

  #add(more: Key[]): void {
    this.#keys = this.ready ? [...this.#keys.slice(this.#at), ...more] : more;
    this.#at = 0;
  }
}
