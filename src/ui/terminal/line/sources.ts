/** Bytes, lines and keys of a stream. All readers of stdin share one source, so no bytes are lost. @module */

import { LineDecoder } from "../../../wire/lines.ts";
import { type Key, KeyDecoder } from "./keys.ts";

/** Reads pieces of a stream, only while a caller waits for one. */
export class ByteSource {
  ended = false;
  readonly #buffer = new Uint8Array(65_536);
  readonly #pieces: Uint8Array[] = [];
  #reading: Promise<void> | undefined;
  constructor(private readonly stream: { read(buffer: Uint8Array): Promise<number | null> }) {}

  /** The next piece; null at the end, or once `signal` is aborted, which loses no piece. */
  async next(signal?: AbortSignal): Promise<Uint8Array | null> {
    let onAbort = () => {};
    const aborted = signal && new Promise<void>((resolve) => onAbort = resolve);
    signal?.addEventListener("abort", onAbort);
    try {
      while (this.#pieces.length === 0 && !this.ended && !signal?.aborted) {
        this.#reading ??= this.#readPiece();
        await (aborted ? Promise.race([this.#reading, aborted]) : this.#reading);
      }
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
    return signal?.aborted ? null : this.#pieces.shift() ?? null;
  }

  async #readPiece(): Promise<void> {
    try {
      const length = await this.stream.read(this.#buffer);
      if (length === null) this.ended = true;
      else this.#pieces.push(this.#buffer.slice(0, length));
    } catch {
      this.ended = true; // the terminal is gone (EIO)
    }
    this.#reading = undefined;
  }
}

/** Reads lines without their line ends; an unfinished last line counts. */
export class LineSource {
  readonly #lines: string[] = [];
  readonly #decoder = new LineDecoder((line) => this.#lines.push(line));
  constructor(private readonly source: ByteSource) {}

  /** The next line; null at the end, or once `signal` is aborted, which loses no line. */
  async next(signal?: AbortSignal): Promise<string | null> {
    while (this.#lines.length === 0) {
      const bytes = await this.source.next(signal);
      if (bytes !== null) this.#decoder.push(bytes);
      else if (signal?.aborted || !this.source.ended) return null;
      else {
        this.#decoder.end();
        break;
      }
    }
    return this.#lines.shift() ?? null;
  }
}

/** The milliseconds to wait for the rest of a key; a longer wait takes a key after Escape for Alt. */
const PAUSE_MS = 50;
/** A paste without input for this many milliseconds has lost its end. */
const LOST_PASTE_MS = 5000;

/** The keys in a stream of bytes, including those typed before a caller waits for them. */
export class KeySource {
  readonly #decoder = new KeyDecoder();
  readonly #keys: Key[] = [];
  constructor(
    private readonly source: ByteSource,
    private readonly pauseMs = PAUSE_MS,
    private readonly lostMs = LOST_PASTE_MS,
  ) {}

  get ready(): boolean {
    return this.#keys.length > 0;
  }

  /** The next key; null at the end of the input, or once `signal` is aborted. */
  async next(signal?: AbortSignal): Promise<Key | null> {
    while (!this.ready && !signal?.aborted) {
      const { pending, isPasting } = this.#decoder;
      if (await this.#read(signal, pending ? this.pauseMs : isPasting ? this.lostMs : undefined)) {
        continue;
      }
      if (signal?.aborted) break;
      if (this.#decoder.pending) this.#keys.push(...this.#decoder.flush());
      else if (this.source.ended) return null;
      else if (isPasting) this.#keys.push(...this.#decoder.giveUp());
    }
    return signal?.aborted ? null : this.#keys.shift() ?? null;
  }

  /** Reads one piece within `ms` milliseconds; false if no piece came. */
  async #read(signal: AbortSignal | undefined, ms?: number): Promise<boolean> {
    if (ms === undefined) return this.#decode(await this.source.next(signal));
    const pause = new AbortController();
    const timer = setTimeout(() => pause.abort(), ms);
    try {
      const either = signal ? AbortSignal.any([signal, pause.signal]) : pause.signal;
      return this.#decode(await this.source.next(either));
    } finally {
      clearTimeout(timer);
    }
  }

  #decode(bytes: Uint8Array | null): boolean {
    if (bytes === null) return false;
    this.#keys.push(...this.#decoder.push(bytes));
    return true;
  }
}

let stdin: ByteSource | undefined;
let lines: LineSource | undefined;
let keys: KeySource | undefined;
const stdinBytes = () => stdin ??= new ByteSource({ read: (buffer) => Deno.stdin.read(buffer) });
export const stdinLines = (): LineSource => lines ??= new LineSource(stdinBytes());
export const stdinKeys = (): KeySource => keys ??= new KeySource(stdinBytes());
