/** Finds code in Markdown text as it streams. @module */

// The text before a position on its line.
const LINE_BLANK = 0; // nothing, or white space
const LINE_MARKED = 1; // list and quotation marks
const LINE_TEXT = 2;
const TAB_UNIT = 9;
const NEWLINE = 10;
const GREATER = 62;
export const GRAVE = 96;
const PIPE = 124;
export const TILDE = 126;
const QUOTES = new Set([..."\"'“”‘’„‚«»‹›「『《（("].map((char) => char.charCodeAt(0)));

/**
 * The starts of lines that tools print: a line number, the place of a match (`path:12:`, `path-12-`, `12:`), a
 * diff's sign (unlike a list's, it has no space after it); also `//`.
 */
const TOOL_LINE =
  /^(?:\+(?! \S| $)|-(?![\s-])|\s*(?:\/\/|\d+(?:[\t→]|:(?! \S| $))|\S*(?::\d+:|[A-Za-z]-\d+-)))/;
/** The maximum characters of a line that {@linkcode TOOL_LINE} and {@linkcode NESTING_INFO} see. */
const LINE_START_CHARS = 256;
/** The opening line of a fenced block that may contain other blocks. */
const NESTING_INFO = /[`~]\s*(?:md|mdx|markdown)\s*$/i;

interface Fence {
  unit: number;
  length: number;
  /** The kind of text before its opening fence. */
  before: number;
  isFirstLine: boolean;
  /** The number of nested open blocks in a block of Markdown; otherwise 0. */
  depth: number;
}

/**
 * Follows Markdown text and finds its code. A backtick opens inline code until a matching one or the end of the
 * line. Waiting for the second one, as in CommonMark, would delay the line.
 */
export class CodeTracker {
  #before = LINE_BLANK;
  /** The number of backticks that opened inline code on this line; 0 outside it. */
  #inline = 0;
  #fence: Fence | undefined;
  /** The number of backticks or tildes just read. The next text decides their meaning. */
  #run = 0;
  #runUnit = 0;
  /** The columns of white space at the start of the line. */
  #indent = 0;
  #mayIndent: boolean;
  #isIndented = false;
  #isTableRow = false;
  #isQuote = false;
  #isLineCut: boolean;
  #lastUnit = 0;
  #lineStart = "";

  /** @param isContinued True if earlier text was cut out: the first line is not indented code. */
  constructor(isContinued = false) {
    this.#isLineCut = isContinued;
    this.#mayIndent = !isContinued;
  }

  /** Reads `text` from `from` to `to`, continuing after the last call. */
  feed(text: string, from: number, to: number): void {
    let start = from;
    for (let i = from; i < to; i++) {
      const unit = text.charCodeAt(i);
      if (this.#run > 0) {
        if (unit === this.#runUnit) {
          this.#run++;
          continue;
        }
        this.#endRun(unit);
      }
      if (unit === NEWLINE) {
        this.#addToLine(text.slice(start, i));
        this.#endLine();
        start = i + 1;
        continue;
      }
      if (this.#before === LINE_BLANK) this.#readIndent(unit);
      if (unit === GRAVE || unit === TILDE) {
        this.#run = 1;
        this.#runUnit = unit;
      } else if (this.#before !== LINE_TEXT && unit > 32) {
        this.#isQuote ||= unit === GREATER;
        // > - * + . ) and digits
        const isMarker = unit === GREATER || unit >= 41 && unit <= 57 && unit !== 44 && unit !== 47;
        this.#before = isMarker ? LINE_MARKED : LINE_TEXT;
      }
    }
    this.#addToLine(text.slice(start, to));
    if (to > from) this.#lastUnit = text.charCodeAt(to - 1);
  }

  /** True if `next` is in code or in a table. */
  inCode(next: string): boolean {
    const unit = next.charCodeAt(0);
    if (this.#run > 0 && unit === this.#runUnit) return true;
    this.#endRun(unit);
    return this.#fence !== undefined || this.#inline !== 0 || this.#isTableRow ||
      (this.#before === LINE_BLANK ? this.#indent >= 4 && this.#mayIndent : this.#isIndented);
  }

  /** True if a fence here would open a block. */
  atLineStart(): boolean {
    return this.#run === 0 && this.#before <= LINE_MARKED;
  }

  /** True if there is only white space before this position on its line. */
  isFirst(): boolean {
    return this.#before === LINE_BLANK;
  }

  /** True in a block quote, after a quotation mark or bracket, and on a line that a tool printed. */
  isQuoted(): boolean {
    return this.#isQuote || QUOTES.has(this.#lastUnit) || TOOL_LINE.test(this.#lineStart);
  }

  #readIndent(unit: number): void {
    if (unit <= 32) {
      this.#indent += unit === TAB_UNIT ? 4 : 1;
      return;
    }
    this.#isIndented = this.#indent >= 4 && this.#mayIndent;
    this.#isTableRow = unit === PIPE;
  }

  /** Decides about the run before `next`, if any. */
  #endRun(next: number): void {
    if (this.#run === 0) return;
    if (this.#fence) this.#endRunInFence(this.#fence, next);
    else if (this.#before <= LINE_MARKED && this.#run >= 3) {
      const [unit, length, before] = [this.#runUnit, this.#run, this.#before];
      this.#fence = { unit, length, before, isFirstLine: true, depth: 0 };
    } else if (this.#runUnit === GRAVE) {
      if (this.#inline === 0) this.#inline = this.#run;
      else if (this.#inline === this.#run) this.#inline = 0;
    }
    this.#run = 0;
    this.#before = LINE_TEXT;
  }

  #endRunInFence(fence: Fence, next: number): void {
    const isSame = this.#runUnit === fence.unit;
    const closes = isSame && this.#run >= fence.length && this.#before <= fence.before &&
      (next <= 32 || next === 60);
    // A second run of backticks on the same line: the text between was inline code.
    const wasInline = fence.isFirstLine && isSame && fence.unit === GRAVE;
    if (wasInline || closes && fence.depth <= 1) this.#fence = undefined;
    else if (closes) fence.depth--;
    // Models that quote Markdown with blocks rarely make the outer fence longer.
    else if (
      fence.depth > 0 && isSame && this.#run >= fence.length &&
      this.#before <= LINE_MARKED && next > 32
    ) fence.depth++;
  }

  #endLine(): void {
    const isEmpty = this.#before === LINE_BLANK && !this.#isLineCut;
    this.#mayIndent = isEmpty || this.#isIndented;
    this.#isLineCut = false;
    this.#before = LINE_BLANK;
    this.#inline = this.#indent = 0;
    this.#isIndented = this.#isTableRow = this.#isQuote = false;
    if (this.#fence?.isFirstLine) {
      this.#fence.isFirstLine = false;
      this.#fence.depth = NESTING_INFO.test(this.#lineStart) ? 1 : 0;
    }
    this.#lineStart = "";
  }

  #addToLine(text: string): void {
    const room = LINE_START_CHARS - this.#lineStart.length;
    if (room > 0) this.#lineStart += text.slice(0, room);
  }
}
