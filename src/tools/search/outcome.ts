/** The notes of a search after its results, for the model. @module */

import { count } from "../../text/count.ts";
import type { SearchResult } from "./run_search.ts";
import type { Tally } from "./walk.ts";

const CUT_RULES = "ignore files are too long, and only their first rules were applied";

function skipped(tally: Tally): string[] {
  return ([
    [tally.binary, "binary"],
    [tally.large, "over 64 MiB"],
    [tally.unreadable, "unreadable"],
    [tally.unnameable, "with a name that is not UTF-8"],
    [tally.withheld, "withheld by the rules"],
    [tally.links, tally.links === 1 ? "link" : "links"],
  ] as const).filter(([n]) => n > 0).map(([n, kind]) => `${n} ${kind}`);
}

/** Returns the note on skipped files for a search without results; empty if there are no such files. */
export function leftOut(tally: Tally): string {
  const parts = skipped(tally);
  if (tally.filtered > 0) parts.unshift(`${count(tally.filtered, "file")} of other names`);
  if (tally.ignored > 0) {
    parts.push(`${tally.ignored} ignored or hidden (name one as path to search it)`);
  }
  const cut = tally.cutRules > 0 ? ` Note: ${CUT_RULES}.` : "";
  return parts.length === 0 ? cut : ` Skipped: ${parts.join(", ")}.${cut}`;
}

/** Returns the reasons why the results of a search are incomplete, other than their size. */
export function gapNotes(tally: Tally, end: SearchResult["end"]): string[] {
  const notes = [];
  if (end === "timeout") notes.push("stopped for lack of time: narrow it down with path");
  const parts = skipped(tally);
  if (parts.length > 0) notes.push(`skipped: ${parts.join(", ")}`);
  if (tally.cutRules > 0) notes.push(CUT_RULES);
  return notes;
}

/** Returns the first `lines` that fit in `maxChars`, and a last line in brackets with the notes, if any. */
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
