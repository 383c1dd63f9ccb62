/** Newline-delimited JSON. @module */

import { BackendError } from "../errors.ts";
import { excerpt } from "./excerpt.ts";
import { type Decoder, LineDecoder } from "./lines.ts";

/**
 * Decodes newline-delimited JSON; blank lines are skipped.
 *
 * A {@linkcode BackendError} of kind `protocol` is thrown by `push` when a line is no JSON, one of
 * kind `incomplete` by `end` when the last line is no whole JSON.
 */
export class NdjsonDecoder implements Decoder {
  readonly #lines: LineDecoder;
  #isCut = false;

  constructor(onValue: (value: unknown) => void) {
    this.#lines = new LineDecoder((line) => {
      if (/\S/.test(line)) onValue(parseJson(line, this.#isCut));
    });
  }

  push(chunk: Uint8Array): void {
    this.#lines.push(chunk);
  }

  end(): void {
    this.#isCut = true;
    this.#lines.end();
  }
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
