/** The tool `read_file`. @module */

import { strictUtf8Text, utf8Text } from "../../text/utf8.ts";
import { wholeUpTo } from "../../text/truncate.ts";
import type { ToolContext, ToolOutcome } from "../../types/tool.ts";
import { hasBom, utf16Label } from "./line_endings.ts";
import { editorBytes } from "./editor_text.ts";
import { openRegular, type RegularFile } from "./regular_file.ts";
import { stampOf } from "./seen_files.ts";
import { realPathOr, toolPath } from "../paths.ts";
import type { ToolArgs } from "../schema.ts";

/** Longer lines are cut. */
const MAX_READ_LINE_CHARS = 2000;
/** The bytes that are read at a time: the whole file never has to fit in memory. */
const CHUNK_BYTES = 256 * 1024;
/** The most bytes that are looked at, in a second or less: a log may be endless. */
const MAX_SCANNED_BYTES = 512 * 1024 * 1024;
/** The most characters of the last line of a result. */
const READ_FOOTER_CHARS = 400;
const LF = 10, CR = 13;

/** The lines that a result shows, and the most characters that it may hold. */
interface Window {
  offset: number;
  limit: number;
  maxLineChars: number;
  maxChars: number;
}

/** The lines of a window, and what else one pass over a file found. */
class Page {
  readonly lines: string[] = [];
  total = 0; // the number of lines of the file, or a minimum where `isPartial`
  isPartial = false; // true when the file goes on beyond what was looked at
  crlfLines = 0;
  lfLines = 0;
  hasBom = false;
  isLossy = false; // true when bytes of a shown line are no UTF-8
  cutLine: number | undefined;
  whole: Uint8Array | undefined; // all bytes of a file that was read at once
  endsOpen = false; // true when the last line has no line ending
  readonly #line: LineBytes;
  #room: number;
  #isWanted: boolean;

  /** @param endsInCr true when lines end in CR alone */
  constructor(private readonly range: Window, readonly endsInCr: boolean) {
    this.#line = new LineBytes(4 * range.maxLineChars);
    this.#room = range.maxChars;
    this.#isWanted = range.offset === 1;
  }

