import { count } from "../text/count.ts";
import { isImageName } from "../text/extname.ts";
import { bareNames } from "../text/tool_aliases.ts";
import type { Tool, ToolContext, ToolOutcome } from "../types/tool.ts";
import { callable, fileSubject, objectSchema, textSchema } from "./definition.ts";
import type { ToolArgs } from "./schema.ts";
import { FILE_SYNONYMS, isWhole, type RestArgs, takeView } from "./slips.ts";
import { readImage } from "./files/image.ts";
import { attempt } from "../attempt.ts";
import { strictUtf8Text, utf8Text } from "../text/utf8.ts";
import { wholeUpTo } from "../text/truncate.ts";
import { hasBom, utf16Label } from "./files/line_endings.ts";
import { editorBytes } from "./files/editor_text.ts";
import { openRegular, readBytes } from "./files/regular_file.ts";
import { MAX_DIGESTED_BYTES, stampOf } from "./files/seen_files.ts";
import { realPathOr, toolPath } from "./paths.ts";

const FIRST_LINE = bareNames(
  "start startline linestart fromline from firstline begin beginline startlineoneindexed startlineoneindexedinclusive",
);

export const fileTool: Tool = callable({
  name: "read_file",
  description: "Read a text file. Lines are numbered; use offset and limit for more.",
  parameters: objectSchema({
    file_path: textSchema("File to read"),
    offset: { type: "integer", minimum: 1, default: 1, description: "First line" },
    limit: { type: "integer", minimum: 1, default: 2000, description: "Number of lines" },
  }, ["file_path"]),
  access: "read",
  subject: fileSubject("read"),
  slips: {
    synonyms: {
      file_path: FILE_SYNONYMS,
      offset: [...FIRST_LINE, "linenumber", "line"],
      limit: bareNames(
        "maxlines numlines linecount nlines count numberoflines numlinestoread length",
      ),
    },
    readings: [takeView, takeLines],
    editorCommand: "view",
    path: ["file_path", "read"],
  },
  run: async (args, context) => {
    const isMeant = context.imageLimits !== undefined || context.isFromUser;
    if (isMeant && isImageName(String(args.file_path))) {
      const image = await readImage(String(args.file_path), context);
      if (image) return image;
    }
    return readFile(args, context);
  },
});

/** Reads `[2, 5]` or "2-5" as a first and a last line. */
function lineRange(value: unknown): [number, number] | undefined {
  const pair = typeof value === "string"
    ? /^\s*\[?\s*(\d+)\s*(?:-|,|:|\.\.)\s*(-?\d+)\s*\]?\s*$/.exec(value)?.slice(1)
    : value;
  if (!Array.isArray(pair) || pair.length !== 2 || !pair.every(isWhole)) return undefined;
  return [Number(pair[0]), Number(pair[1])];
}

function takeLines(args: ToolArgs, rest: RestArgs): string | undefined {
  const range = lineRange(rest.take("viewrange", "linerange", "range", "lines", "linenumbers"));
  const end = rest.take(
    ...bareNames(
      "endline end to toline lineend lastline stopline endlineoneindexed endlineoneindexedinclusive",
    ),
  );
  rest.take("shouldreadentirefile", "readentirefile");
  if (range) {
    args.offset = Math.max(1, range[0]);
    if (range[1] >= range[0]) args.limit = range[1] - range[0] + 1;
    return "a range of lines as offset and limit";
  }
  if (!isWhole(end)) return undefined;
  const first = rest.take(...FIRST_LINE) ?? args.offset ?? 1;
  if (!isWhole(first) || args.limit !== undefined) return undefined;
  args.offset = Math.max(1, Number(first));
  if (Number(end) >= Number(first)) args.limit = Number(end) - Number(first) + 1;
  return "the last line as a limit";
}

const MAX_READ_LINE_CHARS = 2000;
/** The maximum number of bytes that are read: a log may be endless. */
const MAX_READ_BYTES = 64 * 1024 * 1024;
/** The number of bytes that are checked for signs of a binary file. */
const HEAD_BYTES = 256 * 1024;
/** The maximum length of the last line of a result, in characters. */
const READ_FOOTER_CHARS = 400;
const LF = 10, CR = 13;

/** The lines of a result, and its maximum length in characters. */
interface Window {
  offset: number;
  limit: number;
  maxLineChars: number;
  maxChars: number;
}

/** The lines of a window, and the facts that one pass over the file found. */
interface Page {
  lines: string[];
  total: number; // the number of lines of the file, or a minimum if `isPartial`
  isPartial: boolean; // true if the file continues after the bytes read
  crlfLines: number;
  lfLines: number;
  hasBom: boolean;
  isLossy: boolean; // true if a shown line has bytes that are not UTF-8
  cutLine: number | undefined;
  endsOpen: boolean; // true if the last line has no line ending
  endsInCr: boolean; // true if lines end in a lone CR
}

