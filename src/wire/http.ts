/**
 * The one place that calls `fetch`: status, retries, timeouts.
 *
 * @module
 */

import type { ConnectionSettings } from "../config.ts";
import type { RetryNotice } from "../types.ts";
import type { Hints } from "./failure.ts";

/** A request to a model server. */
export interface HttpRequest {
  /** `POST` where there is a body, else `GET`. */
  method?: "GET" | "POST";
  /** The whole address. */
  url: string;
  /** Sent besides `content-type` and `user-agent`. */
  headers?: Record<string, string>;
  /** JSON text. */
  body?: string;
}

/** Limits and callbacks of a request. */
export interface HttpOptions extends ConnectionSettings {
  /** Ends the request at once; its `reason` is what is thrown. */
  signal?: AbortSignal | undefined;
  /** Called before each wait for another attempt. */
  onRetry?: ((notice: RetryNotice) => void) | undefined;
  /** What to do about each kind of failure; appended to the error's line. */
  hints?: Hints | undefined;
  /** Replaces `Math.random`. */
  random?: () => number;
  /** Replaces the wait between attempts, in milliseconds; rejects with the signal's reason. */
  wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** Folds a streamed answer. A fresh one is made for each attempt. */
export interface StreamReader<T> {
  /** Takes the next bytes. May throw a `BackendError` (an error object inside a 200 stream). */
  push(chunk: Uint8Array): void;
  /** Grows with each event that carries something; not with pings and comments. */
  readonly progress: number;
  /** True once output reached the user: from then on nothing is retried. */
  readonly started: boolean;
  /** True once the protocol's own terminator came (`[DONE]`, `message_stop`, `"done":true`): the
   * rest of the body is not waited for. Without it, the answer lasts until the body ends. */
  readonly done?: boolean;
  /** The folded answer; throws a `BackendError` of kind `incomplete` when the terminator is missing. */
  end(): T;
}

/**
 * Sends a request and reads its answer as one JSON value. An error object in a 200 answer is thrown.
 *
 * @throws {BackendError} when the server can not be reached, refuses, or answers no JSON.
 * @throws whatever `options.signal` was aborted with.
 */
export function requestJson(request: HttpRequest, options: HttpOptions): Promise<unknown> {
  return requestStream(request, options, () => jsonReader((value) => value));
}

/**
 * Sends a request and feeds the body of its answer to the reader that `open` makes for the answer's
 * content type (lower case, without parameters; empty where the server names none).
 *
 * @throws {BackendError} when the server can not be reached, refuses, or its answer breaks off.
 * @throws whatever `options.signal` was aborted with, or `open` or the reader throws.
 */
export function requestStream<T>(
  _request: HttpRequest,
  _options: HttpOptions,
  _open: (contentType: string) => StreamReader<T>,
): Promise<T> {
  throw new Error("not yet");
}

/**
 * A reader for a whole JSON value, such as a server sends that was asked to stream but does not.
 * An error object in it is thrown.
 */
export function jsonReader<T>(_fold: (value: unknown) => T): StreamReader<T> {
  throw new Error("not yet");
}
