/** JSON as models write it: its end in text that streams, and its value. @module */

import { hasTwoReadings, jsonOrUndefined } from "../text/json.ts";
import { looseJson } from "../text/loose_json.ts";

/** Deeper values are refused: a function that walks them would exhaust its stack. */
export const MAX_VALUE_DEPTH = 100;
const QUOTE = 34;
const BACKSLASH = 92;
/** The signs that JSON has outside of strings: white space, punctuation, numbers and words. */
const OUTSIDE = new Uint8Array(128);
for (const char of ' \t\r\n{}[]:,"-+.0123456789Etruefalsn') OUTSIDE[char.charCodeAt(0)] = 1;

/**
 * Finds the end of a JSON object or array, piece by piece. It checks enough to see early that a text is
 * no JSON: brackets, strings, signs. Line feeds within strings are let through, as models write them.
 */
export class JsonScanner {
  readonly #closers: number[] = [];
  #inString = false;
  #isEscaped = false;

  /**
   * Reads `text` on from `from`. Returns one of: `end`, the position behind the value; `error`, that
   * of the first character that no JSON has there; `inString`, true where the text ended in a string.
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

  /** The position after the closing quote, or the end of the text. */
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

/** The object or array that `text` is, or undefined; slips that have one reading are passed over. */
export function parseLenientJson(text: string): unknown {
  const value = text.trim();
  if (new JsonScanner().scan(value, 0).end !== value.length) return undefined;
  const parsed = jsonOrUndefined(value);
  if (parsed !== undefined) return hasTwoReadings(value) ? undefined : parsed;
  // A pattern whose backslashes are not escaped is for the repair of calls, which says so.
  if (/^(?:[^\\]|\\[\s"'\\/bfnrtu])*\\[^\s"'\\/bfnrtu]/.test(value)) return undefined;
  return looseJson(/^\{\{[^{]/.test(value) ? undoubled(value) : value);
}

/** Outside of strings, one brace for two: `{{"a": 1}}`. */
function undoubled(text: string): string {
  const single = text.replace(
    /"(?:[^"\\]|\\[^])*"|\{\{|\}\}/g,
    (part) => part[0] === '"' ? part : part[0]!,
  );
  return new JsonScanner().scan(single, 0).end === single.length ? single : text.slice(1, -1);
}
