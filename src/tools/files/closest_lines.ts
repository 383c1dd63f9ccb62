/** Finds the lines closest to a text that a file lacks, in time linear in the file. @module */

import { sanitize } from "../../text/sanitize.ts";
import { wholeUpTo } from "../../text/truncate.ts";

const MAX_SEARCHED = 32 * 1024 * 1024;
/** The maximum number of wanted lines that are searched for, and of closest lines that are shown. */
const MAX_WANTED_LINES = 200;
const MAX_SHOWN_LINES = 15;
const MAX_SHOWN_CHARS = 200;
/** The minimum share of a line's letter pairs that makes it close. */
const MIN_ALIKE = 0.5;

/** Explains to the model in a few lines why `wanted` is not in `text`. Both have `\n` line endings. */
export function explainMiss(text: string, wanted: string): string {
  const lines = text.slice(0, MAX_SEARCHED).split("\n");
  // A line break at the end starts no line to search for.
  const wantedLines = wanted.replace(/\n$/, "").split("\n");
  const first = wantedLines.slice(0, MAX_WANTED_LINES);
  const start = bestAlignment(lines, first) ?? mostAlike(lines, first);
  if (start === undefined) return "No line of the file is like it: read the file again.";
  return comparison(lines, wantedLines, start);
}

function bestAlignment(lines: string[], wanted: string[]): number | undefined {
  const places = new Map<string, number>();
  for (const [index, line] of wanted.entries()) {
    const key = squeezed(line);
    if (key !== "" && !places.has(key)) places.set(key, index);
  }
  // Lines like `}` are everywhere, so they count only if there are no others.
  const telling = [...places.keys()].some((key) => key.length > 3);
  const votes = new Map<number, number>();
  let best: number | undefined;
  for (const [index, line] of lines.entries()) {
    const key = squeezed(line);
    const place = telling && key.length <= 3 ? undefined : places.get(key);
    if (place === undefined) continue;
    const vote = (votes.get(index - place) ?? 0) + key.length;
    votes.set(index - place, vote);
    if (best === undefined || vote > votes.get(best)!) best = index - place;
  }
  return best;
}

/** Returns the line where the text would start if its longest line is the one with the most common pairs. */
function mostAlike(lines: string[], wanted: string[]): number | undefined {
  const keys = wanted.map(squeezed);
  const length = Math.max(...keys.map((key) => key.length));
  const longest = keys.findIndex((key) => key.length === length);
  const key = keys[longest]!;
  const pairs = new Uint8Array(1 << 16);
  for (let i = 1; i < length; i++) pairs[pair(key, i)] = 1;
  let [best, most] = [-1, MIN_ALIKE];
  for (const [index, line] of lines.entries()) {
    const candidate = line.trim();
    if (candidate.length > length * 2) continue;
    let shared = 0;
    for (let i = 1; i < candidate.length; i++) shared += pairs[pair(candidate, i)]!;
    const alike = shared / (Math.max(candidate.length, length) - 1);
    if (alike > most) [best, most] = [index, alike];
  }
  return best === -1 ? undefined : best - longest;
}

function pair(text: string, index: number): number {
  return (text.charCodeAt(index - 1) * 257 + text.charCodeAt(index)) & 0xffff;
}

function comparison(lines: string[], wanted: string[], start: number): string {
  const found = wanted.map((_, index) => lines[start + index] ?? "");
  const differ = wanted.findIndex((line, index) => line !== found[index]);
  const shown: string[] = [];
  const from = Math.max(start, 0, start + differ - MAX_SHOWN_LINES + 5);
  for (let i = from; i < start + wanted.length && shown.length < MAX_SHOWN_LINES; i++) {
    if (lines[i] !== undefined) shown.push(`${i + 1}\t${visible(lines[i]!)}`);
  }
  const whitespace = wanted.every((line, index) => squeezed(line) === squeezed(found[index]!));
  const kind = whitespace ? "It differs from these lines in whitespace alone" : "Closest lines";
  const difference = differ === -1
    ? ""
    : `\nLine ${differ + 1} of old_string is: ${visible(wanted[differ]!)}`;
  return `${kind} (· is a space, → a tab):\n${shown.join("\n")}${difference}`;
}

/** Returns a line without the blanks that models overlook: those around it, and repeated ones within. */
function squeezed(line: string): string {
  const text = line.trim();
  return /\s\s|[^\S ]/.test(text) ? text.replace(/\s+/g, " ") : text;
}

/** Marks whitespace that is easy to overlook. Single spaces between words stay. */
function visible(line: string): string {
  const cut = line.length > MAX_SHOWN_CHARS;
  const text = cut ? line.slice(0, wholeUpTo(line, MAX_SHOWN_CHARS)) : line;
  const marked = text.replace(/^ +| +$| {2,}/g, (spaces) => "·".repeat(spaces.length));
  return sanitize(marked.replaceAll("\t", "→")) + (cut ? "..." : "");
}
