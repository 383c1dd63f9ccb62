/** The word of `words` that `word` is most likely a slip for; undefined when none is near enough. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  let best: string | undefined;
  // In a slip, up to a third of the letters are wrong; words of over 64 letters are no names.
  let bound = Math.max(1, Math.floor(word.length / 3)) + 1;
  if (word.length > 64) return undefined;
  for (const candidate of words) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bound) [best, bound] = [candidate, distance];
  }
  return best ?? words.find((w) => word !== "" && (w.startsWith(word) || word.startsWith(w)));
}

/** The question whether the nearest of `words` is meant, written as `shown` has it; `otherwise` where none is near. */
export function didYouMean(
  word: string,
  words: readonly string[],
  otherwise: string,
  shown = (near: string) => near,
): string {
  const near = nearest(word, words);
  return near === undefined ? otherwise : `did you mean ${shown(near)}?`;
}

/** The edit distance in which a swap of neighbours counts as one (optimal string alignment). */
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
