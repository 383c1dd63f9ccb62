/** Newline-delimited JSON. @module */

import { BackendError } from "../errors.ts";
import { excerpt } from "./excerpt.ts";
import { LineDecoder } from "./lines.ts";

/**
 * Decodes newline-delimited JSON, without blank lines. An invalid line throws a `BackendError` of kind
 * `protocol`; an incomplete last line throws one of kind `incomplete`.
 */
export class NdjsonDecoder extends LineDecoder {
  #isCut = false;

  constructor(onValue: (value: unknown) => void) {
    super((line) => {
      if (/\S/.test(line)) onValue(parseJson(line, this.#isCut));
    });
  }

  override end(): void {
    this.#isCut = true;
    super.end();
  }
}

/**
 * Parses a JSON value from a server. Invalid JSON throws a `BackendError` of kind `protocol`, or of kind
 * `incomplete` if `cut`: the body ended, or may have ended, within `text`.
 */
export function parseJson(text: string, cut = false): unknown {
  try {
    return JSON.parse(text);
  } catch {
    if (cut) {
      throw new BackendError("The answer broke off", { kind: "incomplete", retryable: true });
    }
    // The parser's message is dropped because it quotes the raw text.
    const serverMessage = excerpt(text);
    const message = `Cannot read the answer as it must be JSON: it says "${serverMessage}"`;
    throw new BackendError(message, { kind: "protocol", serverMessage });
  }
}
