/** The difference of two texts by lines, and of two lines by words. @module */

import type { TextRange } from "../types/message.ts";

/** A line of a difference: in both texts, only in the first, or only in the second. */
export interface DiffLine {
  kind: " " | "-" | "+";
  text: string;
  /** Its number from 1: in the first text for `-`, otherwise in the second. */
  line: number;
}

type DiffStep = Omit<DiffLine, "line">;
/** Changed regions with more pairs of lines to compare are replaced as a whole. */
const MAX_PAIRS = 4_000_000;

/** Returns the changed lines from `before` to `after`, each with `context` lines around it. */
export function diffLines(before: string, after: string, context = 2): DiffLine[] {
  const a = linesOf(before);
  const b = linesOf(after);
  const differs = a.findIndex((line, at) => line !== b[at]);
  const start = differs === -1 ? a.length : differs;
  const most = Math.min(a.length, b.length) - start;
  let end = 0;
  while (end < most && a.at(-1 - end) === b.at(-1 - end)) end++;
  const all = script(a.slice(start, a.length - end), b.slice(start, b.length - end));
  if (all.length === 0) return [];
  const lead = b.slice(Math.max(0, start - context), start).map(unchanged);
  const trail = b.slice(b.length - end, b.length - end + context).map(unchanged);
  let [was, is] = [start - lead.length, start - lead.length];
  const lines = [...lead, ...all, ...trail].map(({ kind, text }) => {
    if (kind !== "+") was++;
    if (kind !== "-") is++;
    return { kind, text, line: kind === "-" ? was : is };
  });
  return withContext(lines, context);
}

/** Returns the lengths of the common prefix and suffix of two texts, in whole characters. */
export function commonEnds(before: string, after: string): { head: number; tail: number } {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  if (/[\ud800-\udbff]/.test(before[head - 1] ?? "")) head--;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  if (/[\udc00-\udfff]/.test(before.at(-tail) ?? "") && tail > 0) tail--;
  return { head, tail };
}

const unchanged = (text: string): DiffStep => ({ kind: " ", text });
const removed = (text: string): DiffStep => ({ kind: "-", text });
const added = (text: string): DiffStep => ({ kind: "+", text });

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Returns the fewest steps from `a` to `b`, by their longest common subsequence. */
function script(a: string[], b: string[]): DiffStep[] {
  if (a.length * b.length > MAX_PAIRS) return [...a.map(removed), ...b.map(added)];
  // common[i][j] is the length of the longest common subsequence of a[i..] and b[j..].
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j]
        ? common[(i + 1) * width + j + 1]! + 1
        : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const out: DiffStep[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      out.push(unchanged(a[i++]!));
      j++;
    } else if (common[(i + 1) * width + j]! >= common[i * width + j + 1]!) {
      out.push(removed(a[i++]!));
    } else out.push(added(b[j++]!));
  }
  return [...out, ...a.slice(i).map(removed), ...b.slice(j).map(added)];
}

/** Returns the lines without unchanged ones that are further than `context` from a change. */
function withContext(lines: readonly DiffLine[], context: number): DiffLine[] {
  let change = -Infinity;
  const after = lines.map(({ kind }, at) => at - (change = kind === " " ? change : at));
  change = Infinity;
  const before = lines.map(() => 0);
  for (let at = lines.length - 1; at >= 0; at--) {
    if (lines[at]!.kind !== " ") change = at;
    before[at] = change - at;
  }
  return lines.filter((_, at) => Math.min(after[at]!, before[at]!) <= context);
}

/** Lines with more pairs of words to compare count as different. */
const MAX_WORD_PAIRS = 40_000;
/** The share of the longer line's letters and digits that two lines must have in common to compare their words. */
const MIN_SHARED = 0.3;

/** Returns the words of `before` alone, and of `after` alone; undefined if they are equal or too different. */
export function changedWords(
  before: string,
  after: string,
): { before: TextRange[]; after: TextRange[] } | undefined {
  const [a, b] = [wordsOf(before), wordsOf(after)];
  if (before === after || a.length * b.length > MAX_WORD_PAIRS) return undefined;
  const ranges: Record<"-" | "+", [number, number][]> = { "-": [], "+": [] };
  const at = { "-": 0, "+": 0 };
  let shared = 0;
  for (const { kind, text } of script(a, b)) {
    if (kind === " ") shared += lettersIn(text);
    for (const side of kind === " " ? ["-", "+"] as const : [kind]) {
      const from = at[side];
      at[side] += text.length;
      if (kind === " ") continue;
      const last = ranges[side].at(-1);
      const between = (side === "-" ? before : after).slice(last?.[1] ?? 0, from);
      // A space between two changed words belongs to the change.
      if (last && between.trim() === "") last[1] = at[side];
      else ranges[side].push([from, at[side]]);
    }
  }
  const longest = Math.max(lettersIn(before), lettersIn(after));
  return shared < MIN_SHARED * longest ? undefined : { before: ranges["-"], after: ranges["+"] };
}

const lettersIn = (text: string): number => text.replace(/[^\p{L}\p{N}]/gu, "").length;

function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^]/gu) ?? [];
}
