import { BackendError } from "../errors.ts";
import { excerpt } from "./excerpt.ts";
import { LineDecoder } from "./lines.ts";

/** Decodes lines of JSON. An invalid one throws a `BackendError` (`protocol`), a cut one another (`incomplete`). */
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

/** Parses JSON of a server. Throws a `BackendError` (`protocol`), or `incomplete` if `cut`: `text` may lack its end. */
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
