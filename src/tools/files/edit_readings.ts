/** Edits whose text is in the file in another form. @module */

import { commonEnds, diffLines } from "../../text/diff.ts";
import { fencedBody, withoutEntities, withoutEscapes } from "../repair/content.ts";
import { type Reindented, reindented, startOf, uniqueLine } from "./indentation.ts";

type Pair = Pick<Reindented, "before" | "after">;

const MAX_READ_TEXT = 4 * 1024 * 1024;
const MAX_READ_EDIT = 200_000;

/** Forms in which models send both texts. Each returns undefined for an edit in another form. */
const FORMS: readonly (readonly [how: string, read: (pair: Pair) => Pair | undefined])[] = [
  ["", (pair) => pair],
  ["old_string without line numbers", unnumbered],
  ["old_string without the code fence around it", unfencedPair],
  ["\\n and other escapes in old_string as what they stand for", unescapedPair],
  ["HTML entities in old_string as signs", plainPair],
  ["old_string in spite of another form of its letters", inForm("NFC")],
  ["old_string in spite of another form of its letters", inForm("NFD")],
  ["old_string without the blank lines around it", trimmed],
];

/** Returns the only place of `before` in `text` in another form, with both texts in that form. Line endings are `\n`. */
export function readEdit(text: string, before: string, after: string): Reindented | undefined {
  if (text.length > MAX_READ_TEXT || before.length + after.length > MAX_READ_EDIT) {
    return reindented(text, before, after);
  }
  for (const [how, read] of FORMS) {
    const pair = read({ before, after });
    if (!pair || pair.before.trim() === "" || pair.before === pair.after) continue;
    // Blank lines around a text show that it is whole lines.
    const exact = how === "" || read === trimmed ? undefined : exactly(text, pair);
    const found = exact ?? reindented(text, pair.before, pair.after) ?? alike(text, pair);
    if (!found) continue;
    const all = [how, found.how].filter(Boolean).join(", ");
    return { ...found, ...all && { how: all } };
  }
  return undefined;
}

function exactly(text: string, { before, after }: Pair): Reindented | undefined {
  const at = text.indexOf(before);
  if (at === -1 || text.indexOf(before, at + 1) !== -1) return undefined;
  return { at, before, after };
}

const NUMBERED = /^[ \t]*(\d+)(?:\t|→|[ \t]*\|[ \t]?|:)/;

function unnumbered({ before, after }: Pair): Pair | undefined {
  const old = withoutNumbers(before);
  if (old === undefined) return undefined;
  const isNumbered = after.split("\n").some((line) => NUMBERED.test(line));
  const replacement = isNumbered ? withoutNumbers(after) : after;
  return replacement === undefined ? undefined : { before: old, after: replacement };
}

function withoutNumbers(text: string): string | undefined {
  const lines = text.split("\n");
  let last: number | undefined;
  for (const line of lines) {
    if (line.trim() === "") continue;
    const number = Number(NUMBERED.exec(line)?.[1] ?? NaN);
    if (!(last === undefined ? number >= 0 : number > last && number <= last + 2)) return undefined;
    last = number;
  }
  return lines.map((line) => line.replace(NUMBERED, "")).join("\n");
}

function unfencedPair({ before, after }: Pair): Pair | undefined {
  const old = fencedBody(before);
  return old === undefined ? undefined : { before: old, after: fencedBody(after) ?? after };
}

