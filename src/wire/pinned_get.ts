/**
 * Sends one GET to a checked address. `fetch` looks up a name again, and an attacker can make that answer differ
 * from the checked one (DNS rebinding). Its client has no fixed address for TLS, so this is Node's, which connects
 * to an address and names the host in TLS and HTTP. Proxies of the environment are not used for the same reason:
 * they look up the name without the check.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import { VERSION } from "../config.ts";
import { bareHost } from "./address.ts";
import { failureFromThrown } from "./connect.ts";

/** The maximum number of addresses to try, and the maximum time to connect to each in milliseconds. */
const MAX_ADDRESSES = 3;
const CONNECT_MS = 5_000;
/** The maximum bytes of the head of an answer. */
const MAX_RESPONSE_HEAD = 65_536;
/** The number of bytes to decompress at a time. They become at most some thousand times as many. */
const INFLATE_BYTES = 1024;

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns the place to connect to for an address; tests have another one. */
export type PlaceOf = (address: string, port: number) => { hostname: string; port: number };

interface PinnedOptions {
  addresses: readonly string[];
  accept: string;
  /** The maximum bytes of the body. The rest is dropped. */
  maxBytes: number;
  /** Ends the request. Its reason is thrown. */
  signal: AbortSignal;
  /** Aborted at the time limit. The part of the body that arrived by then is the answer. */
  late: AbortSignal;
  placeOf?: PlaceOf | undefined;
  /** Trusted certificates in place of those of the system, in PEM. */
  caCerts?: string[];
}

export interface PinnedResponse {
  status: number;
  headers: Headers;
  body: Bytes;
  /** The reason that the rest of the body is missing, if it is. */
  cut?: "size" | "time" | "broken";
}

/** Sends it. @throws {Error} if the server cannot be reached or does not answer; the reason of `signal`. */
export async function getPinned(url: URL, options: PinnedOptions): Promise<PinnedResponse> {
  const { addresses, signal, late } = options;
  const over = AbortSignal.any([signal, late]);
  let failure: unknown;
  for (const address of addresses.slice(0, MAX_ADDRESSES)) {
    try {
      over.throwIfAborted();
      const message = await answerFrom(address, url, over, options);
      const status = message.statusCode!;
      const headers = headersOf(message.rawHeaders);
      const isPage = status >= 200 && status < 300;
      const body = isPage ? decompressed(message, headers.get("content-encoding")) : [];
      return {
        status,
        headers,
        ...await collected(body, options).finally(() => message.destroy()),
      };
    } catch (error) {
      signal.throwIfAborted();
      if (late.aborted) throw new Error(`${url.host} did not answer in time`);
      failure = error;
    }
  }
  throw failureFromThrown(failure, url.href, false);
}

/** Returns the answer of the server at `address` when it starts. The request has no data about the user. */
async function answerFrom(
  address: string,
  { protocol, hostname: host, port, host: named, pathname, search }: URL,
  signal: AbortSignal,
  { accept, caCerts, placeOf = (hostname, port) => ({ hostname, port }) }: PinnedOptions,
): Promise<IncomingMessage> {
  const isSecure = protocol === "https:";
  const { get } = isSecure ? await import("node:https") : await import("node:http");
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = get({
    ...placeOf(address, Number(port) || (isSecure ? 443 : 80)),
    path: pathname + search,
    headers: {
      host: named,
      "user-agent": `copilot/${VERSION}`,
      accept,
      "accept-encoding": "gzip",
    },
    agent: false,
    maxHeaderSize: MAX_RESPONSE_HEAD,
    rejectUnauthorized: true,
    ...bareHost(host) !== address && { servername: host },
    ...caCerts && { ca: caCerts },
    timeout: CONNECT_MS,
    signal,
  }, resolve);
  request.on("error", reject);
  request.on("timeout", () => {
    if (!request.socket?.connecting) return;
    request.destroy(new Error(`no connection within ${CONNECT_MS / 1000} s`));
  });
  return await promise;
}

/** Returns the fields of a list of names and values. Bytes that are not ASCII are percent-encoded. */
function headersOf(list: readonly string[]): Headers {
  const headers = new Headers();
  for (let i = 0; i < list.length; i += 2) {
    const value = list[i + 1]!.replace(
      /[^ -~]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
    );
    headers.append(list[i]!, value);
  }
  return headers;
}

async function* decompressed(
  body: AsyncIterable<Bytes>,
  given: string | null,
): AsyncGenerator<Bytes> {
  const encoding = given?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return yield* body;
  const format = ({ gzip: "gzip", "x-gzip": "gzip", deflate: "deflate" } as const)[encoding];
  if (format === undefined) throw new Error("its answer uses a compression that was not requested");
  yield* ReadableStream.from(inSmallPieces(body)).pipeThrough(new DecompressionStream(format));
}

async function* inSmallPieces(pieces: AsyncIterable<Bytes>): AsyncGenerator<Bytes> {
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += INFLATE_BYTES) {
      yield piece.slice(at, at + INFLATE_BYTES);
    }
  }
}

async function collected(
  body: AsyncIterable<Bytes> | Iterable<never>,
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
