/**
 * What a search tells the model beside what it found.
 *
 * @module
 */

import type { SearchEnd } from "./pool.ts";
import type { Tally } from "./walk.ts";

/** "1 file", "2 files". */
export const count = (n: number, one: string, many = `${one}s`): string =>
  `${n} ${n === 1 ? one : many}`;

/** What was left out, for a search that found nothing; empty where nothing was. */
export function leftOut(tally: Tally): string {
  const kinds = [
    [tally.filtered, "file of another name", "files of other names"],
    [tally.binary, "binary file", "binary files"],
    [tally.large, "file over 64 MiB", "files over 64 MiB"],
    [tally.unreadable, "unreadable entry", "unreadable entries"],
    [tally.ignored, "ignored or hidden entry", "ignored or hidden entries"],
  ] as const;
  const parts = kinds.filter(([n]) => n > 0).map(([n, one, many]) => count(n, one, many));
  const hint = tally.ignored > 0 ? " (name one as path to search it)" : "";
  return parts.length === 0 ? "" : ` Left out: ${parts.join(", ")}${hint}.`;
}

/** What makes a search that found something incomplete, apart from a lack of room. */
export function gaps(tally: Tally, end: SearchEnd): string[] {
  const notes = [];
  if (end === "timeout") notes.push("stopped for lack of time: narrow it down with path");
  if (tally.unreadable > 0) notes.push(`${tally.unreadable} could not be read`);
  if (tally.large > 0) notes.push(`${count(tally.large, "file")} over 64 MiB not searched`);
  return notes;
}

/**
 * As many of `lines` as have room in `maxChars`, and a last line in brackets where `notes` has any.
 *
 * @param notes given how many lines are shown
 */
export function fitLines(
  lines: readonly string[],
  maxChars: number,
  notes: (shown: number) => string[],
): string {
  let shown = lines.length;
  let chars = lines.reduce((sum, line) => sum + line.length + 1, 0);
  for (;; shown--) {
    const note = notes(shown).join("; ");
    const last = note === "" ? [] : [`[${note}]`];
    if (shown === 0 || chars + (last[0]?.length ?? -1) <= maxChars) {
      return [...lines.slice(0, shown), ...last].join("\n").slice(0, maxChars);
    }
    chars -= lines[shown - 1]!.length + 1;
  }
}
