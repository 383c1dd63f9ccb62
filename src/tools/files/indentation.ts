/** Lines whose indentation differs from the file's. @module */

const MAX_TEXT = 16 * 1024 * 1024;

/** The position of lines in a file's text, and the lines that replace them, with the file's indentation. */
export interface Reindented {
  at: number;
  before: string;
  after: string;
  how?: string; // the form in which it was read; missing if only the indentation differs
}

/**
 * Returns the only place where whole lines of `text` equal `before` except for indentation, and `after` with the
 * indentation that fits there; undefined if there is no such place, or several, or if the indentation of new lines
 * would be unclear. All have `\n` line endings.
 */
export function reindented(text: string, before: string, after: string): Reindented | undefined {
  if (text.length > MAX_TEXT || before.trim() === "") return undefined;
  const wanted = before.replace(/\n$/, "").split("\n");
  const lines = text.split("\n");
  const place = uniqueLine(lines.map(bare), wanted.map(bare));
  if (place === undefined) return undefined;
  const there = lines.slice(place, place + wanted.length);
  const usual = lines.map(indentOf).find((one) => one !== "") ?? "";
  const now = after.split("\n");
  const translate = translator(wanted, there, usual) ?? byLine(wanted, there, now);
  const unit = unitOf(lines);
  const fitting: string[] = [];
  let last: string | undefined;
  for (const [i, line] of now.entries()) {
    if (bare(line) === "") {
      fitting.push("");
      continue;
    }
    const found = translate?.(indentOf(line), i);
    if (found === undefined) return undefined;
    const { indent, base } = found;
    if (base !== undefined && !isStep(indent, base, last ?? base, unit)) return undefined;
    fitting.push(indent + bare(line));
    last = indent;
  }
  const at = startOf(lines, place);
  const isLast = place + wanted.length === lines.length;
  const end = before.endsWith("\n") && !isLast ? "\n" : "";
  // The file ends where `before` has one more line feed.
  const hasOneMore = before.endsWith("\n\n") && isLast && lines.at(-1) === "";
  if (hasOneMore && fitting.at(-1) === "") fitting.pop();
  return { at, before: there.join("\n") + end, after: fitting.join("\n") };
}

const indentOf = (line: string): string => /^[ \t]*/.exec(line)![0];
const bare = (line: string): string => line.slice(indentOf(line).length);

/** Returns the position of a line in the text. */
export const startOf = (lines: readonly string[], place: number): number =>
  lines.slice(0, place).reduce((sum, { length }) => sum + length + 1, 0);

export function uniqueLine(
  lines: readonly string[],
  wanted: readonly string[],
): number | undefined {
  // Searching one text is faster than searching a list of lines.
  const text = `\n${lines.join("\n")}\n`;
  const part = `\n${wanted.join("\n")}\n`;
  const at = text.indexOf(part);
  if (at === -1 || text.indexOf(part, at + 1) !== -1) return undefined;
  let line = 0;
  for (let i = text.indexOf("\n"); i < at; i = text.indexOf("\n", i + 1)) line++;
  return line;
}

/** Returns the usual indentation step of a file; undefined if no line is indented. */
function unitOf(lines: readonly string[]): number | undefined {
  const counts = new Map<number, number>();
  let last = 0;
  for (const [i, line] of lines.entries()) {
    const { length } = indentOf(line);
    if (length === line.length) continue;
    // A single space before a line belongs to a block comment.
    if (i > 0 && length > last + 1) counts.set(length - last, (counts.get(length - last) ?? 0) + 1);
    last = length;
  }
  return [...counts].sort(([a, n], [b, m]) => m - n || a - b)[0]?.[0];
}

/**
 * True if a new line is whole steps of the file away from a known one, `base`, and at most one step further in than the
 * line before, `last`. Otherwise the depths have other steps and would be doubled or halved.
 */
function isStep(indent: string, base: string, last: string, unit: number | undefined): boolean {
  if (unit === undefined) return true;
  return (indent.length - base.length) % unit === 0 && indent.length - last.length <= unit;
}

/** An indentation in the file, and `base`, the known one from which it was computed, if that can be wrong. */
interface Translated {
  indent: string;
  base?: string;
}

type Translate = (indent: string, line: number) => Translated | undefined;

/** Gives each line the indentation of the line that it replaces, if all are without indentation and as many. */
function byLine(
  given: readonly string[],
  real: readonly string[],
  now: readonly string[],
): Translate | undefined {
  const isFlat = [...given, ...now].every((line) => indentOf(line) === "");
  const isSame = now.length - (now.at(-1) === "" ? 1 : 0) === given.length;
  return isFlat && isSame ? (_, line) => ({ indent: indentOf(real[line]!) }) : undefined;
}

/** Translates an indentation of the lines `given` to that of the same lines in the file; `usual` is another one. */
function translator(
  given: readonly string[],
  real: readonly string[],
  usual: string,
): Translate | undefined {
  const known = new Map<string, string>();
  for (const [i, line] of given.entries()) {
    if (bare(line) === "") continue;
    const [from, to] = [indentOf(line), indentOf(real[i]!)];
    if ((known.get(from) ?? to) !== to) return undefined;
    known.set(from, to);
  }
  const all = [...known.values()].join("") || usual;
  const mark = all.includes("\t") ? "\t" : " ";
  const isPure = [...known].every(([from, to]) => /^( *|\t*)$/.test(from) && /^( *|\t*)$/.test(to));
  const { scale, isMeasured } = scaleOf(known);
  const [sign = mark] = [...known.keys()].join("");
  const steps = (indent: string) => {
    // A space after tabs is not a step.
    const isOfKind = isPure && [...indent].every((char) => char === sign);
    return isOfKind ? indent.length * scale : NaN;
  };
  return (indent) => {
    const exact = known.get(indent);
    if (exact !== undefined) return { indent: exact };
    const bases = [...known.keys()].sort((a, b) => b.length - a.length);
    const inner = bases.find((base) => indent.startsWith(base));
    const near = inner ?? bases.findLast((base) => base.startsWith(indent));
    if (near === undefined) return undefined;
    const base = known.get(near)!;
    const by = inner === undefined
      ? -steps(near.slice(indent.length))
      : steps(indent.slice(near.length));
    if (!Number.isInteger(by) || -by > base.length) return undefined;
    const there = by < 0 ? base.slice(-by) : base + mark.repeat(by);
    return isMeasured ? { indent: there } : { indent: there, base };
  };
}

/** The number of characters of the file's indentation per given one. `isMeasured` is true if two depths confirm it. */
function scaleOf(known: ReadonlyMap<string, string>): { scale: number; isMeasured: boolean } {
  const pairs = [...known].sort(([a], [b]) => a.length - b.length);
  const [[from, to], [widest, widestTo]] = [pairs[0]!, pairs.at(-1)!];
  if (widest.length > from.length) {
    const scale = (widestTo.length - to.length) / (widest.length - from.length);
    return { scale, isMeasured: widest[0] !== widestTo[0] };
  }
  // For a single depth: tabs for spaces start at the margin, otherwise the line is shifted.
  const isOtherKind = from !== "" && to !== "" && from[0] !== to[0];
  return { scale: isOtherKind ? to.length / from.length : 1, isMeasured: false };
}
