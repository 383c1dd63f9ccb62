/** Replaces a text in a file's text. Line endings may differ. @module */

import { commonEnds } from "../../text/diff.ts";
import { explainMiss } from "./closest_lines.ts";
import { readEdit } from "./edit_readings.ts";
import { dominantEnding, lineAt, type LineEnding } from "./line_endings.ts";
import { MAX_DIGESTED_BYTES } from "./seen_files.ts";

/** The maximum number of places that an error or a result names. */
const MAX_NAMED_PLACES = 20;
/** Shorter additions, in characters, may be repeated on purpose. */
const MIN_ADDED = 4;
/** The maximum number of characters of a line that are compared beside a match. */
const MAX_LINE = 500;

interface TextEditRequest {
  oldText: string;
  newText: string;
  all: boolean; // true to replace every match; otherwise there must be exactly one
  mayQuote: boolean; // false if errors must not quote the text, because the file is secret
}

export interface TextEdit {
  bytes: Uint8Array;
  edited: string; // the whole text of `bytes`
  before: string;
  after: string;
  count: number;
  firstLine: number; // the line of the first replacement, from 1
  where: string; // `line 3` or `lines 3, 7, 9`
  isReindented: boolean; // true if `oldText` matched except for its indentation
  how?: string; // the form in which `oldText` matched, if not its own
  ending: LineEnding;
}

/** Replaces `oldText` with `newText`. `refuse` makes the errors. @throws {Error} if it is missing or ambiguous. */
export function editText(
  text: string,
  { oldText, newText, all, mayQuote }: TextEditRequest,
  refuse: (reason: string) => Error,
): TextEdit {
  const ending = dominantEnding(text) ?? "\n";
  let before = unified(oldText, ending);
  // If lines end in LF, a CR is intended, unless all given lines have it.
  const isAsGiven = ending === "\n" && !oldText.includes("\r\n");
  let after = isAsGiven ? newText : unified(newText, ending);
  if (before === after) {
    throw refuse(
      "old_string and new_string differ in line endings alone, which stay as the file has them: use run_bash to convert it",
    );
  }
  const lines = unified(text, ending);
  let places = placesOf(lines, before, all);
  const isRead = places.length === 0;
  let how: string | undefined;
  if (isRead) {
    const read = readEdit(lines, before, after);
    if (!read) throw refuse(missReason(lines, before, after, mayQuote));
    places = [read.at];
    ({ before, after, how } = read);
    if (before === after) throw refuse("old_string and new_string are then the same");
  }
  if (!isRead) checkMatch(lines, { before, after, places, mayQuote }, refuse);
  const isReindented = isRead && how === undefined;
  const count = places.length;
  const numbers = places.slice(0, MAX_NAMED_PLACES).map((at) => lineAt(lines, at));
  const more = count > numbers.length ? ", ..." : "";
  const where = `${count === 1 ? "line" : "lines"} ${numbers.join(", ")}${more}`;
  if (count > 1 && !all) {
    const next = "add lines around it until it is unique, or set replace_all";
    throw refuse(`old_string appears ${count} times (${where}): ${next}`);
  }
  const length = text.length + count * (after.length - before.length);
  const most = Math.max(text.length, MAX_DIGESTED_BYTES);
  if (length > most) {
    throw refuse(`the result must have at most ${most} characters: it would have ${length}`);
  }
  const edited = replaced(text, places, { before, after, ending });
  return {
    bytes: new TextEncoder().encode(edited),
    edited,
    before,
    after,
    count,
    where,
    isReindented,
    ending,
    ...how !== undefined && { how },
    firstLine: numbers[0]!,
  };
}

/** Rejects an edit that was made before, and one that would leave lines doubled or without indentation. */
function checkMatch(
  lines: string,
  { before, after, places, mayQuote }: Record<"before" | "after", string> & {
    places: readonly number[];
    mayQuote: boolean;
  },
  refuse: (reason: string) => Error,
): void {
  const [first] = places as [number];
  if (places.every((at) => isMade(lines, before, after, at))) {
    throw refuse(
      `new_string is there already (line ${
        lineAt(lines, first)
      }): this edit was made before. Go on, or give more lines around it to add the same once more`,
    );
  }
  if (hasLostIndent(lines, before, after, first)) {
    throw refuse(
      "old_string starts after the indentation of its line, and the further lines of new_string have no indentation: give both as whole lines, indented as in the file",
    );
  }
  const doubled = mayQuote ? doubledLine(lines, before, after, first) : undefined;
  if (doubled !== undefined) {
    throw refuse(
      `the line ${
        JSON.stringify(doubled)
      } of new_string is beside old_string in the file and would be there twice: give it in both, or in neither`,
    );
  }
}

