/** Newline-delimited JSON. @module */

import { BackendError } from "../errors.ts";
import { excerpt } from "./excerpt.ts";
import { LineDecoder } from "./lines.ts";

/**
 * Decodes newline-delimited JSON; blank lines are skipped. A line that is no JSON throws a
 * `BackendError` of kind `protocol`; at the end, one that is cut off throws one of kind `incomplete`.
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
 * Parses one JSON value that a server sent. What is no JSON throws a `BackendError` of kind `protocol`;
 * of kind `incomplete` when `cut`: the body ended within `text`, or may have.
 */
export function parseJson(text: string, cut = false): unknown {
  try {
    return JSON.parse(text);
  } catch {
    if (cut) {
      throw new BackendError("The answer broke off", { kind: "incomplete", retryable: true });
    }
    // The parser's own message is left out: it quotes the text as it came.
    const serverMessage = excerpt(text);
    const message = `Cannot read the answer as it must be JSON: it says "${serverMessage}"`;
    throw new BackendError(message, { kind: "protocol", serverMessage });
  }
}
