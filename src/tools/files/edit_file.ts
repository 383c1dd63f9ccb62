/** The tool `edit_file`. @module */

import { wholeUpTo } from "../../text/truncate.ts";
import type { ToolContext } from "../../types/tool.ts";
import { lock, type Seen, writeNotes, type Written } from "./atomic_write.ts";
import { explainMiss } from "./closest_lines.ts";
import { oneAtATime } from "./file_queue.ts";
import { checkSeen } from "./check_seen.ts";
import { dominantEnding, type LineEnding } from "./line_endings.ts";
import { reindented } from "./indentation.ts";
import { fileError, openRegular } from "./regular_file.ts";
import { newFilePath } from "../paths.ts";
import { writeSeen } from "./write_seen.ts";

/** Larger files are no source code, and would not fit in a JavaScript string many times over. */
const MAX_BYTES = 128 * 1024 * 1024;
/** How many lines around a change are shown, how many in all, and how much of each. */
const CONTEXT_LINES = 3;
const MAX_SHOWN_LINES = 40;
const MAX_SHOWN_CHARS = 300;
const MAX_SHOWN_MATCHES = 20;

/** A file's text as it is matched: with `\n` for every line ending. */
interface Source {
  text: string;
  lines: string;
  /** How most lines end. */
  ending: LineEnding;
}

/**
 * Replaces `old_string`, which must occur exactly once unless `replace_all`, with `new_string`, and shows
 * the lines around the change. Line endings match each other; bytes outside what differs between
 * the two strings stay as they are, and inserted lines end as most lines of the file do; a CR that
 * `new_string` alone brings into lines that end in LF stays. An empty `old_string` creates a file.
 *
 * @throws {Error} when the text is not found, is ambiguous, or the file is no valid UTF-8, changed
 * since it was read, or cannot be written; the file is then as it was.
 */
export async function editFile(
  args: Record<string, unknown>,
  context: ToolContext,
): Promise<string> {
  const path = newFilePath(context, args.file_path as string);
  return await oneAtATime(path, () => edit(path, args, context));
}

/**
 * Looks whether {@linkcode editFile} finds its match.
 *
 * @throws {Error} when it does not; see there.
 */
export async function checkEdit(
  args: Record<string, unknown>,
  context: ToolContext,
): Promise<void> {
  await prepare(newFilePath(context, args.file_path as string), args, context);
}

async function edit(
  path: string,
  args: Record<string, unknown>,
  context: ToolContext,
): Promise<string> {
  const { bytes, seen, report } = await prepare(path, args, context);
  const shown = args.file_path as string;
  return report(await writeSeen(context, path, shown, bytes, seen));
}

/** What to write, and what to say of it then. */
interface Edit {
  bytes: Uint8Array;
  seen: Seen;
  report(written: Written): string;
}

async function prepare(
  path: string,
  args: Record<string, unknown>,
  context: ToolContext,
): Promise<Edit> {
  const { file_path: shown, old_string, new_string, replace_all } = args as {
    file_path: string;
    old_string: string;
    new_string: string;
    replace_all: boolean;
  };
  const refuse = (reason: string): Error => new Error(`Cannot edit ${shown} as ${reason}`);
  context.signal.throwIfAborted();
  if (old_string === new_string) throw refuse("old_string and new_string are the same");
  // It would match within a character, of which the rest would be damaged.
  if (!old_string.isWellFormed()) throw refuse("old_string holds half of a character");
  await checkSeen(context, path, shown, false);
  const seen = await readSeen(path, shown, old_string === "", context);
  const text = decode(seen.head, shown);
  if (old_string === "") {
    if (text !== "" && text !== "\ufeff") {
      throw refuse("old_string is empty and the file is not: give the text to replace");
    }
    const bytes = new TextEncoder().encode(text + new_string);
    return {
      bytes,
      seen,
      report: (written) =>
        `${written.created ? "Created" : "Filled"} ${shown}: wrote ${bytes.length} bytes${
          notesOf(written)
        }`,
    };
  }

  const source = normalized(text);
  let before = unified(old_string, source.ending);
  // Where lines end in LF, a CR is there on purpose, unless all that was given has it.
  const asGiven = source.ending === "\n" && !old_string.includes("\r\n");
  let after = asGiven ? new_string : unified(new_string, source.ending);
  if (before === after) {
    throw refuse(
      "old_string and new_string differ in line endings alone, which stay as the file has them: use run_bash to convert it",
    );
  }
  const matches: number[] = [];
  let count = 0;
  for (const match of matchesOf(source.lines, before, replace_all)) {
    if (count++ <= MAX_SHOWN_MATCHES) matches.push(match);
  }
  const fitted = count === 0 ? reindented(source.lines, before, after) : undefined;
  if (fitted) {
    count = matches.push(fitted.at);
    ({ before, after } = fitted);
  }
  if (count === 0) {
    throw refuse(`old_string was not found.\n${explainMiss(source.lines, before)}`);
  }
  if (count > 1 && !replace_all) {
    throw refuse(
      `old_string appears ${count} times (${lineList(source.lines, matches)}): ` +
        "add lines around it until it is unique, or set replace_all",
    );
  }
  const length = text.length + count * (after.length - before.length);
  if (length > Math.max(text.length, MAX_BYTES)) {
    throw new RangeError(
      `Cannot edit ${shown} as the result must have at most ${MAX_BYTES} characters: it would have ${length}`,
    );
  }
  const places = fitted ? [fitted.at] : matchesOf(source.lines, before, true);
  const edited = replaced(source, before, after, places);
  const where = lineList(source.lines, matches);
  const times = count === 1 ? "1 match" : `${count} matches`;
  return {
    bytes: new TextEncoder().encode(edited),
    seen,
    report: (written) =>
      `Replaced ${times} in ${shown} (${where})${
        fitted
          ? "; old_string differed in indentation, and new_string was indented as the file is"
          : ""
      }${notesOf(written)}\n` +
      excerpt(normalized(edited).lines, matches[0]!, after.length),
  };
}

