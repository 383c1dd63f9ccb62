/**
 * Sends one GET to a checked address. `fetch` looks up a name again, and an attacker can make that answer differ
 * from the checked one (DNS rebinding). Its client accepts a fixed address only with the option `proxy`, which
 * does not support TLS and which NO_PROXY disables. So this module connects to the address, and names the host in
 * TLS and HTTP. Proxies of the environment are not used for the same reason: they look up the name without the
 * check.
 *
 * @module
 */

import { attempt } from "../attempt.ts";
import { VERSION } from "../config.ts";
import { bareHost } from "./address.ts";
import { failureFromThrown } from "./connect.ts";

/** The maximum number of addresses to try, and the maximum time for each in milliseconds. */
const MAX_ADDRESSES = 3;
const CONNECT_MS = 5_000;

export type Connect = (address: string, port: number, signal: AbortSignal) => Promise<Deno.TcpConn>;

export const connectTcp: Connect = (hostname, port, signal) =>
  Deno.connect({ hostname, port, signal });

interface PinnedOptions {
  addresses: readonly string[];
  accept: string;
  /** The maximum bytes of the body. The rest is dropped. */
  maxBytes: number;
  /** Ends the request. Its reason is thrown. */
  signal: AbortSignal;
  /** Aborted at the time limit. The part of the body that arrived by then is the answer. */
  late: AbortSignal;
  connect: Connect;
  /** Trusted certificates in addition to those of the system, in PEM. */
  caCerts?: string[];
}

export interface PinnedResponse extends ResponseHead {
  body: Uint8Array<ArrayBuffer>;
  /** The reason that the rest of the body is missing, if it is. */
  cut?: "size" | "time" | "broken";
}

/** Sends it. @throws {Error} if the server cannot be reached or does not answer; the reason of `signal`. */
export async function getPinned(url: URL, options: PinnedOptions): Promise<PinnedResponse> {
  const { signal, late, accept } = options;
  const over = AbortSignal.any([signal, late]);
  let conn: Deno.Conn | undefined;
  const close = () => attempt(() => conn?.close());
  try {
    conn = await connected(url, over, options);
    over.addEventListener("abort", close);
    over.throwIfAborted();
    await sendText(conn, requestHead(url, accept));
    const reader = new ResponseReader(() => readSome(conn!));
    const head = await reader.head();
    const body = head.status >= 200 && head.status < 300 ? reader.body(head) : [];
    return { ...head, ...await collected(body, options) };
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) throw new Error(`${url.host} did not answer in time`);
    throw failureFromThrown(error, url.href, false);
  } finally {
    over.removeEventListener("abort", close);
    close();
  }
}

/** Connects to the first address that accepts, with TLS if the page's address requires it. */
async function connected(
  { protocol, hostname, port }: URL,
  over: AbortSignal,
  { addresses, connect, caCerts = [] }: PinnedOptions,
): Promise<Deno.Conn> {
  const isSecure = protocol === "https:";
  let failure: unknown;
  for (const address of addresses.slice(0, MAX_ADDRESSES)) {
    over.throwIfAborted();
    const limit = AbortSignal.timeout(CONNECT_MS);
    try {
      const tcp = await connect(
        address,
        Number(port) || (isSecure ? 443 : 80),
        AbortSignal.any([over, limit]),
      );
      if (!isSecure) return tcp;
      return await secured(tcp, bareHost(hostname), caCerts, over);
    } catch (error) {
      failure = limit.aborted ? new Error(`no connection within ${CONNECT_MS / 1000} s`) : error;
    }
  }
  throw failure;
}

async function secured(
  tcp: Deno.TcpConn,
  hostname: string,
  caCerts: string[],
  over: AbortSignal,
): Promise<Deno.Conn> {
  const tls = await Deno.startTls(tcp, { hostname, caCerts, alpnProtocols: ["http/1.1"] });
  const close = () => attempt(() => tls.close());
  over.addEventListener("abort", close);
  try {
    await tls.handshake();
    return tls;
  } catch (error) {
    close();
    throw error;
  } finally {
    over.removeEventListener("abort", close);
  }
}

/** Returns the request, without data about the user. */
function requestHead({ host, pathname, search }: URL, accept: string): string {
  const fields = {
    host,
    "user-agent": `copilot/${VERSION}`,
    accept,
    "accept-encoding": "gzip",
    connection: "close",
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return `GET ${pathname}${search} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
}

async function sendText(conn: Deno.Conn, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
}

async function readSome(conn: Deno.Conn): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const buffer = new Uint8Array(65_536);
  try {
    const length = await conn.read(buffer);
    // Copied, because a server may send one byte at a time.
    return length === null ? undefined : buffer.slice(0, length);
  } catch (error) {
    // Many servers end a TLS connection without closing it properly.
    if (error instanceof Deno.errors.UnexpectedEof) return undefined;
    throw error;
  }
}

async function collected(
  body: AsyncIterable<Uint8Array<ArrayBuffer>> | Iterable<never>,
  { maxBytes, signal, late }: PinnedOptions,
): Promise<Pick<PinnedResponse, "body" | "cut">> {
  // One growing buffer, because a server may send millions of pieces of one byte.
  let buffer = new Uint8Array(65_536);
  let length = 0;
  let cut: PinnedResponse["cut"];
  try {
    for await (const piece of body) {
      const part = piece.subarray(0, maxBytes - length);
      if (length + part.length > buffer.length) {
        const larger = new Uint8Array(2 * (length + part.length));
        larger.set(buffer.subarray(0, length));
        buffer = larger;
      }
      buffer.set(part, length);
      length += part.length;
      if (part.length === piece.length) continue;
      cut = "size";
      break;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (length === 0 && !late.aborted) throw error;
    cut = late.aborted ? "time" : "broken";
  }
  return { body: buffer.subarray(0, length), ...cut && { cut } };
}

/** The maximum bytes of the head of an answer, and of the line before a chunk. */
const MAX_RESPONSE_HEAD = 65_536;
/** The number of bytes to decompress at a time. They become at most some thousand times as many. */
const INFLATE_BYTES = 1024;

interface ResponseHead {
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
