/** How well a word that a person types fits a text. @module */

/** The rank of a text that does not fit; those that fit have 0 to 3. */
export const NO_FIT = 4;

/**
 * The rank of a text, 0 being best: it or its last part begins with `word`, its last part contains it,
 * it contains it, or it has its letters in that order. Parts are what `/` separates. Both in lower case.
 */
export function fuzzyRank(word: string, text: string): number {
  if (text.startsWith(word)) return 0;
  const at = text.lastIndexOf(word);
  if (at === -1) return hasLetters(word, text) ? 3 : NO_FIT;
  const last = text.lastIndexOf("/") + 1;
  return at === last ? 0 : at > last ? 1 : 2;
}

/** The indices (UTF-16) of the characters of `text` that fit `word`; none where it does not fit. */
export function fittingLetters(word: string, text: string): number[] {
  const [wanted, folded] = [word.toLowerCase(), text.toLowerCase()];
  // A character whose lower case is longer moves those behind it.
  if (wanted === "" || folded.length !== text.length) return [];
  const at = folded.startsWith(wanted) ? 0 : folded.lastIndexOf(wanted);
  if (at !== -1) return Array.from(wanted, (_, i) => at + i);
  return lettersOf(wanted, folded) ?? [];
}

/** The `limit` items that `word` fits best, those of one rank in their order. */
export function bestFits<T>(
  word: string,
  items: readonly T[],
  textOf: (item: T) => string,
  limit = Infinity,
): T[] {
  const wanted = word.toLowerCase();
  const ranks: T[][] = Array.from({ length: NO_FIT }, () => []);
  for (const item of items) {
    const rank = fuzzyRank(wanted, textOf(item).toLowerCase());
    if (rank < NO_FIT) ranks[rank]!.push(item);
  }
  return ranks.flat().slice(0, limit);
}

/** True where `text` has the letters of `word` in their order. */
function hasLetters(word: string, text: string): boolean {
  let at = -1;
  for (let i = 0; i < word.length; i++) {
    at = text.indexOf(word[i]!, at + 1);
    if (at === -1) return false;
  }
  return true;
}

/** The first characters of `text` that have the letters of `word` in their order. */
function lettersOf(word: string, text: string): number[] | undefined {
  const found: number[] = [];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === word[found.length]) found.push(i);
  }
  return found.length === word.length ? found : undefined;
}