const notesOf = (written: Written): string =>
  writeNotes(written).map((note) => `; ${note}`).join("");

/** The whole file, or nothing where there is none. */
async function readSeen(
  path: string,
  shown: string,
  mayBeMissing: boolean,
  context: ToolContext,
): Promise<Seen> {
  if (mayBeMissing) {
    const info = await Deno.stat(path).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw fileError("edit", shown, error);
    });
    if (info === undefined) return { head: new Uint8Array(), size: 0 };
  }
  using opened = await openRegular(path, shown, "edit", context.grant);
  // A file that is written in place could be seen in part.
  await lock(opened.file, context.signal);
  const { size } = await opened.file.stat();
  if (size > MAX_BYTES) {
    throw new RangeError(
      `Cannot edit ${shown} as it must have at most ${MAX_BYTES} bytes: it has ${size}. Use run_bash`,
    );
  }
  const bytes = new Uint8Array(size);
  let length = 0;
  while (length < size) {
    const read = await opened.file.read(bytes.subarray(length));
    if (read === null) break;
    length += read;
  }
  return { head: bytes.subarray(0, length), size };
}

/** The text, byte for byte: encoding it again gives the same bytes. */
function decode(bytes: Uint8Array, shown: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new TypeError(
      `Cannot edit ${shown} as it is not valid UTF-8, and the rest of it would be damaged: use run_bash with a program that works on bytes, such as sed or perl`,
    );
  }
}

function normalized(text: string): Source {
  const ending = dominantEnding(text) ?? "\n";
  return { text, lines: unified(text, ending), ending };
}

function unified(text: string, ending: LineEnding): string {
  // `replaceAll` would take ten times as long, and seven times the memory.
  const lines = text.split("\r\n").join("\n");
  return ending === "\r" ? lines.split("\r").join("\n") : lines;
}

/** Where `wanted` occurs, without overlaps; a second match may overlap the first unless `all`. */
function* matchesOf(text: string, wanted: string, all: boolean): Generator<number> {
  let at = text.indexOf(wanted);
  // `aa` in `aaa` is ambiguous too.
  for (let step = all ? wanted.length : 1; at !== -1; step = wanted.length) {
    yield at;
    at = text.indexOf(wanted, at + step);
  }
}

/** The text with `before` replaced at `places`, as far as it and `after` differ. */
function replaced(
  source: Source,
  before: string,
  after: string,
  places: Iterable<number>,
): string {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const insert = after.slice(head, after.length - tail).replaceAll("\n", source.ending);

  const position = originalPositions(source);
  const parts: string[] = [];
  let pieces: string[] = [];
  let end = 0;
  for (const match of places) {
    pieces.push(source.text.slice(end, position(match + head)), insert);
    end = position(match + before.length - tail);
    // Millions of short strings take many times the memory of their text.
    if (pieces.length >= 10_000) {
      parts.push(pieces.join(""));
      pieces = [];
    }
  }
  return parts.concat(pieces, source.text.slice(end)).join("");
}

/** Maps positions in `source.lines`, asked for in rising order, to positions in `source.text`. */
function originalPositions(source: Source): (position: number) => number {
  if (source.text.length === source.lines.length) return (position) => position;
  let [unifiedAt, originalAt] = [0, 0];
  let next = source.text.indexOf("\r\n");
  return (position) => {
    while (next !== -1 && unifiedAt + (next - originalAt) < position) {
      unifiedAt += next - originalAt + 1;
      originalAt = next + 2;
      next = source.text.indexOf("\r\n", originalAt);
    }
    return originalAt + (position - unifiedAt);
  };
}

/** `line 3` or `lines 3, 7, 9`. */
function lineList(text: string, positions: number[]): string {
  const lines: number[] = [];
  let [line, from] = [1, 0];
  for (const position of positions.slice(0, MAX_SHOWN_MATCHES)) {
    line += countNewlines(text, from, position);
    from = position;
    lines.push(line);
  }
  const more = positions.length > MAX_SHOWN_MATCHES ? ", ..." : "";
  return `${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}${more}`;
}

/** The changed lines with some around them, numbered as `read_file` does. */
function excerpt(text: string, start: number, length: number): string {
  const changed = 1 + countNewlines(text, 0, start);
  const first = Math.max(1, changed - CONTEXT_LINES);
  const last = changed + countNewlines(text, start, start + length) + CONTEXT_LINES;
  let at = lineStart(text, start);
  for (let line = changed; line > first; line--) at = lineStart(text, at - 1);
  const shown: string[] = [];
  for (let line = first; line <= last && shown.length < MAX_SHOWN_LINES; line++) {
    if (at >= text.length) break;
    const newline = text.indexOf("\n", at);
    const end = newline === -1 ? text.length : newline;
    shown.push(`${line}\t${cut(text.slice(at, end).replace(/^\ufeff/, ""))}`);
    at = end + 1;
  }
  if (at < text.length && last - first >= MAX_SHOWN_LINES) shown.push("...");
  return shown.join("\n");
}

function lineStart(text: string, position: number): number {
  return position <= 0 ? 0 : text.lastIndexOf("\n", position - 1) + 1;
}

function cut(line: string): string {
  if (line.length <= MAX_SHOWN_CHARS) return line;
  return `${line.slice(0, wholeUpTo(line, MAX_SHOWN_CHARS))}...`;
}

function countNewlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from - 1; (at = text.indexOf("\n", at + 1)) !== -1 && at < to;) count++;
  return count;
}
