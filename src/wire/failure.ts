/**
 * What servers answer when they refuse or fail, read into {@linkcode BackendError}s. Pure.
 *
 * @module
 */

import type { BackendError, BackendErrorKind } from "../errors.ts";

/** What to tell the user to do, by kind of failure; appended to the error's line. */
export type Hints = Partial<Record<BackendErrorKind, string>>;

/** The error that an answer with a status other than 2xx stands for. */
export function failureFromResponse(
  _status: number,
  _headers: Headers,
  _bodyText: string,
  _url: string,
  _hints: Hints = {},
): BackendError {
  throw new Error("not yet");
}

/**
 * The error that a value inside a 200 answer stands for; `undefined` when it is no error. Readers
 * call it for each event and throw the result: `wire/http.ts` adds host and hints, and retries it.
 */
export function failureFromErrorObject(_value: unknown): BackendError | undefined {
  throw new Error("not yet");
}
