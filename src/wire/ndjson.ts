/**
 * Newline-delimited JSON.
 *
 * @module
 */

import { BackendError } from "../errors.ts";
import { excerpt } from "./excerpt.ts";
import { type Decoder, lineDecoder } from "./lines.ts";

/**
 * Decodes newline-delimited JSON; blank lines are skipped.
 *
 * @throws {BackendError} of kind `protocol`, from `push`, when a line is no JSON; of kind
 * `incomplete`, from `end`, when the last line is no whole JSON.
 */
export function ndjsonDecoder(onValue: (value: unknown) => void): Decoder {
  let cut = false;
  const lines = lineDecoder((line) => {
    if (/\S/.test(line)) onValue(parseJson(line, cut));
  });
  return {
    push: lines.push,
    end() {
      cut = true;
      lines.end();
    },
  };
}

/**
 * Parses one JSON value that a server sent.
 *
 * @param cut True when the body ended within `text`, or may have.
 * @throws {BackendError} of kind `protocol` (`incomplete` when `cut`) when it is no JSON, with an
 * excerpt of at most 200 characters.
 */
export function parseJson(text: string, cut = false): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message is left out: it quotes the text as it came.
    const shown = excerpt(text);
    throw cut
      ? new BackendError("The answer broke off", { kind: "incomplete", retryable: true })
      : new BackendError(`Cannot read the answer as it must be JSON: it says "${shown}"`, {
        kind: "protocol",
        serverMessage: shown,
      });
  }
}
