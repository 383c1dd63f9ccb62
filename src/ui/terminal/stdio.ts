/** The streams of this process, except a terminal's keys. @module */

import { attempt } from "../../attempt.ts";
import { wrapped } from "../../text/wrap.ts";
import { aborted } from "../../wire/wait.ts";

/** With more characters queued, `room` returns a promise. */
const MAX_QUEUED = 4 * 2 ** 20;

/** Writes text to a stream, in order. If the reader is gone or a disk is full, calls `onClosed` and drops the rest. */
export class Output {
  /** True if the queued text ends within a line. */
  midLine = false;
  /** Replaces characters that the reader cannot show. */
  fit: ((text: string) => string) | undefined;
  readonly #encoder = new TextEncoder();
  #queue: string[] = [];
  #queued = 0;
  #writing: Promise<void> | undefined;
  #isClosed = false;

  /** @param sink A stream to write to, such as `Deno.stdout`. */
  constructor(
    private readonly sink: { write(bytes: Uint8Array): Promise<number>; isTerminal?(): boolean },
    private readonly onClosed: (error: Error) => void,
  ) {}

  /** Queues `text`; text that is queued during a write goes out in one write. */
  write(text: string): void {
    if (this.#isClosed || text === "") return;
    this.midLine = !text.endsWith("\n");
    const shown = this.fit?.(text) ?? text;
    this.#queue.push(shown);
    this.#queued += shown.length;
    this.#writing ??= this.#drain();
  }

  line(text: string): void {
    const columns = this.sink.isTerminal?.()
      ? attempt(() => Deno.consoleSize().columns)
      : undefined;
    this.write(`${columns ? wrapped(text, columns) : text}\n`);
  }

  drained(): Promise<void> {
    return this.#writing ?? Promise.resolve();
  }

  /** Resolves when more text may be queued; `undefined` if it may be now. */
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

export function writeStdout(text: string): void {
  const encoded = new TextEncoder().encode(text);
  for (let at = 0; at < encoded.length;) at += Deno.stdout.writeSync(encoded.subarray(at));
}

/** More than any model's context, far less than our memory. */
const MAX_STDIN_BYTES = 64 * 2 ** 20;

interface PipedText {
  text: string;
  /** True if no byte came within `firstByteMs`. */
  silent: boolean;
}

/**
 * Reads `source` to its end. With `firstByteMs`, stops if no byte comes in that time: programs are
 * often started with a pipe as stdin that is never written to or closed.
 * @throws {RangeError} if there are more than 64 MiB
 */
export async function readPiped(
  source: { read(buffer: Uint8Array): Promise<number | null> },
  firstByteMs?: number,
): Promise<PipedText> {
  const buffer = new Uint8Array(65_536);
  const decoder = new TextDecoder();
  let text = "";
  for (let size = 0;;) {
    const reading = source.read(buffer);
    const got = size === 0 && firstByteMs !== undefined
      ? await orSilence(reading, firstByteMs)
      : await reading;
    if (got === "silent") return { text: "", silent: true };
    if (got === null) return { text: text + decoder.decode(), silent: false };
    size += got;
    if (size > MAX_STDIN_BYTES) {
      const most = MAX_STDIN_BYTES / 2 ** 20;
      throw new RangeError(`Cannot read stdin as it must be at most ${most} MiB: pipe less`);
    }
    text += decoder.decode(buffer.subarray(0, got), { stream: true });
  }
}

function orSilence<T>(reading: Promise<T>, ms: number): Promise<T | "silent"> {
  // Not setTimeout: its first use loads 5 ms of code, in nearly every run.
  const silence = aborted(AbortSignal.timeout(ms)).then(() => "silent" as const);
  return Promise.race([reading, silence]);
}