/** True if the text around the match at `at` already is the result of an edit that adds to the text it replaces. */
function isMade(lines: string, before: string, after: string, at: number): boolean {
  const head = after.indexOf(before);
  if (head === -1 || head > at || !lines.startsWith(after, at - head)) return false;
  const added = after.slice(0, head) + after.slice(head + before.length);
  return added.trim().length >= MIN_ADDED;
}

/** Returns the first or last line of `after` that is in the file beside the match at `at`, but not in `before`. */
function doubledLine(lines: string, before: string, after: string, at: number): string | undefined {
  const end = at + before.replace(/\n$/, "").length;
  const [old, now] = [before, after].map((text) => text.replace(/\n$/, "").split("\n"));
  const beside = [
    [now!.at(-1)!, /^\n(.*)/.exec(lines.slice(end, end + MAX_LINE))?.[1]],
    [now![0]!, /(?:^|\n)(.*)\n$/.exec(lines.slice(Math.max(0, at - MAX_LINE), at))?.[1]],
  ] as const;
  return beside.find(([line, other]) =>
    line === other && now!.length > 1 && !old!.includes(line) && /\w.*\w.*\w/.test(line)
  )?.[0];
}

/** True if a match of one line lacks its indentation, as do all further lines of its replacement. */
function hasLostIndent(lines: string, before: string, after: string, at: number): boolean {
  const indent = lines.slice(lines.lastIndexOf("\n", at - 1) + 1, at);
  const further = after.trimEnd().split("\n").slice(1);
  return /^[ \t]+$/.test(indent) && !before.trimEnd().includes("\n") && further.length > 0 &&
    further.every((line) => /^\S/.test(line));
}

/** Returns the reason why the text to replace is missing. All have `\n` line endings. */
function missReason(lines: string, before: string, after: string, mayQuote: boolean): string {
  if (!mayQuote) return "old_string was not found";
  const at = after.trim() === "" ? -1 : lines.indexOf(after);
  const made = at === -1
    ? ""
    : ` new_string is there already (line ${
      lineAt(lines, at)
    }): was this edit made before? If so, go on.`;
  return `old_string was not found.${made}\n${explainMiss(lines, before)}`;
}

function unified(text: string, ending: LineEnding): string {
  // `replaceAll` takes ten times as long.
  const lines = text.split("\r\n").join("\n");
  return ending === "\r" ? lines.split("\r").join("\n") : lines;
}

/** Returns the positions of `wanted`, without overlaps. A second match may overlap the first unless `all`. */
function placesOf(lines: string, wanted: string, all: boolean): number[] {
  const places: number[] = [];
  for (let at = 0; (at = lines.indexOf(wanted, at)) !== -1;) {
    // `aa` in `aaa` is ambiguous too.
    const mayOverlap = !all && places.length === 0;
    places.push(at);
    at += mayOverlap ? 1 : wanted.length;
  }
  return places;
}

/**
 * Returns the text with `before` replaced where it differs from `after`, at ascending `places` in the text with `\n`
 * line endings.
 */
function replaced(
  text: string,
  places: readonly number[],
  { before, after, ending }: Pick<TextEdit, "before" | "after" | "ending">,
): string {
  const { head, tail } = commonEnds(before, after);
  const insert = after.slice(head, after.length - tail).replaceAll("\n", ending);
  const output: string[] = [];
  let done = 0;
  let shift = 0;
  let next = text.indexOf("\r\n");
  const position = (at: number) => {
    for (; next !== -1 && next - shift < at; next = text.indexOf("\r\n", next + 2)) shift++;
    return at + shift;
  };
  for (const at of places) {
    output.push(text.slice(done, position(at + head)), insert);
    done = position(at + before.length - tail);
  }
  output.push(text.slice(done));
  return output.join("");
}
