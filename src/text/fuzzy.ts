/** The rank of a text that does not fit; a fit has 0 to 3. */
export const NO_FIT = 4;

/**
 * Returns the rank of a text. From the best, 0: the text or its last part starts with `word`; its last part
 * contains it; the text contains it; the text has its letters in order. `/` separates parts. Both are in lower
 * case.
 */
export function fuzzyRank(word: string, text: string): number {
  if (text.startsWith(word)) return 0;
  const at = text.lastIndexOf(word);
  if (at === -1) return hasLetters(word, text) ? 3 : NO_FIT;
  const last = text.lastIndexOf("/") + 1;
  return at === last ? 0 : at > last ? 1 : 2;
}

/** Returns the indices (UTF-16) of the characters of `text` that match `word`; empty if it does not fit. */
export function fittingLetters(word: string, text: string): number[] {
  const [wanted, folded] = [word.toLowerCase(), text.toLowerCase()];
  // A character with a longer lower case shifts the rest.
  if (wanted === "" || folded.length !== text.length) return [];
  const at = folded.startsWith(wanted) ? 0 : folded.lastIndexOf(wanted);
  if (at !== -1) return Array.from(wanted, (_, i) => at + i);
  return lettersOf(wanted, folded) ?? [];
}

/** Returns the `limit` best fits for `word`. Those of equal rank stay in order. */
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

function hasLetters(word: string, text: string): boolean {
  let at = -1;
  for (let i = 0; i < word.length; i++) {
    at = text.indexOf(word[i]!, at + 1);
    if (at === -1) return false;
  }
  return true;
}

/** Returns the first characters of `text` that match the letters of `word` in order. */
function lettersOf(word: string, text: string): number[] | undefined {
  const found: number[] = [];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === word[found.length]) found.push(i);
  }
  return found.length === word.length ? found : undefined;
}
