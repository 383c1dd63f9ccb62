/**
 * Keys as they are typed, one at a time for whoever asks next.
 *
 * @module
 */

import { type Key, keyDecoder } from "./keys.ts";
import type { ByteSource } from "./line_source.ts";

/** Keys as they are typed. */
export interface KeySource {
  /**
   * The next key; null at the end of the input, or once `signal` is aborted. What was typed before
   * anyone asked is not lost.
   */
  next(signal?: AbortSignal): Promise<Key | null>;
  /** True when a key is there already. */
  readonly ready: boolean;
  /**
   * Drops what was typed so far, so that it does not answer a question that was not asked yet. Waits
   * until the terminal has been silent for {@linkcode PAUSE_MS}.
   */
  discard(signal?: AbortSignal): Promise<void>;
}

/**
 * How long the rest of a key may take, in milliseconds: the bytes of one key come together, and
 * nobody presses Escape and the next key so fast.
 */
const PAUSE_MS = 40;

/** The keys in `source`. */
export function keySource(source: ByteSource, pauseMs = PAUSE_MS): KeySource {
  const decoder = keyDecoder();
  let keys: Key[] = [];
  let at = 0;

  /** Reads on, for `ms` at most: whether anything came. */
  async function read(signal: AbortSignal | undefined, ms?: number): Promise<boolean> {
    if (ms === undefined) return add(await source.next(signal));
    const pause = new AbortController();
    const timer = setTimeout(() => pause.abort(), ms);
    try {
      return add(
        await source.next(signal ? AbortSignal.any([signal, pause.signal]) : pause.signal),
      );
    } finally {
      clearTimeout(timer);
    }
  }

  function add(bytes: Uint8Array | null): boolean {
    if (bytes !== null) keep(decoder.push(bytes));
    return bytes !== null;
  }

  function keep(more: Key[]): void {
    keys = at < keys.length ? [...keys.slice(at), ...more] : more;
    at = 0;
  }

  return {
    async next(signal) {
      while (at === keys.length && !signal?.aborted) {
        if (await read(signal, decoder.pending ? pauseMs : undefined)) continue;
        if (signal?.aborted) break;
        if (decoder.pending) keep(decoder.flush());
        else if (source.ended) return null;
      }
      return signal?.aborted ? null : keys[at++] ?? null;
    },
    get ready() {
      return at < keys.length;
    },
    async discard(signal) {
      while (await read(signal, pauseMs));
      decoder.flush();
      keys = [];
      at = 0;
    },
  };
}