/**
 * Shows lines of a text file, each as `number`, tab, text, then one line in brackets: the number of lines, the next
 * offset, and facts that the text does not show (line endings, a BOM). Reads at most the first 64 MiB.
 * @throws {Error} if it is not a text file, or has fewer lines than `offset`.
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
    return outcomeOfPage(pageOf(unsaved, window, false), window, shown);
  }
  using opened = await openRegular(path, shown, "read", context.grant);
  const { size } = opened.info;
  // Made first: the model has not seen what is written while a large file is read.
  const before = size > MAX_DIGESTED_BYTES ? await stampOf(opened.realPath) : undefined;
  // Some systems give no size. A byte more would be one more read.
  const most = size === 0 ? HEAD_BYTES : Math.min(size, MAX_READ_BYTES);
  const bytes = await readBytes(opened.file, most);
  const isPartial = size > most || size === 0 && bytes.length === most;
  context.signal.throwIfAborted();
  checkText(shown, bytes.subarray(0, HEAD_BYTES), size);
  const outcome = outcomeOfPage(pageOf(bytes, window, isPartial), window, shown);
  context.seenFiles?.set(opened.realPath, before ?? await stampOf(opened.realPath, bytes));
  return outcome;
}

function pageOf(bytes: Uint8Array, window: Window, isPartial: boolean): Page {
  const { offset, limit, maxLineChars } = window;
  const text = hasBom(bytes) ? bytes.subarray(3) : bytes;
  const page: Page = {
    lines: [],
    total: 0,
    isPartial,
    crlfLines: 0,
    lfLines: 0,
    hasBom: text !== bytes,
    isLossy: false,
    cutLine: undefined,
    endsOpen: false,
    endsInCr: !text.includes(LF) && text.subarray(0, -1).includes(CR),
  };
  const ending = page.endsInCr ? CR : LF;
  let room = window.maxChars;
  for (let start = 0, end; start < text.length; start = end + 1) {
    const found = text.indexOf(ending, start);
    page.endsOpen = found === -1;
    end = page.endsOpen ? text.length : found;
    const number = page.total + 1;
    const isWanted = room > 0 && number >= offset && number < offset + limit;
    // A last line that was not read to its end is shown if wanted, otherwise not counted.
    if (page.endsOpen && isPartial && !isWanted) break;
    page.total = number;
    const isCrlf = !page.endsOpen && !page.endsInCr && text[end - 1] === CR && end > start;
    if (isCrlf) page.crlfLines++;
    else if (!page.endsOpen) page.lfLines++;
    if (!isWanted) continue;
    const line = text.subarray(start, isCrlf ? end - 1 : end);
    const shown = `${number}\t${shownLine(line, end - start, page, maxLineChars)}`;
    room -= shown.length + 1;
    if (room >= 0 || page.lines.length === 0) page.lines.push(shown);
  }
  return page;
}

/** The shown text of a line. `size` is its length in bytes, with a CR at its end. */
function shownLine(line: Uint8Array, size: number, page: Page, maxChars: number): string {
  const part = line.subarray(0, 4 * maxChars);
  const isWhole = part.length === line.length;
  // A character that the cut divides is dropped.
  const valid = attempt(() => strictUtf8Text(part, !isWhole));
  page.isLossy ||= valid === undefined;
  const text = valid ?? utf8Text(part);
  if (isWhole && text.length <= maxChars) return text;
  page.cutLine ??= page.total;
  return `${text.slice(0, wholeUpTo(text, maxChars))}[cut: ${size} bytes]`;
}

/** Returns the text of a page. @throws {RangeError} if the file has fewer lines than the requested first one. */
function outcomeOfPage(page: Page, { offset, maxLineChars }: Window, shown: string): ToolOutcome {
  const { lines, total, isPartial } = page;
  const isEmpty = total === 0 && !isPartial;
  if (lines.length === 0 && !isEmpty) {
    const [extent, hint] = isPartial
      ? ["its first 64 MiB have only", "use run_bash, with sed -n for example"]
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

/** @throws {Error} if the bytes are not text. */
function checkText(shown: string, bytes: Uint8Array, size: number): void {
  if (utf16Label(bytes) !== undefined) {
    throw new Error(
      `Cannot read ${shown} as it is UTF-16 text and must be UTF-8: run_bash can convert it with iconv -f UTF-16 -t UTF-8`,
    );
  }
  if (!bytes.includes(0)) return;
  throw new Error(
    `Cannot read ${shown} as it is no text but binary data, ${size} bytes: use run_bash with a program for it`,
  );
}

function footerOf(page: Page, offset: number, maxLineChars: number): string {
  const end = offset + page.lines.length - 1;
  const all = offset === 1 && end === page.total && !page.isPartial;
  const total = page.isPartial ? `at least ${page.total}` : page.total;
  const parts = [all ? count(page.total, "line") : `lines ${offset}-${end} of ${total}`];
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
  if (page.isLossy) parts.push("not valid UTF-8: \ufffd marks bytes that cannot be shown");
  if (page.endsOpen && !page.isPartial) parts.push("no newline at the end");
  return `[${parts.join("; ")}]`;
}
