/**
 * Lines from a byte stream, read one at a time by whoever asks next.
 *
 * @module
 */

/** Reads lines without their line ends. */
export interface LineSource {
  /**
   * The next line; null at the end of the stream, or once `signal` is aborted. A line that arrives
   * after an abort is kept for the next reader.
   */
  next(signal?: AbortSignal): Promise<string | null>;
}

/** The lines of `stream`, decoded as UTF-8; an unfinished last line counts. */
export function lineSource(stream: ReadableStream<Uint8Array>): LineSource {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  const lines: string[] = [];
  let pieces: string[] = [];
  let ended = false;
  let reading: Promise<void> | undefined;
  async function read(): Promise<void> {
    const { value, done } = await reader.read();
    reading = undefined;
    if (done) {
      ended = true;
      if (pieces.length > 0) lines.push(pieces.join(""));
      pieces = [];
      return;
    }
    const parts = value.split("\n");
    pieces.push(parts[0]!);
    for (const part of parts.slice(1)) {
      lines.push(pieces.join("").replace(/\r$/, ""));
      pieces = part === "" ? [] : [part];
    }
  }
  return {
    async next(signal) {
      const aborted = signal && new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      while (lines.length === 0 && !ended && !signal?.aborted) {
        reading ??= read();
        await (aborted ? Promise.race([reading, aborted]) : reading);
      }
      return signal?.aborted ? null : lines.shift() ?? null;
    },
  };
}
