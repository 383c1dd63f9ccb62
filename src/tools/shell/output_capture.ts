/** Keeps the beginning and the end of what a process prints, in little memory. @module */

import { utf8Text } from "../../text/utf8.ts";
import { count } from "../../text/count.ts";
import { stripEscapes } from "../../text/sanitize.ts";

/** The most bytes that are kept of either end, whatever the caller has room for. */
const MAX_CAPTURED_BYTES = 4 * 1024 * 1024;

/** Reads streams to their ends; keeps the first and last `maxBytes / 2` bytes, in their order. */
export class OutputCapture {
  /** Resolves when the streams have ended or were cancelled; never rejects. */
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
  #total = 0;
  #news = Promise.withResolvers<void>();

  constructor(streams: readonly ReadableStream<Uint8Array<ArrayBuffer>>[], maxBytes: number) {
    this.#size = Math.min(Math.ceil(maxBytes / 2), MAX_CAPTURED_BYTES);
    this.#head = new Uint8Array(this.#size);
    this.#ring = new Uint8Array(this.#size);
    this.#readers = streams.map((stream) => stream.getReader({ mode: "byob" }));
    this.done = Promise.all(this.#readers.map((reader) => this.#read(reader))).then(() => {});
  }

  /** The number of bytes since the last `take`. */
  get total(): number {
    return this.#total;
  }

  /** The output since the last `take` within `maxBytes` bytes, a notice of a gap among them. */
  text(maxBytes: number): string {
    const head = this.#head.subarray(0, this.#headLength);
    const rest = this.#last(this.#total - this.#headLength);
    return boundedText(joinedBytes([head, ...rest]), this.#total, maxBytes);
  }

  /** Returns {@linkcode text}, and begins it anew. */
  take(maxBytes: number): string {
    const taken = this.text(maxBytes);
    this.#total = this.#headLength = 0;
    this.#news = Promise.withResolvers();
    return taken;
  }

  /** Resolves when there is something to take. */
  more(): Promise<void> {
    return this.#news.promise;
  }

  /** The end of all output, taken or not, as text of at most `maxBytes` bytes. */
  tail(maxBytes: number): string {
    const bytes = joinedBytes(this.#last(maxBytes));
    let start = 0;
    while (isContinuation(bytes[start])) start++;
    return shownOutput(bytes.subarray(start), this.#total);
  }

  async cancel(): Promise<void> {
    await Promise.all(this.#readers.map((reader) => reader.cancel().catch(() => {})));
  }

  async #read(reader: ReadableStreamBYOBReader): Promise<void> {
    // One buffer for all reads: `yes` would fill a gigabyte of garbage a second.
    let buffer = new Uint8Array(64 * 1024);
    try {
      for (;;) {
        const { value, done } = await reader.read(buffer);
        if (done) return;
        this.#keep(value);
        buffer = new Uint8Array(value.buffer);
      }
    } catch {
      // The pipe broke: what came before it stands.
    }
  }

  #keep(chunk: Uint8Array): void {
    this.#total += chunk.length;
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

  /** The last `length` bytes, as far as they are kept. */
  #last(length: number): Uint8Array[] {
    const [from, to] = [this.#ringEnd - Math.min(length, this.#ringLength), this.#ringEnd];
    return from < 0
      ? [this.#ring.subarray(this.#size + from), this.#ring.subarray(0, to)]
      : [this.#ring.subarray(from, to)];
  }
}

/** Text of `bytes`, the first and last of `total`; cut only between characters. */
function boundedText(bytes: Uint8Array, total: number, maxBytes: number): string {
  if (total <= maxBytes && total === bytes.length) return shownOutput(bytes, total);
  const half = Math.min(Math.floor(maxBytes / 2), Math.floor(bytes.length / 2));
  let [end, start] = [half, bytes.length - half];
  // A cut between lines reads better, where a line ends near enough.
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

/** More of this share of characters that no text has makes output binary; `find -print0` prints fewer. */
const MAX_ODD_SHARE = 0.1;
/** So few of them make no output binary: a short line may have a letter in another encoding. */
const FEW_ODD = 16;

/** Output as text; of binary output its size, as its bytes say nothing to a model or a person. */
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

/** A line that was written over more often is shown with its first and last states alone. */
const MAX_STATES = 20;
const SHOWN_STATES = 5;

/**
 * The text that a terminal would show, without colours, escape sequences and control characters;
 * each state of a line that was written over with carriage returns becomes a line of its own.
 */
export function cleanOutput(text: string): string {
  return stripEscapes(text)
    .split("\n").map((line) => line.includes("\r") ? states(line) : line).join("\n")
    // A character struck over with a backspace (manual pages).
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
