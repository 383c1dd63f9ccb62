/**
 * The difference of two texts, line by line.
 *
 * @module
 */

/** A line of a difference: kept, taken out or put in. */
export interface DiffLine {
  kind: " " | "-" | "+";
  text: string;
  /** Its number, from 1: in the one text where it is taken out of it, else in the other. */
  line: number;
}

type Step = Omit<DiffLine, "line">;

/** Larger middles are replaced whole, in pairs of lines to compare. */
const MAX_PAIRS = 4_000_000;

/** The changed lines of `after` against `before`, each change with `context` lines around it. */
export function diffLines(before: string, after: string, context = 2): DiffLine[] {
  const a = linesOf(before);
  const b = linesOf(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) {
    end++;
  }
  const all = script(a.slice(start, a.length - end), b.slice(start, b.length - end));
  if (all.length === 0) return [];
  const lead = b.slice(Math.max(0, start - context), start).map(kept);
  const trail = b.slice(b.length - end, b.length - end + context).map(kept);
  let [was, is] = [start - lead.length, start - lead.length];
  const lines = [...lead, ...all, ...trail].map(({ kind, text }) => {
    if (kind !== "+") was++;
    if (kind !== "-") is++;
    return { kind, text, line: kind === "-" ? was : is };
  });
  return near(lines, context);
}

const kept = (text: string): Step => ({ kind: " ", text });

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The shortest way from `a` to `b`, by the longest common subsequence. */
function script(a: string[], b: string[]): Step[] {
  const out: Step[] = [];
  const minus = (i: number) => out.push({ kind: "-", text: a[i]! });
  const plus = (j: number) => out.push({ kind: "+", text: b[j]! });
  if (a.length * b.length > MAX_PAIRS) {
    a.forEach((_, i) => minus(i));
    b.forEach((_, j) => plus(j));
    return out;
  }
  // common[i][j]: how many lines a[i..] and b[j..] have in common.
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j]
        ? common[(i + 1) * width + j + 1]! + 1
        : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push(kept(b[j]!));
      i++, j++;
    } else if (
      j === b.length || i < a.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!
    ) minus(i++);
    else plus(j++);
  }
  return out;
}

/** Without kept lines further than `context` from a change. */
function near(lines: readonly DiffLine[], context: number): DiffLine[] {
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
