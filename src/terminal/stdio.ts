/** The process's own streams but for a terminal's keys. @module */

import { attempt } from "../attempt.ts";
import { wrapped } from "../text/wrap.ts";
import { aborted } from "../wire/wait.ts";

/** The most characters that may be queued before `room` gives a promise. */
const MAX_QUEUED = 4 * 2 ** 20;

/**
 * Writes text to a stream, in order, without blocking and without losing the end. Once a reader has
 * gone (`head -1`) or a disk is full, `onClosed` is called with the error, and later text is
 * dropped.
 */
export class Output {
  /** True when the last character queued was no line feed. */
  midLine = false;
  /** Makes of a text what the reader can show; left out, text goes as it is. */
  fit: ((text: string) => string) | undefined;
  readonly #encoder = new TextEncoder();
  #queue: string[] = [];
  /** Characters not yet written, those under way included. */
  #queued = 0;
  #writing: Promise<void> | undefined;
  #isClosed = false;

  /** @param sink A stream to write to, such as `Deno.stdout`. */
  constructor(
    private readonly sink: { write(bytes: Uint8Array): Promise<number>; isTerminal?(): boolean },
    private readonly onClosed: (error: Error) => void,
  ) {}

  /** Queues `text`; what is queued while a write is under way goes out as one. */
  write(text: string): void {
    if (this.#isClosed || text === "") return;
    this.midLine = !text.endsWith("\n");
    const shown = this.fit?.(text) ?? text;
    this.#queue.push(shown);
    this.#queued += shown.length;
    this.#writing ??= this.#drain();
  }

  /** Queues a line for a person: a terminal shows it broken between words. */
  line(text: string): void {
    const columns = this.sink.isTerminal?.()
      ? attempt(() => Deno.consoleSize().columns)
      : undefined;
    this.write(`${columns ? wrapped(text, columns) : text}\n`);
  }

  /** Resolves when everything queued so far is written. */
  drained(): Promise<void> {
    return this.#writing ?? Promise.resolve();
  }

  /** Resolves when more may be written; `undefined` as long as little is queued. */
  room(): Promise<void> | undefined {
    return this.#queued < MAX_QUEUED ? undefined : this.#writing;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        const text = this.#queue.join("");
        this.#queue = [];
        let bytes = this.#encoder.encode(text);
        while (bytes.length > 0) bytes = bytes.subarray(await this.sink.write(bytes));
        this.#queued -= text.length;
      }
    } catch (error) {
      this.#isClosed = true;
      this.#queue = [];
      this.onClosed(error as Error);
    }
    this.#writing = undefined;
  }
}

/** Writes all of `text` to stdout before it returns. */
export function writeStdout(text: string): void {
  const encoded = new TextEncoder().encode(text);
  for (let at = 0; at < encoded.length;) at += Deno.stdout.writeSync(encoded.subarray(at));
}

/** The most bytes read from a pipe: far above any model's context, far below our memory. */
const MAX_STDIN_BYTES = 64 * 2 ** 20;

interface PipedText {
  text: string;
  /** True when no byte had come within `firstByteMs`, and the pipe was left alone. */
  silent: boolean;
}

/**
 * Reads `source` to its end. With `firstByteMs`, a pipe without a byte in that time is given up:
 * programs are often started with a pipe as stdin that nobody ever writes to or closes.
 * @throws {RangeError} when there are more than 64 MiB.
 */
export async function readPiped(
  source: { read(buffer: Uint8Array): Promise<number | null> },
  firstByteMs?: number,
): Promise<PipedText> {
  let bytes = new Uint8Array(65_536);
  let size = 0;
  for (;;) {
    if (size === bytes.length) {
      if (size > MAX_STDIN_BYTES) {
        const most = MAX_STDIN_BYTES / 2 ** 20;
        throw new RangeError(`Cannot read stdin as it must be at most ${most} MiB: pipe less`);
      }
      // One byte more tells an end at the limit from one beyond it.
      const larger = new Uint8Array(Math.min(size * 2, MAX_STDIN_BYTES + 1));
      larger.set(bytes);
      bytes = larger;
    }
    const reading = source.read(bytes.subarray(size));
    const got = size === 0 && firstByteMs !== undefined
      ? await orSilence(reading, firstByteMs)
      : await reading;
    if (got === "silent") return { text: "", silent: true };
    if (got === null) break;
    size += got;
  }
  return { text: new TextDecoder().decode(bytes.subarray(0, size)), silent: false };
}

function orSilence<T>(reading: Promise<T>, ms: number): Promise<T | "silent"> {
  // Not setTimeout: its first use loads 5 ms of code, and nearly every run comes through here.
  const silence = aborted(AbortSignal.timeout(ms)).then(() => "silent" as const);
  return Promise.race([reading, silence]);
}