function unescapedPair({ before, after }: Pair): Pair | undefined {
  if (!/\\[nt"'`]/.test(before) || /\n[^]/.test(before) || /\n[^]/.test(after)) return undefined;
  return { before: withoutEscapes(before), after: withoutEscapes(after) };
}

function plainPair({ before, after }: Pair): Pair | undefined {
  const old = withoutEntities(before);
  return old === before ? undefined : { before: old, after: withoutEntities(after) };
}

function inForm(form: "NFC" | "NFD"): (pair: Pair) => Pair | undefined {
  return ({ before, after }) => {
    const old = before.normalize(form);
    return old === before ? undefined : { before: old, after: after.normalize(form) };
  };
}

function trimmed({ before, after }: Pair): Pair | undefined {
  const split = (text: string) => {
    const [lead] = /^(?:[ \t]*\n)*/.exec(text)!;
    const body = text.slice(lead.length).trimEnd();
    return [lead, body, text.slice(lead.length + body.length)] as const;
  };
  const [lead, old, tail] = split(before);
  const [newLead, replacement, newTail] = split(after);
  const feeds = (space: string) => space.split("\n").length;
  const isSame = feeds(lead) === feeds(newLead) && feeds(tail) === feeds(newTail);
  if (lead === "" && tail === "" || !isSame) return undefined;
  return { before: old, after: replacement };
}

/** Characters that look like plain ones. Each replaces one character. */
const PLAIN_LOOKS: Readonly<Record<string, string>> = Object.fromEntries([
  ...[..."“”„‟″"].map((sign) => [sign, '"']),
  ...[..."‘’‚‛′"].map((sign) => [sign, "'"]),
  ...[..."‐‑‒–—―−"].map((sign) => [sign, "-"]),
  ...[..."\u00a0\u2002\u2003\u2009\u202f"].map((sign) => [sign, " "]),
]);
const LOOKALIKES = new RegExp(`[${Object.keys(PLAIN_LOOKS).join("")}]`, "g");

/** Returns a text of the same length with ASCII forms of quotes, dashes and blanks. */
export const withPlainLooks = (text: string): string =>
  text.replace(LOOKALIKES, (sign) => PLAIN_LOOKS[sign]!);

/** Returns the key of a line: equal for lines that look the same, except for trailing blanks. */
const lookOf = (line: string): string => withPlainLooks(line.trimEnd());

/** Returns the only place where lines look like `before`. Parts that both texts share come from the file. */
function alike(text: string, { before, after }: Pair): Reindented | undefined {
  const isWhole = before.endsWith("\n") && (after.endsWith("\n") || after === "");
  if (before.endsWith("\n") !== after.endsWith("\n") && !isWhole) return undefined;
  const wanted = before.replace(/\n$/, "").split("\n");
  const lines = text.split("\n");
  const place = uniqueLine(lines.map(lookOf), wanted.map(lookOf));
  if (place === undefined) return undefined;
  const there = lines.slice(place, place + wanted.length);
  const end = isWhole && place + wanted.length < lines.length ? "\n" : "";
  const merged = after === "" ? "" : mergedLines(there, wanted, after.replace(/\n$/, "")) + end;
  return {
    at: startOf(lines, place),
    before: there.join("\n") + end,
    after: merged,
    how: differenceOf(there, wanted),
  };
}

function differenceOf(there: readonly string[], given: readonly string[]): string {
  const differs = (form: (line: string) => string) =>
    there.some((line, i) => form(line) !== form(given[i]!));
  const what = [
    ...differs((line) => line.slice(line.trimEnd().length)) ? ["trailing blanks"] : [],
    ...differs((line) => line.trimEnd()) ? ["other quotes, dashes or blanks"] : [],
  ];
  return `old_string in spite of ${what.join(" and ")}`;
}

const LAST_LINE = "\0";

/** Returns the new lines. Unchanged lines, and unchanged parts of changed ones, are as in the file. */
function mergedLines(there: readonly string[], given: readonly string[], after: string): string {
  // Ends the last line, because a difference has no empty one at the end.
  const steps = diffLines(
    `${given.join("\n")}\n${LAST_LINE}`,
    `${after}\n${LAST_LINE}`,
    Number.MAX_SAFE_INTEGER,
  );
  const merged: string[] = [];
  let at = 0;
  let [removed, added]: [number[], string[]] = [[], []];
  const flush = () => {
    added.forEach((line, i) => {
      const old = removed[i];
      merged.push(old === undefined ? line : mergedLine(there[old]!, given[old]!, line));
    });
    [removed, added] = [[], []];
  };
  for (const { kind, text } of steps) {
    if (kind === "-") removed.push(at++);
    else if (kind === "+") added.push(text);
    else {
      flush();
      if (at < there.length) merged.push(there[at++]!);
    }
  }
  flush();
  return merged.join("\n");
}

/** Returns `after` with the file's form of the start and end that it shares with `given`. */
function mergedLine(there: string, given: string, after: string): string {
  const blanks = there.slice(there.trimEnd().length);
  const [real, old, now] = [there, given, after].map((line) => line.trimEnd()) as [
    string,
    string,
    string,
  ];
  const { head, tail } = commonEnds(old, now);
  const middle = now.slice(head, now.length - tail);
  return real.slice(0, head) + middle + real.slice(real.length - tail) + blanks;
}
