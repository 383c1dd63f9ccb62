/** The one place that calls `fetch`: status, retries, timeouts. @module */

import { type ConnectionSettings, VERSION } from "../config.ts";
import { BackendError } from "../errors.ts";
import type { RetryNotice } from "../types/event.ts";
import { directClient, failureFromThrown, watchConnection } from "./connect.ts";
import { jsonOrUndefined } from "../text/json.ts";
import { keepSecrets } from "./excerpt.ts";
import { contentType, failureFromResponse, throwErrorObject } from "./failure.ts";
import { parseJson } from "./ndjson.ts";
import { nextRetry } from "./retry.ts";
import { aborted, endingWith, onceAfter, wait } from "./wait.ts";
import { type Limit, Watchdog } from "./watchdog.ts";

interface HttpRequest {
  /** The full address. A user name and password in it are sent as Basic authorization. */
  url: string;
  /** Headers in addition to `content-type` and `user-agent`. */
  headers?: Record<string, string>;
  /** JSON text to send by `POST`. Without it, the request is a `GET`. */
  body?: string;
  /** True if a 404 is expected. Its body is not read, which would take some milliseconds. */
  isOptional?: boolean;
}

interface HttpOptions extends ConnectionSettings {
  /** Ends the request. Its `reason` is thrown. */
  signal?: AbortSignal | undefined;
  /** Returns a promise to await before reading on, while the consumer is busy. */
  ready?: (() => Promise<void> | undefined) | undefined;
  /** True to retry for half a minute if a server that has answered refuses the connection: it may be restarting. */
  awaitsRestart?: boolean | undefined;
  /** Called before each wait for another attempt. */
  onRetry?: ((notice: RetryNotice) => void) | undefined;
  /** The maximum bytes of the answer. Default: 128 MiB. */
  maxBytes?: number;
  random?: () => number;
  /** Replaces the wait between attempts, in milliseconds. Rejects with the signal's reason. */
  wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** Folds a streamed answer. Each attempt has a new one. */
export interface StreamReader<T> {
  /** Reads the next bytes. May throw a `BackendError` (an error object inside a 200 stream). */
  push(chunk: Uint8Array): void;
  /** Grows with each event that contains a part of the answer, but not with pings or empty pieces. */
  readonly progress: number;
  /** True once output reached the user. From then on, nothing is retried. */
  readonly started: boolean;
  /** True after the protocol's terminator. The rest of the body is not awaited. */
  readonly done?: boolean;
  /** True after the reason for the end. The terminator and counts have a moment to arrive. */
  readonly finished?: boolean;
  /** Returns the folded answer. Throws a `BackendError` of kind `incomplete` if the terminator is missing. */
  end(): T;
}

/** The maximum bytes of an answer: about 400 000 tokens, each an event. It ends an endless stream. */
const MAX_ANSWER_BYTES = 128 * 2 ** 20;
/** The time that a complete answer may keep its connection open. */
const DONE_GRACE_MS = 200;
/** The grace period of a finished answer without its terminator, because a token count may follow. */
const FINISHED_GRACE_MS = 2_000;
/** The maximum bytes and time to read an error, or an answer that is not a model's. */
const MAX_ERROR_BYTES = 65_536;
const ERROR_BODY_MS = 1_000;
/** The servers that answered this process. One of them that refuses a connection may be restarting. */
const answered = new Set<string>();

/** Returns the answer to a request as one JSON value. Throws like {@linkcode requestStream}. */
export function requestJson(request: HttpRequest, options: HttpOptions): Promise<unknown> {
  return requestStream(request, options, () => new JsonReader((value) => value));
}

/**
 * Sends a request and feeds the body of its answer to the reader that `open` returns for its content type (lower
 * case, without parameters; empty if missing). Retries attempts that may succeed later, until a reader has
 * `started`.
 *
 * @throws {BackendError} if the server cannot be reached, refuses, or its answer breaks off.
 * @throws the reason of `options.signal`, and anything that `open` or the reader throws.
 */
export async function requestStream<T>(
  original: HttpRequest,
  options: HttpOptions,
  open: (contentType: string) => StreamReader<T>,
): Promise<T> {
  const { signal, onRetry, random = Math.random, wait: pause = wait } = options;
  const request = withoutUserinfo(original);
  const begin = performance.now();
  for (let attempt = 1;; attempt++) {
    signal?.throwIfAborted();
    let reader: StreamReader<T> | undefined;
    try {
      return await attemptOnce(request, options, (type) => reader = open(type));
    } catch (error) {
      if (!(error instanceof BackendError) || reader?.started) throw error;
      const elapsed = performance.now() - begin;
      const awaitsRestart = options.awaitsRestart && answered.has(new URL(request.url).origin);
      const limits = { ...options, awaitsRestart };
      const retry = nextRetry(error, attempt, elapsed, request.url, limits, random);
      if (!retry) throw error;
      const { note = "", ...more } = retry;
      onRetry?.({ attempt, reason: error.message + note, ...more });
      await pause(retry.delayMs, signal);
    }
  }
}

/** Reads an answer that is one JSON value. `end` throws if it is an error object. */
export class JsonReader<T> implements StreamReader<T> {
  readonly progress = 0;
  readonly started = false;
  // By default the decoder drops a byte order mark at the start of every chunk (Deno 2.9.6).
  readonly #utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  #text = "";

