/** Finds the end of JSON in streamed text as models write it, and reads its value. @module */

import { jsonOrUndefined } from "../../text/json.ts";
import { hasTwoReadings, looseJson } from "../../text/loose_json.ts";

/** The maximum depth. A function that walks deeper values would overflow the stack. */
const MAX_VALUE_DEPTH = 100;
const QUOTE = 34;
const BACKSLASH = 92;
/** The characters of JSON outside strings: white space, punctuation, numbers and words. */
const OUTSIDE = new Uint8Array(128);
for (const char of ' \t\r\n{}[]:,"-+.0123456789Etruefalsn') OUTSIDE[char.charCodeAt(0)] = 1;

/** Finds the end of a JSON object or array in pieces, or early a sign of other text. Strings may have line feeds. */
export class JsonScanner {
  readonly #closers: number[] = [];
  #inString = false;
  #isEscaped = false;

  /**
   * Reads `text` from `from`. Returns one of: `end`, the position after the value; `error`, the position of the
   * first invalid character; `inString`, true if the text ended in a string.
   */
  scan(text: string, from: number): { end?: number; error?: number; inString?: boolean } {
    const closers = this.#closers;
    let i = from;
    while (i < text.length) {
      if (this.#inString) {
        i = this.#skipString(text, i);
        continue;
      }
      const code = text.charCodeAt(i++);
      if (OUTSIDE[code] !== 1) return { error: i - 1 };
      if (code === 123 || code === 91) {
        if (closers.length === MAX_VALUE_DEPTH) return { error: i - 1 };
        closers.push(code + 2);
      } else if (closers.length === 0) return { error: i - 1 };
      else if (code === QUOTE) this.#inString = true;
      else if (code === 125 || code === 93) {
        if (closers.pop() !== code) return { error: i - 1 };
        if (closers.length === 0) return { end: i };
      }
    }
    return { inString: this.#inString };
  }

  /** Returns the position after the closing quote, or the end of the text. */
  #skipString(text: string, from: number): number {
    for (let i = from; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === BACKSLASH) this.#isEscaped = true;
      else if (code === QUOTE) {
        this.#inString = false;
        return i + 1;
      }
    }
    return text.length;
  }
}

/** Returns the object or array in `text`, if any. Accepts mistakes that have only one reading. */
export function parseLenientJson(text: string): unknown {
  const value = text.trim();
  if (new JsonScanner().scan(value, 0).end !== value.length) return undefined;
  const parsed = jsonOrUndefined(value);
  if (parsed !== undefined) return hasTwoReadings(value) ? undefined : parsed;
  // The repair of calls handles, and reports, patterns with unescaped backslashes.
  if (/^(?:[^\\]|\\[\s"'\\/bfnrtu])*\\[^\s"'\\/bfnrtu]/.test(value)) return undefined;
  return looseJson(/^\{\{[^{]/.test(value) ? undoubled(value) : value);
}

/** Outside strings, a double brace: `{{"a": 1}}`. */
function undoubled(text: string): string {
  const pieces = /"(?:[^"\\]|\\[^])*"|\{\{|\}\}/g;
  const single = text.replace(pieces, (part) => part[0] === '"' ? part : part[0]!);
  return new JsonScanner().scan(single, 0).end === single.length ? single : text.slice(1, -1);
}
