/**
 * Bytes and lines from a stream, read one at a time by whoever asks next.
 *
 * @module
 */

/** Reads pieces of a stream; `read` is called only while somebody waits for a piece. */
export class ByteSource {
  readonly #stream: { read(buffer: Uint8Array): Promise<number | null> };
  readonly #buffer = new Uint8Array(65_536);
  readonly #pieces: Uint8Array[] = [];
  #reading: Promise<void> | undefined;
  #ended = false;

  constructor(stream: { read(buffer: Uint8Array): Promise<number | null> }) {
    this.#stream = stream;
  }

  /** True at the end of the stream. */
  get ended(): boolean {
    return this.#ended;
  }

  /**
   * The next piece; null at the end of the stream, or once `signal` is aborted. A piece that arrives
   * after an abort is kept for the next reader.
   */
  async next(signal?: AbortSignal): Promise<Uint8Array | null> {
    let onAbort = () => {};
    const aborted = signal && new Promise<void>((resolve) => onAbort = resolve);
    signal?.addEventListener("abort", onAbort);
    try {
      while (this.#pieces.length === 0 && !this.#ended && !signal?.aborted) {
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
      const length = await this.#stream.read(this.#buffer);
      if (length === null) this.#ended = true;
      else this.#pieces.push(this.#buffer.slice(0, length));
    } catch {
      this.#ended = true; // a terminal that is gone (EIO)
    }
    this.#reading = undefined;
  }
}

/** Reads lines without their line ends, decoded as UTF-8; an unfinished last line counts. */
export class LineSource {
  readonly #source: ByteSource;
  readonly #decoder = new TextDecoder();
  readonly #lines: string[] = [];
  /** The pieces of the line that has not ended yet. */
  #open: string[] = [];

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /**
   * The next line; null at the end of the stream, or once `signal` is aborted. A line that arrives
   * after an abort is kept for the next reader.
   */
  async next(signal?: AbortSignal): Promise<string | null> {
    while (this.#lines.length === 0) {
      const bytes = await this.#source.next(signal);
      if (bytes !== null) this.#add(this.#decoder.decode(bytes, { stream: true }));
      else if (signal?.aborted || !this.#source.ended) return null;
      else {
        this.#add(this.#decoder.decode());
        const last = this.#open.join("");
        this.#open = [];
        return last === "" ? null : last;
      }
    }
    return this.#lines.shift() ?? null;
  }

  #add(text: string): void {
    const [first = "", ...others] = text.split("\n");
    this.#open.push(first);
    for (const other of others) {
      this.#lines.push(this.#open.join("").replace(/\r$/, ""));
      this.#open = [other];
    }
  }
}
