/**
 * Numbers with their nouns.
 *
 * @module
 */

/** "1 file", "2 files". */
export const count = (n: number, one: string, many = `${one}s`): string =>
  `${n} ${n === 1 ? one : many}`;
