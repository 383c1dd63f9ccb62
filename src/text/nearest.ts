/** The word of `words` most like `word`, or undefined when none is near enough to be a slip. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  let best: string | undefined;
  // A third of the letters wrong is still a slip; a longer word than any name we have is none.
  let bound = Math.max(1, Math.floor(word.length / 3)) + 1;
  if (word.length > 64) return undefined;
  for (const candidate of words) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bound) [best, bound] = [candidate, distance];
  }
  return best ?? words.find((w) => word !== "" && (w.startsWith(word) || word.startsWith(w)));
}

/** Levenshtein's distance, a swap of neighbours counted as two. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