  /** `events` returns a reader for events, whose content type is JSON. */
  constructor(
    private readonly fold: (value: unknown) => T,
    private readonly events?: () => StreamReader<T>,
  ) {}

  push(chunk: Uint8Array): void {
    this.#text += this.#utf8.decode(chunk, { stream: true });
  }

  end(): T {
    const text = (this.#text + this.#utf8.decode()).replace(/^\ufeff/, "");
    const events = /^(?:data|event):/.test(text) ? this.events?.() : undefined;
    events?.push(new TextEncoder().encode(text));
    if (events) return events.end();
    const value = parseJson(text, /^\s*([[{]|$)/.test(text));
    throwErrorObject(value);
    return this.fold(value);
  }
}

/** Replaces the key by the user name and password of the address: Deno's `fetch` would send both. */
function withoutUserinfo(request: HttpRequest): HttpRequest {
  const url = new URL(request.url);
  if (url.username === "" && url.password === "") return request;
  const userinfo = `${url.username}:${url.password}`
    .replace(/%([\da-f]{2})/gi, (_, byte) => String.fromCharCode(parseInt(byte, 16)));
  url.username = url.password = "";
  const headers = { ...request.headers, authorization: `Basic ${btoa(userinfo)}` };
  return { ...request, url: url.href, headers };
}

type ByteReader = ReadableStreamDefaultReader<Uint8Array> | undefined;

/** Makes one attempt. It always clears its timers, and closes or returns its connection. */
async function attemptOnce<T>(
  request: HttpRequest,
  options: HttpOptions,
  open: (contentType: string) => StreamReader<T>,
): Promise<T> {
  const { signal, ready } = options;
  const { host, origin } = new URL(request.url);
  using attempt = endingWith(signal);
  let body: ByteReader;
  const cancel = () => void body?.cancel().catch(() => {});
  attempt.signal.addEventListener("abort", cancel);
  let status: number | undefined;
  const expire = (limit: Expiry) => attempt.abort(timeout(limit, host, options, status));
  const watch = new Watchdog(options, (limit) => limit === "done" ? cancel() : expire(limit));
  const connected = options.fetch === undefined
    ? watchConnection(request.url, options.connectTimeoutMs, () => expire("connect"))
    : undefined;
  try {
    const response = await send(request, options, attempt.signal);
    connected?.();
    answered.add(origin);
    ({ status } = response);
    body = response.body?.getReader();
    if (status === 404 && request.isOptional) {
      throw new BackendError(`${host} has nothing there`, { kind: "request", status });
    }
    const { maxBytes = MAX_ANSWER_BYTES } = options;
    const feed = { watch, signal: attempt.signal, ready, maxBytes };
    return await readAnswer(response, body, request.url, open, feed);
  } catch (error) {
    // A body that was read to its end has closed or returned its connection.
    cancel();
    throw attempt.signal.aborted ? attempt.signal.reason : error;
  } finally {
    watch.stop();
    await connected?.();
  }
}

/** Rejects with the reason of `signal` or with a {@linkcode BackendError}. */
function send(
  { url, headers, body }: HttpRequest,
  options: HttpOptions,
  signal: AbortSignal,
): Promise<Response> {
  const type = body !== undefined && { "content-type": "application/json" };
  const request: OpenRequest = {
    method: body === undefined ? "GET" : "POST",
    headers: { ...type, ...headers, ...options.headers },
    ...(body !== undefined && { body }),
    signal,
  };
  // An injected fetch may ignore the signal.
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    openResponse(url, request, options.fetch).then((response) => {
      if (signal.aborted) response.body?.cancel().catch(() => {});
      resolve(response);
    }, reject);
  });
}

interface Feed extends Pick<HttpOptions, "ready"> {
  watch: Watchdog;
  signal: AbortSignal;
  maxBytes: number;
}

async function readAnswer<T>(
  { status, headers, ok }: Response,
  body: ByteReader,
  url: string,
  open: (contentType: string) => StreamReader<T>,
  feed: Feed,
): Promise<T> {
  const type = contentType(headers);
  const refused = (start: Uint8Array) =>
    failureFromResponse(status, headers, new TextDecoder().decode(start), url);
  if (!ok || body === undefined || type.includes("html")) throw refused(await readHead(body));
  const reader = open(type);
  let head: Uint8Array | undefined;
  try {
    head = await feedReader(body, reader, feed);
    return reader.end();
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    // Other text, such as a proxy's page, looks like a stream without events.
    const isUnknown = reader.progress === 0 && !/json|event-stream/.test(type);
    if (head && error.kind === "incomplete") {
      if (isUnknown) throw refused(head);
      // An error of several lines: bare JSON instead of events.
      if (reader.progress === 0) throwErrorObject(jsonOrUndefined(new TextDecoder().decode(head)));
    }
    const { host } = new URL(url);
    const message = `${error.message} (${status}, ${type || "no content type"}, from ${host})`;
    throw new BackendError(message, { ...error, cause: error.cause, status });
  }
}

/** Feeds the body to the reader until one of them ends. Returns the first bytes. */
async function feedReader(
  body: NonNullable<ByteReader>,
  reader: StreamReader<unknown>,
  { watch, signal, ready, maxBytes }: Feed,
): Promise<Uint8Array> {
  let head = new Uint8Array();
  let total = 0;
  let { progress } = reader;
  let done = false;
  for (;;) {
    const busy = ready?.();
    if (busy) {
      watch.pause(busy);
      await Promise.race([busy, aborted(signal)]);
    }
    // A broken connection looks like a normal end. The terminator shows if the body is complete.
    const chunk = await body.read().then(({ value }) => value, () => undefined);
    signal.throwIfAborted();
    if (chunk === undefined) break;
    watch.bytes();
    if (total === 0) head = chunk.slice(0, 10_000);
    total += chunk.length;
    if (total > maxBytes) {
      const limit = `it is over ${maxBytes / 2 ** 20} MiB`;
      throw new BackendError(`The answer does not end: ${limit}`, { kind: "protocol" });
    }
    if (done) continue;
    reader.push(chunk);
    if (reader.progress !== progress) {
      ({ progress } = reader);
      watch.progress();
      if (reader.finished && !reader.done) watch.done(FINISHED_GRACE_MS);
    }
    if (reader.done) {
      done = true;
      watch.done(DONE_GRACE_MS);
    }
  }
  return head;
}

/** Returns the start of a body that arrives soon: enough for an error message. */
async function readHead(body: ByteReader): Promise<Uint8Array> {
  const bytes = new Uint8Array(MAX_ERROR_BYTES);
  let length = 0;
  const stop = onceAfter(ERROR_BODY_MS, () => void body?.cancel().catch(() => {}));
  try {
    while (length < bytes.length) {
      const chunk = (await body?.read())?.value;
      if (chunk === undefined) break;
      const part = chunk.subarray(0, bytes.length - length);
      bytes.set(part, length);
      length += part.length;
    }
  } catch {
    // The body broke off. It is an error anyway, so its start is enough.
  } finally {
    stop();
  }
  return bytes.subarray(0, length);
}

type Expiry = Exclude<Limit, "done"> | "connect";

function timeout(
  limit: Expiry,
  host: string,
  { connectTimeoutMs, firstTokenTimeoutMs, idleTimeoutMs }: ConnectionSettings,
  status: number | undefined,
): BackendError {
  const first = limitText(firstTokenTimeoutMs);
  const message = {
    connect: `Cannot reach ${host}: no connection within ${
      limitText(connectTimeoutMs)
    } (--connect-timeout)`,
    idle: `${host} sent nothing for ${limitText(idleTimeoutMs)} (--idle-timeout)`,
    "first token": `${host} sent no answer within ${first} (--first-token-timeout)`,
    progress: `${host} sent only keep-alive signals for ${first}`,
  }[limit];
  return new BackendError(message, { kind: "timeout", status, retryable: true });
}

/** Formats a limit in milliseconds: `600 ms`, `90 s`, `2.5 min`. */
export function limitText(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  return ms < 120_000 ? `${ms / 1_000} s` : `${+(ms / 60_000).toFixed(1)} min`;
}

/** A request whose caller reads the answer itself, with any status. */
interface OpenRequest {
  method: "GET" | "POST" | "DELETE";
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal | undefined;
}

/**
 * Sends one request and returns its response when it starts. Its body must be read or cancelled. A redirect is
 * returned, not followed.
 *
 * @param given replaces the built-in `fetch`
 * @throws {BackendError} if the server cannot be reached; the reason of `signal`.
 */
export async function openResponse(
  url: string,
  { signal, body, headers, method }: OpenRequest,
  given?: typeof fetch,
): Promise<Response> {
  keepSecrets(headers);
  const client = given ? undefined : directClient(url);
  try {
    return await (given ?? fetch)(url, {
      method,
      headers: { "user-agent": `copilot/${VERSION}`, ...headers },
      // Following a redirect would send it the key and the prompt (SEC-03).
      redirect: "manual",
      ...signal && { signal },
      ...(body !== undefined && { body }),
      ...(client && { client }),
    });
  } catch (error) {
    throw signal?.aborted ? signal.reason : failureFromThrown(error, url);
  }
}

/** Returns the text of a body. It is cut after `max` bytes. */
export async function bodyText(response: Response, max: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    total += chunk.length;
    if (total > max) break;
  }
  return new TextDecoder().decode(await new Blob(chunks as BlobPart[]).bytes());
}
