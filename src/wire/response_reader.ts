/** Reads one HTTP/1.1 answer from bytes in pieces of any size. @module */

/** The maximum bytes of the head of an answer, and of the line before a chunk. */
const MAX_RESPONSE_HEAD = 65_536;
/** The number of bytes to decompress at a time. They become at most some thousand times as many. */
const INFLATE_BYTES = 1024;

/** The status and headers of an answer. */
export interface ResponseHead {
  status: number;
  headers: Headers;
}

/** Thrown if the answer is not HTTP or breaks off. The message completes a sentence about the server. */
export class ResponseError extends Error {
  override readonly name = "ResponseError";
}

type Bytes = Uint8Array<ArrayBuffer>;

export class ResponseReader {
  /** Bytes that were read but not used yet. */
  #rest: Bytes = new Uint8Array();

  /** @param read returns the next bytes; undefined at the end of the connection */
  constructor(private readonly read: () => Promise<Bytes | undefined>) {}

  /** Reads the head, after any provisional answers. @throws {ResponseError} if it is invalid. */
  async head(): Promise<ResponseHead> {
    for (let room = MAX_RESPONSE_HEAD;;) {
      const lines: string[] = [];
      for (let line: string; (line = await this.#line(room)) !== ""; room -= line.length + 1) {
        lines.push(line);
        if (lines.length === 1 && !STATUS_LINE.test(line)) {
          throw new ResponseError("it does not answer in HTTP");
        }
      }
      const status = Number(STATUS_LINE.exec(lines[0] ?? "")?.[1]);
      if (!status || status === 101) throw new ResponseError("it does not answer in HTTP");
      if (status >= 200) return { status, headers: headersOf(lines.slice(1)) };
      room--;
    }
  }

  /** Yields the decompressed body. @throws {ResponseError} if it breaks off or its compression is unknown. */
  async *body({ status, headers }: ResponseHead): AsyncGenerator<Bytes> {
    if (status === 204 || status === 304) return;
    const pieces = this.#framed(headers);
    const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
    if (encoding === "" || encoding === "identity") return yield* pieces;
    const format = ({ gzip: "gzip", "x-gzip": "gzip", deflate: "deflate" } as const)[encoding];
    if (format === undefined) {
      throw new ResponseError("its answer uses a compression that was not requested");
    }
    const stream = ReadableStream.from(inSmallPieces(pieces));
    try {
      yield* stream.pipeThrough(new DecompressionStream(format));
    } catch (error) {
      if (error instanceof ResponseError || !(error instanceof TypeError)) throw error;
      throw new ResponseError("its answer cannot be decompressed");
    }
  }

  async *#framed(headers: Headers): AsyncGenerator<Bytes> {
    if (/chunked/i.test(headers.get("transfer-encoding") ?? "")) return yield* this.#chunks();
    const length = headers.get("content-length");
    if (length !== null && /^\d{1,15}$/.test(length)) return yield* this.#exactly(Number(length));
    while (this.#rest.length > 0 || await this.#more()) yield this.#take(Infinity);
  }

  async *#chunks(): AsyncGenerator<Bytes> {
    for (;;) {
      const line = await this.#line(MAX_RESPONSE_HEAD);
      const size = /^([\da-f]{1,8})\s*(?:;.*)?$/i.exec(line)?.[1];
      if (size === undefined) throw new ResponseError("its answer is broken");
      if (/^0+$/.test(size)) return;
      yield* this.#exactly(parseInt(size, 16));
      await this.#line(MAX_RESPONSE_HEAD);
    }
  }

  async *#exactly(length: number): AsyncGenerator<Bytes> {
    for (let left = length; left > 0;) {
      if (this.#rest.length === 0 && !await this.#more()) throw new ResponseError(BROKE_OFF);
      const piece = this.#take(left);
      left -= piece.length;
      yield piece;
    }
  }

  #take(length: number): Bytes {
    const piece = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }

  /** Reads the next line, without its end, of at most `max` bytes. */
  async #line(maxBytes: number): Promise<string> {
    for (let from = 0;;) {
      const end = this.#rest.indexOf(0x0a, from);
      if ((end < 0 ? this.#rest.length : end) > maxBytes) {
        throw new ResponseError("the head of its answer is too large");
      }
      if (end >= 0) {
        const bytes = this.#take(end + 1);
        return Array.from(bytes.subarray(0, end), asciiOf).join("").replace(/\r$/, "");
      }
      from = this.#rest.length;
      if (!await this.#more()) throw new ResponseError(BROKE_OFF);
    }
  }

  async #more(): Promise<boolean> {
    const bytes = await this.read();
    if (bytes === undefined) return false;
    if (this.#rest.length === 0) this.#rest = bytes;
    else {
      const both = new Uint8Array(this.#rest.length + bytes.length);
      both.set(this.#rest);
      both.set(bytes, this.#rest.length);
      this.#rest = both;
    }
    return true;
  }
}

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: |$)/;
const BROKE_OFF = "its answer broke off";

/** Returns a byte of a head as text, percent-encoded unless ASCII. */
const asciiOf = (byte: number): string =>
  byte < 0x80 ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase()}`;

/** Returns the valid fields. A field that continues on a second line is dropped, because readers disagree about it. */
function headersOf(lines: readonly string[]): Headers {
  const headers = new Headers();
  for (const line of lines) {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[\t ]*(.*?)[\t ]*$/.exec(line) ?? [];
    if (name !== undefined && !/[\0\r]/.test(value!)) headers.append(name, value!);
  }
  return headers;
}

async function* inSmallPieces(pieces: AsyncIterable<Bytes>): AsyncGenerator<Bytes> {
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += INFLATE_BYTES) {
      yield piece.subarray(at, at + INFLATE_BYTES);
    }
  }
}
