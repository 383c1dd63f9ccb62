/** Stores the start and the end of a process's output, in little memory. @module */

import { utf8Text } from "../../text/utf8.ts";
import { count } from "../../text/count.ts";
import { stripEscapes } from "../../text/sanitize.ts";

/** The maximum number of bytes stored of either end. */
const MAX_CAPTURED_BYTES = 4 * 1024 * 1024;

/** Reads streams to their ends, and stores the first and last `maxBytes / 2` bytes in order. */
export class OutputCapture {
  /** Resolves when the streams have ended or were cancelled. Never rejects. */
  readonly done: Promise<void>;
  readonly #readers: ReadableStreamBYOBReader[];
  readonly #size: number;
  /** The first bytes since the last `take`. */
  readonly #head: Uint8Array;
  #headLength = 0;
  /** The last bytes of all. */
  readonly #ring: Uint8Array;
  #ringLength = 0;
  #ringEnd = 0;
  /** The number of bytes since the last `take`. */
  total = 0;
  #news = Promise.withResolvers<void>();

  constructor(streams: readonly ReadableStream<Uint8Array<ArrayBuffer>>[], maxBytes: number) {
    this.#size = Math.min(Math.ceil(maxBytes / 2), MAX_CAPTURED_BYTES);
    this.#head = new Uint8Array(this.#size);
    this.#ring = new Uint8Array(this.#size);
    this.#readers = streams.map((stream) => stream.getReader({ mode: "byob" }));
    this.done = Promise.all(this.#readers.map((reader) => this.#read(reader))).then(() => {});
  }

  /** Returns the output since the last `take` in at most `maxBytes` bytes, with a notice of any gap. */
  text(maxBytes: number): string {
    const head = this.#head.subarray(0, this.#headLength);
    const rest = this.#last(this.total - this.#headLength);
    return boundedText(joinedBytes([head, ...rest]), this.total, maxBytes);
  }

  /** Returns {@linkcode text}, and clears it. */
  take(maxBytes: number): string {
    const taken = this.text(maxBytes);
    this.total = this.#headLength = 0;
    this.#news = Promise.withResolvers();
    return taken;
  }

  /** Resolves when there is something to take. */
  more(): Promise<void> {
    return this.#news.promise;
  }

  /** Returns the end of all output, including what `take` returned, as text of at most `maxBytes` bytes. */
  tail(maxBytes: number): string {
    const bytes = joinedBytes(this.#last(maxBytes));
    let start = 0;
    while (isContinuation(bytes[start])) start++;
    return shownOutput(bytes.subarray(start), this.total);
  }

  async cancel(): Promise<void> {
    await Promise.all(this.#readers.map((reader) => reader.cancel().catch(() => {})));
  }

  async #read(reader: ReadableStreamBYOBReader): Promise<void> {
    // One buffer for all reads: `yes` would create a gigabyte of garbage per second.
    let buffer = new Uint8Array(64 * 1024);
    try {
      for (;;) {
        const { value, done } = await reader.read(buffer);
        if (done) return;
        this.#keep(value);
        buffer = new Uint8Array(value.buffer);
      }
    } catch {
      // The pipe broke. Earlier output stays.
    }
  }

  #keep(chunk: Uint8Array): void {
    this.total += chunk.length;
    const first = chunk.subarray(0, this.#size - this.#headLength);
    this.#head.set(first, this.#headLength);
    this.#headLength += first.length;
    const rest = chunk.subarray(-this.#size);
    const fits = rest.subarray(0, this.#size - this.#ringEnd);
    this.#ring.set(fits, this.#ringEnd);
    this.#ring.set(rest.subarray(fits.length), 0);
    this.#ringEnd = (this.#ringEnd + rest.length) % this.#size;
    this.#ringLength = Math.min(this.#size, this.#ringLength + rest.length);
    this.#news.resolve();
  }

  /** Returns the last `length` bytes, or as many as are stored. */
  #last(length: number): Uint8Array[] {
    const [from, to] = [this.#ringEnd - Math.min(length, this.#ringLength), this.#ringEnd];
    return from < 0
      ? [this.#ring.subarray(this.#size + from), this.#ring.subarray(0, to)]
      : [this.#ring.subarray(from, to)];
  }
}

/** Returns the text of `bytes`, the first and last of `total`, cut only between characters. */
function boundedText(bytes: Uint8Array, total: number, maxBytes: number): string {
  if (total <= maxBytes && total === bytes.length) return shownOutput(bytes, total);
  const half = Math.min(Math.floor(maxBytes / 2), Math.floor(bytes.length / 2));
  let [end, start] = [half, bytes.length - half];
  // A cut between lines reads better, if a line ends near enough.
  const near = Math.min(200, half / 4);
  const newline = bytes.lastIndexOf(10, end - 1) + 1;
  if (newline > end - near) end = newline;
  const next = bytes.indexOf(10, start) + 1;
  if (next > 0 && next < start + near) start = next;
  while (end > 0 && isContinuation(bytes[end])) end--;
  while (isContinuation(bytes[start])) start++;
  const omitted = total - end - (bytes.length - start);
  const notice = `[${omitted} bytes omitted: redirect the output to a file to read all of it]`;
  const [head, tail] = [bytes.subarray(0, end), bytes.subarray(start)];
  const shown = [shownOutput(head, head.length).trimEnd(), shownOutput(tail, tail.length)];
  return `${shown[0]}\n${notice}\n${shown[1]}`;
}

/** Output with a greater share of characters that text does not have is binary. `find -print0` prints fewer. */
const MAX_ODD_SHARE = 0.1;
/** So few of them do not make output binary: a short line may have a letter in another encoding. */
const FEW_ODD = 16;

/** Returns output as text. For binary output, returns its size, because its bytes are useless to a model or a user. */
function shownOutput(bytes: Uint8Array, total: number): string {
  const text = utf8Text(bytes);
  // deno-lint-ignore no-control-regex
  const odd = text.match(/[\0-\x06\x0e-\x1a\x1c-\x1f\ufffd]/g)?.length ?? 0;
  if (odd <= Math.max(FEW_ODD, text.length * MAX_ODD_SHARE)) return cleanOutput(text);
  return `[binary output, ${count(total, "byte")}: redirect it to a file, or look with xxd | head]`;
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

function joinedBytes(parts: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** A line that was overwritten more often is shown only with its first and last states. */
const MAX_STATES = 20;
const SHOWN_STATES = 5;

/**
 * Returns the text that a terminal would show, without colours, escape sequences and control characters. Each state of
 * a line overwritten with carriage returns becomes its own line.
 */
export function cleanOutput(text: string): string {
  return stripEscapes(text)
    .split("\n").map((line) => line.includes("\r") ? states(line) : line).join("\n")
    // A character overstruck with a backspace (manual pages).
    .replace(/[^\n\b][\b]/g, "")
    // deno-lint-ignore no-control-regex
    .replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}

function states(line: string): string {
  const all = line.split("\r").filter((state) => state.trim() !== "");
  const states = all.filter((state, i) => state !== all[i - 1]);
  const left = states.length - 2 * SHOWN_STATES;
  if (states.length > MAX_STATES) {
    const notice = `[... ${left} overwritten states: tr '\\r' '\\n' shows them]`;
    states.splice(SHOWN_STATES, left, notice);
  }
  return states.join("\n");
}