  /** Takes the next bytes of the file. @param last the byte before them; -1 for none */
  add(chunk: Uint8Array, last: number): void {
    let start = 0;
    const ending = this.endsInCr ? CR : LF;
    for (let end; (end = chunk.indexOf(ending, start)) !== -1; start = end + 1) {
      if (this.#isWanted) this.#line.push(chunk.subarray(start, end));
      const isCrlf = !this.endsInCr && (end > 0 ? chunk[end - 1] : last) === CR;
      if (isCrlf) this.crlfLines++;
      else this.lfLines++;
      this.#endLine(isCrlf);
    }
    if (this.#isWanted) this.#line.push(chunk.subarray(start));
    this.endsOpen = start < chunk.length;
  }

  end(): void {
    // A last line that was not read to its end is shown where it is wanted, and else not counted.
    if (this.endsOpen && (this.#isWanted || !this.isPartial)) this.#endLine(false);
  }

  #endLine(isCrlf: boolean): void {
    const { offset, limit, maxLineChars } = this.range;
    this.total++;
    if (this.#isWanted) {
      const shown = `${this.total}\t${this.#line.text(this, isCrlf, maxLineChars)}`;
      this.#room -= shown.length + 1;
      if (this.#room >= 0 || this.lines.length === 0) this.lines.push(shown);
    }
    this.#line.clear();
    const next = this.total + 1;
    this.#isWanted = this.#room > 0 && next >= offset && next < offset + limit;
  }
}

/**
 * Shows lines of a text file, each as `number`, tab, text, then one line in brackets: how many
 * lines there are, where to go on, and what the text does not show (line endings, a BOM). The file
 * is read in pieces, so its size does not matter; lines are counted up to 512 MB.
 * @throws {Error} when it is no text file, or has fewer lines than `offset`.
 */
export async function readFile(args: ToolArgs, context: ToolContext): Promise<ToolOutcome> {
  const { offset, limit } = args as { offset: number; limit: number };
  const shown = String(args.file_path);
  const path = toolPath(context, shown);
  const maxChars = Math.max(context.maxOutputChars - READ_FOOTER_CHARS, 100);
  const maxLineChars = Math.min(MAX_READ_LINE_CHARS, maxChars - 60);
  context.signal.throwIfAborted();
  const window = { offset, limit, maxLineChars, maxChars };
  const unsaved = await editorBytes(context, path);
  if (unsaved !== undefined) {
    checkText(shown, unsaved, unsaved.length);
    const real = context.grant?.realPath ?? realPathOr(path);
    context.seenFiles?.set(real, await stampOf(real, unsaved));
    return outcomeOfPage(pageOf(unsaved, window), window, shown);
  }
  using opened = await openRegular(path, shown, "read", context.grant);
  const check = (head: Uint8Array) => checkText(shown, head, opened.info.size);
  // Made first: what is written while the file is read has not been seen.
  const before = context.seenFiles && !isReadAtOnce(opened) ? await stampOf(opened.realPath) : "";
  const page = await readPage(opened, window, context.signal, check);
  const outcome = outcomeOfPage(page, window, shown);
  const stamp = page.whole ? await stampOf(opened.realPath, page.whole) : before;
  context.seenFiles?.set(opened.realPath, stamp);
  return outcome;
}

/** The lines of a text that is in memory. */
function pageOf(bytes: Uint8Array, window: Window): Page {
  const endsInCr = !bytes.includes(LF) && bytes.subarray(0, -1).includes(CR);
  const page = new Page(window, endsInCr);
  page.hasBom = hasBom(bytes);
  const text = page.hasBom ? bytes.subarray(3) : bytes;
  if (text.length > 0) page.add(text, -1);
  page.end();
  return page;
}

/** What a page shows. @throws {RangeError} where it has fewer lines than the first one that is asked for. */
function outcomeOfPage(page: Page, { offset, maxLineChars }: Window, shown: string): ToolOutcome {
  const { lines, total, isPartial } = page;
  const isEmpty = total === 0 && !isPartial;
  if (lines.length === 0 && !isEmpty) {
    const [extent, hint] = isPartial
      ? ["its first 512 MB have only", "use run_bash, with sed -n for example"]
      : ["it has", "use a smaller offset"];
    throw new RangeError(
      `Cannot read ${shown} from line ${offset} as ${extent} ${total} lines: ${hint}`,
    );
  }
  if (isEmpty) return { content: `[the file is empty${page.hasBom ? " but for a BOM" : ""}]` };
  return {
    content: `${lines.join("\n")}\n${footerOf(page, offset, maxLineChars)}`,
    range: { first: offset, last: offset + lines.length - 1, total, isExact: !isPartial },
  };
}

/** A small file is read at once, as another thread takes longer; not one that grows, or has no true size. */
function isReadAtOnce({ info: { size } }: RegularFile): boolean {
  return size > 0 && size < CHUNK_BYTES;
}

async function readPage(
  opened: RegularFile,
  window: Window,
  signal: AbortSignal,
  check: (head: Uint8Array) => void,
  mayEndInCr = true,
): Promise<Page> {
  const { file, info: { size } } = opened;
  let page = new Page(window, false);
  let last = -1;
  const atOnce = isReadAtOnce(opened) ? size : -1;
  let buffer = new Uint8Array(atOnce > 0 ? size + 1 : CHUNK_BYTES);
  for (let scanned = 0;;) {
    signal.throwIfAborted();
    page.isPartial = scanned >= MAX_SCANNED_BYTES;
    if (page.isPartial) break;
    if (scanned > atOnce && buffer.length < CHUNK_BYTES) buffer = new Uint8Array(CHUNK_BYTES);
    const read = scanned <= atOnce ? file.readSync(buffer) : await file.read(buffer);
    if (read === null) break;
    page.whole = undefined;
    let chunk = buffer.subarray(0, read);
    if (scanned === 0) {
      check(chunk);
      const endsInCr = mayEndInCr && !chunk.includes(LF) && chunk.subarray(0, -1).includes(CR);
      page = new Page(window, endsInCr);
      if (read === atOnce) page.whole = chunk;
      page.hasBom = hasBom(chunk);
      if (page.hasBom) chunk = chunk.subarray(3);
    }
    scanned += read;
    if (page.endsInCr && chunk.includes(LF)) {
      await file.seek(0, Deno.SeekMode.Start);
      return await readPage(opened, window, signal, check, false);
    }
    page.add(chunk, last);
    last = buffer[read - 1]!;
  }
  page.end();
  return page;
}

/** The bytes of one line, as far as they can be shown. */
class LineBytes {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #kept = 0;
  #total = 0;

  constructor(maxBytes: number) {
    this.#bytes = new Uint8Array(maxBytes);
  }

  push(piece: Uint8Array): void {
    const part = piece.subarray(0, this.#bytes.length - this.#kept);
    this.#bytes.set(part, this.#kept);
    this.#kept += part.length;
    this.#total += piece.length;
  }

  text(page: Page, crlf: boolean, maxChars: number): string {
    const whole = this.#kept === this.#total;
    const bytes = this.#bytes.subarray(0, crlf && whole ? this.#kept - 1 : this.#kept);
    let text: string;
    try {
      // The cut may fall within a character, which is then left out.
      text = strictUtf8Text(bytes, !whole);
    } catch {
      page.isLossy = true;
      text = utf8Text(bytes);
    }
    if (whole && text.length <= maxChars) return text;
    page.cutLine ??= page.total;
    return `${text.slice(0, wholeUpTo(text, maxChars))}[cut: ${this.#total} bytes]`;
  }

  clear(): void {
    this.#kept = this.#total = 0;
  }
}

/** Throws when the bytes are those of no text that can be shown. */
function checkText(shown: string, bytes: Uint8Array, size: number): void {
  if (utf16Label(bytes) !== undefined) {
    throw new Error(
      `Cannot read ${shown} as it is UTF-16 text and must be UTF-8: run_bash can convert it with iconv -f UTF-16 -t UTF-8`,
    );
  }
  if (!bytes.includes(0)) return;
  const head = String.fromCharCode(...bytes.subarray(0, 16));
  const kind = SIGNATURES.find(([signature]) => head.startsWith(signature))?.[1] ?? "binary data";
  throw new Error(
    `Cannot read ${shown} as it is no text but ${kind}, ${size} bytes: use run_bash with a program for it`,
  );
}

/** First bytes of common binary files. */
const SIGNATURES: readonly [string, string][] = [
  ["\x89PNG", "a PNG image"],
  ["\xff\xd8\xff", "a JPEG image"],
  ["GIF8", "a GIF image"],
  ["%PDF", "a PDF document"],
  ["PK\x03\x04", "a zip archive"],
  ["\x1f\x8b", "a gzip archive"],
  ["\x7fELF", "an ELF program"],
  ["\xcf\xfa\xed\xfe", "a Mach-O program"],
  ["MZ", "a Windows program"],
  ["SQLite format 3", "an SQLite database"],
];

function footerOf(page: Page, offset: number, maxLineChars: number): string {
  const end = offset + page.lines.length - 1;
  const all = offset === 1 && end === page.total && !page.isPartial;
  const total = page.isPartial ? `at least ${page.total}` : page.total;
  const parts = [all ? `${total} lines` : `lines ${offset}-${end} of ${total}`];
  if (end < page.total) parts.push(`continue with offset ${end + 1}`);
  if (page.cutLine !== undefined) {
    const command = `sed -n ${page.cutLine}p FILE | cut -c${maxLineChars + 1}-`;
    const hint = `run_bash with ${command} shows the rest`;
    parts.push(`longer lines are cut at ${maxLineChars} characters: ${hint}`);
  }
  if (page.endsInCr) parts.push("line endings are CR");
  else if (page.crlfLines > 0) {
    const numbers = page.lfLines > 0 ? ` on ${page.crlfLines}, LF on ${page.lfLines}` : "";
    parts.push(`line endings are CRLF${numbers}`);
  }
  if (page.hasBom) parts.push("starts with a BOM");
  if (page.isLossy) parts.push("not valid UTF-8: \ufffd stands for bytes that cannot be shown");
  if (page.endsOpen && !page.isPartial) parts.push("no newline at the end");
  return `[${parts.join("; ")}]`;
}
