/**
 * For the tests of HTTP: a reader reduced to the data of events, options that do not wait, and more.
 *
 * @module
 */

import { BackendError } from "../../src/errors.ts";
import { failureFromErrorObject } from "../../src/wire/failure.ts";
import { type requestJson, requestStream, type StreamReader } from "../../src/wire/http.ts";
import { SseDecoder } from "../../src/wire/sse.ts";

type HttpOptions = Parameters<typeof requestJson>[1];

/** Collects the data of each event until `[DONE]`. `onText` makes it `started`. */
export function textReader(onText?: (text: string) => void): StreamReader<string[]> {
  const texts: string[] = [];
  let done = false;
  const decoder = new SseDecoder(({ data }) => {
    if (data === "[DONE]") done = true;
    if (done) return;
    const failure = data.startsWith("{") ? failureFromErrorObject(JSON.parse(data)) : undefined;
    if (failure) throw failure;
    texts.push(data);
    onText?.(data);
  });
  return {
    push: (chunk) => decoder.push(chunk),
    get progress() {
      return texts.length;
    },
    get started() {
      return onText !== undefined && texts.length > 0;
    },
    get done() {
      return done;
    },
    end() {
      decoder.end();
      if (!done) {
        throw new BackendError("The answer broke off", { kind: "incomplete", retryable: true });
      }
      return texts;
    },
  };
}

/** Options with nothing to wait for; `delays` and `reasons` collect what would have been waited. */
export function options(
  settings: Partial<HttpOptions> = {},
): HttpOptions & { delays: number[]; reasons: string[] } {
  const delays: number[] = [];
  const reasons: string[] = [];
  return {
    maxRetries: 4,
    connectTimeoutMs: 10_000,
    firstTokenTimeoutMs: 600_000,
    idleTimeoutMs: 120_000,
    random: () => 0,
    wait: (ms) => (delays.push(ms), Promise.resolve()),
    onRetry: ({ reason }) => reasons.push(reason),
    delays,
    reasons,
    ...settings,
  };
}

/** Asks for a stream, and returns the data of its events. */
export const ask = (
  request: string | Parameters<typeof requestStream>[0],
  asked: HttpOptions = options(),
  onText?: (text: string) => void,
): Promise<string[]> =>
  requestStream(
    typeof request === "string" ? { url: request, body: "{}" } : request,
    asked,
    () => textReader(onText),
  );

/** The head of an event stream that lasts until the connection is closed. */
export const STREAM = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/** A test that fails when it leaves a timer, a request or a connection behind: Deno checks that only
 * where it is asked to. */
export function leakTest(name: string, fn: () => Promise<void> | void): void {
  Deno.test({ name, sanitizeOps: true, sanitizeResources: true, fn });
}
