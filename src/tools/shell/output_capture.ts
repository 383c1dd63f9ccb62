/**
 * Keeps the beginning and the end of what a process prints, in little memory however much it is.
 *
 * @module
 */

import { stripEscapes } from "../../text/sanitize.ts";

/** The output of a process so far. */
export interface OutputCapture {
  /** Resolves when the stream has ended or was cancelled; never rejects. */
  done: Promise<void>;
  /** How many bytes came, since the last `take`. */
  total(): number;
  /** What came since then, as text of at most `maxBytes` bytes and a notice of what was left out. */
  text(maxBytes: number): string;
  /** The same, which is then taken. */
  take(maxBytes: number): string;
  /** Resolves when there is something to take. */
  more(): Promise<void>;
  /** The end of all that came, taken or not, as text of at most `maxBytes` bytes. */
  tail(maxBytes: number): string;
  /** Stops reading. */
  cancel(): Promise<void>;
}

/** The most that is kept of either end, whatever the caller has room for. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

/**
 * Starts to read `streams` to their ends, keeping the first and the last `maxBytes / 2` bytes of what
 * comes, in the order in which it does.
 */
export function captureOutput(
  streams: readonly ReadableStream<Uint8Array<ArrayBuffer>>[],
  maxBytes: number,
): OutputCapture {
  const size = Math.min(Math.ceil(maxBytes / 2), MAX_KEPT_BYTES);
  /** The first bytes since the last `take`, and the last of all. */
  const head = new Uint8Array(size);
  const ring = new Uint8Array(size);
  let total = 0;
  let [headLength, ringLength, ringEnd] = [0, 0, 0];
  let news = Promise.withResolvers<void>();

  function keep(chunk: Uint8Array): void {
    total += chunk.length;
    const first = chunk.subarray(0, size - headLength);
    head.set(first, headLength);
    headLength += first.length;
    const rest = chunk.subarray(-size);
    const fits = rest.subarray(0, size - ringEnd);
    ring.set(fits, ringEnd);
    ring.set(rest.subarray(fits.length), 0);
    ringEnd = (ringEnd + rest.length) % size;
    ringLength = Math.min(size, ringLength + rest.length);
    news.resolve();
  }
  /** The last `length` bytes, as far as they are kept. */
  function last(length: number): Uint8Array[] {
    const [from, to] = [ringEnd - Math.min(length, ringLength), ringEnd];
    return from < 0
      ? [ring.subarray(size + from), ring.subarray(0, to)]
      : [ring.subarray(from, to)];
  }
  const text = (max: number): string =>
    boundedText(
      joined([head.subarray(0, headLength), ...last(total - headLength)]),
      total,
      max,
    );

  // One buffer for all reads: `yes` would fill a gigabyte of garbage a second.
  const readers = streams.map((stream) => stream.getReader({ mode: "byob" }));
  async function read(reader: ReadableStreamBYOBReader): Promise<void> {
    let buffer = new Uint8Array(64 * 1024);
    try {
      for (;;) {
        const { value, done } = await reader.read(buffer);
        if (done) return;
        keep(value);
        buffer = new Uint8Array(value.buffer);
      }
    } catch {
      // The pipe broke: what came before it stands.
    }
  }
  return {
    done: Promise.all(readers.map(read)).then(() => {}),
    total: () => total,
    text,
    take(max) {
      const taken = text(max);
      total = headLength = 0;
      news = Promise.withResolvers();
      return taken;
    },
    more: () => news.promise,
    tail(max) {
      const bytes = joined(last(max));
      let start = 0;
      while (isContinuation(bytes[start])) start++;
      return cleanOutput(decode(bytes.subarray(start)));
    },
    cancel: () =>
      Promise.all(readers.map((reader) => reader.cancel().catch(() => {}))).then(() => {}),
  };
}

/** `bytes` are the first and last of `total`; cuts only between characters. */
function boundedText(bytes: Uint8Array, total: number, maxBytes: number): string {
  if (total <= maxBytes && total === bytes.length) return cleanOutput(decode(bytes));
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
  return `${cleanOutput(decode(head)).trimEnd()}\n${notice}\n${cleanOutput(decode(tail))}`;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function joined(parts: Uint8Array[]): Uint8Array {
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
 * What a terminal would show, without colours: escape sequences and control characters are removed,
 * and each state of a line that was written over with carriage returns becomes a line of its own.
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
  if (states.length > MAX_STATES) {
    const left = states.length - 2 * SHOWN_STATES;
    states.splice(
      SHOWN_STATES,
      left,
      `[... ${left} overwritten states: tr '\\r' '\\n' shows them]`,
    );
  }
  return states.join("\n");
}
