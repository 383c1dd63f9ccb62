/** Returns the most likely correction of `word` in `words`; undefined if all are too different. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  let best: string | undefined;
  // A typo changes at most a third of the letters. Names have at most 64 letters.
  let bound = Math.max(1, Math.floor(word.length / 3)) + 1;
  if (word.length > 64) return undefined;
  for (const candidate of words) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bound) [best, bound] = [candidate, distance];
  }
  return best ?? words.find((w) => word !== "" && (w.startsWith(word) || word.startsWith(w)));
}

/** Returns a question that suggests the nearest of `words`, formatted with `shown`, or `otherwise`. */
export function didYouMean(
  word: string,
  words: readonly string[],
  otherwise: string,
  shown = (near: string) => near,
): string {
  const near = nearest(word, words);
  return near === undefined ? otherwise : `did you mean ${shown(near)}?`;
}

/** Returns the edit distance in which a swap of neighbours counts as one (optimal string alignment). */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    const above = rows[i - 1]!;
    for (let j = 1; j <= b.length; j++) {
      const change = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(change, above[j]! + 1, row[j - 1]! + 1));
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        row[j] = Math.min(row[j]!, rows[i - 2]![j - 2]! + 1);
      }
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
