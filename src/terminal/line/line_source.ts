/**
 * Bytes and lines from a stream, read one at a time by whoever asks next.
 *
 * @module
 */

/** Reads pieces of a stream. */
export interface ByteSource {
  /**
   * The next piece; null at the end of the stream, or once `signal` is aborted. A piece that arrives
   * after an abort is kept for the next reader.
   */
  next(signal?: AbortSignal): Promise<Uint8Array | null>;
  /** True at the end of the stream. */
  readonly ended: boolean;
}

/** The pieces that `read` gives; it is called only when somebody waits for one. */
export function byteSource(
  { read }: { read(buffer: Uint8Array): Promise<number | null> },
): ByteSource {
  const buffer = new Uint8Array(65_536);
  const pieces: Uint8Array[] = [];
  let ended = false;
  let reading: Promise<void> | undefined;
  async function readPiece(): Promise<void> {
    try {
      const length = await read(buffer);
      if (length === null) ended = true;
      else pieces.push(buffer.slice(0, length));
    } catch {
      ended = true; // a terminal that is gone (EIO)
    }
    reading = undefined;
  }
  return {
    async next(signal) {
      let onAbort = () => {};
      const aborted = signal && new Promise<void>((resolve) => onAbort = resolve);
      signal?.addEventListener("abort", onAbort);
      try {
        while (pieces.length === 0 && !ended && !signal?.aborted) {
          reading ??= readPiece();
          await (aborted ? Promise.race([reading, aborted]) : reading);
        }
      } finally {
        signal?.removeEventListener("abort", onAbort);
      }
      return signal?.aborted ? null : pieces.shift() ?? null;
    },
    get ended() {
      return ended;
    },
  };
}

/** Reads lines without their line ends. */
export interface LineSource {
  /**
   * The next line; null at the end of the stream, or once `signal` is aborted. A line that arrives
   * after an abort is kept for the next reader.
   */
  next(signal?: AbortSignal): Promise<string | null>;
}

/** The lines of `source`, decoded as UTF-8; an unfinished last line counts. */
export function lineSource(source: ByteSource): LineSource {
  const decoder = new TextDecoder();
  const lines: string[] = [];
  let pieces: string[] = [];
  return {
    async next(signal) {
      while (lines.length === 0) {
        const bytes = await source.next(signal);
        if (bytes === null && (signal?.aborted || !source.ended)) return null;
        const parts = (bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode()).split(
          "\n",
        );
        pieces.push(parts[0]!);
        for (const part of parts.slice(1)) {
          lines.push(pieces.join("").replace(/\r$/, ""));
          pieces = [part];
        }
        if (bytes !== null) continue;
        const last = pieces.join("");
        pieces = [];
        if (last !== "") lines.push(last);
        break;
      }
      return lines.shift() ?? null;
    },
  };
}
