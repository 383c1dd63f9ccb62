/**
 * JSON values, one a line.
 *
 * @module
 */

import type { Decoder } from "./lines.ts";

/**
 * Decodes newline-delimited JSON; blank lines are skipped.
 *
 * @throws {BackendError} of kind `protocol`, from `push`, when a line is no JSON; of kind
 * `incomplete`, from `end`, when the last line is cut.
 */
export function ndjsonDecoder(_onValue: (value: unknown) => void): Decoder {
  throw new Error("not yet");
}

/**
 * Parses one JSON value that a server sent.
 *
 * @param cut True when the body ended within `text`.
 * @throws {BackendError} of kind `protocol` (`incomplete` when `cut`) when it is no JSON, with an
 * excerpt of at most 200 characters.
 */
export function parseJson(_text: string, _cut = false): unknown {
  throw new Error("not yet");
}
