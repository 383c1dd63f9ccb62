/**
 * The character sets of an expression. Each is a predicate that asks the native engine about one code point at a time:
 * the engine knows Unicode, and takes constant time. @module
 */

/** The characters that can match at one position. */
export interface CharSet {
  id: number; // its index in the list of all sets
  has(codePoint: number): boolean;
  only?: number; // its only code point, if it is a character without another case
}

/** The sets of one expression. Equal ones are made once. */
export class CharSets {
  readonly list: CharSet[] = [];
  readonly #byKey = new Map<string, CharSet>();

  single(only: number): CharSet {
    return this.#get(String.fromCodePoint(only), () => ({ only, has: (code) => code === only }));
  }

  brackets(inside: string, not: string, ignoreCase: boolean): CharSet {
    const flags = ignoreCase ? "iv" : "v";
    return this.#get(`[${not}${inside}]${flags}`, () => {
      const narrow = new RegExp(`^[${not}${inside}]$`, flags);
      // Made on first use: the engine takes a millisecond to prepare the classes of Unicode.
      let wide: RegExp | undefined;
      return {
        has: (code) => {
          if (code < 128) return narrow.test(String.fromCharCode(code));
          wide ??= new RegExp(`^[${not}${inside.replaceAll("\\w", UNICODE_WORD)}]$`, flags);
          return wide.test(String.fromCodePoint(code));
        },
      };
    });
  }

  #get(key: string, make: () => Omit<CharSet, "id">): CharSet {
    let set = this.#byKey.get(key);
    if (set === undefined) {
      set = { ...make(), id: this.list.length };
      this.#byKey.set(key, set);
      this.list.push(set);
    }
    return set;
  }
}

/** The inside of brackets for `\w` in Unicode (UTS 18). */
const UNICODE_WORD = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u200c\\u200d";
