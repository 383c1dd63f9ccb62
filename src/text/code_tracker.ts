/** Follows Markdown text and tells where code is: see {@linkcode codeTracker}. */
export interface CodeTracker {
  /** Reads `text` from `from` up to `to`, which goes on where the last call ended. */
  feed(text: string, from: number, to: number): void;
  /**
   * Whether a character `next` that comes now is in code, in a row of a table, or in the middle of a
   * code sign. {@linkcode openSpan} may say more.
   */
  inCode(next: string): boolean;
  /**
   * The length of the backticks that began inline code on an earlier line of this paragraph, 0
   * without any. Whether it is code depends on what follows: see {@linkcode spanSearch}.
   */
  openSpan(): number;
  /** What follows said whether the open span is code. */
  decideSpan(isCode: boolean): void;
  /** Whether a fence that comes now would open a block. */
  atLineStart(): boolean;
  /** Whether nothing but white space stands before this place on its line. */
  isFirst(): boolean;
  /** Whether this place is in a block quote, behind a quotation mark or bracket, or on a line shown. */
  isQuoted(): boolean;
}

/** What stands before a place on its line. */
const BLANK = 0; // nothing, or white space
const MARKERS = 1; // signs of lists and quotations
const TEXT = 2;

const TAB = 9;
const NEWLINE = 10;
const GREATER = 62;
const BACKTICK = 96;
const PIPE = 124;
const TILDE = 126;
const QUOTES = new Set([..."\"'“”‘’„‚«»‹›「『《（("].map((char) => char.charCodeAt(0)));

/**
 * How lines begin that tools show: numbered, found (`path:12:`, `path-12-`, `12:`), in a difference;
 * and a comment. In a list, one space stands behind the sign.
 */
const SHOWN_LINE =
  /^(?:\+(?! \S| $)|-(?![\s-])|\s*(?:\/\/|\d+(?:[\t→]|:(?! \S| $))|\S*(?::\d+:|[A-Za-z]-\d+-)))/;
const MAX_LINE = 256;

/** The info string of a block that may hold others. */
const MARKDOWN = /[`~]\s*(?:md|mdx|markdown)\s*$/i;

/** Longer runs of backticks do not span lines, so that few lengths can be open without an end. */
const MAX_SPAN = 16;

/**
 * Follows Markdown text piece by piece, as it streams. On one line it decides by what came before
 * alone: a backtick begins inline code until one like it or the end of the line. CommonMark would
 * wait for the second one, but then text would have to be held back for a whole line.
 *
 * @param isContinued True where text was cut out before: what comes is no indented code.
 */
export function codeTracker(isContinued = false): CodeTracker {
  /** Whether something that was cut out stands on this line. */
  let isBegun = isContinued;
  let before = BLANK;
  let inline = 0;
  let fence:
    | { char: number; length: number; before: number; isFirstLine: boolean; depth: number }
    | undefined;
  /** The backticks or tildes just read: what they mean depends on what follows. */
  let run = 0;
  let runChar = 0;
  /** Inline code as CommonMark has it, over lines. */
  let span = 0;
  let isSpanCode = false;
  /** Columns of white space at the beginning of the line. */
  let indent = 0;
  let mayIndent = !isContinued;
  let isIndented = false;
  let isRow = false;
  let isQuote = false;
  let last = 0;
  /** The beginning of the line. */
  let line = "";

  /** The first sign of a line was read. */
  function beginLine(code: number): void {
    isIndented = indent >= 4 && mayIndent;
    isRow = code === PIPE;
    isQuote = false;
  }

  function settle(next: number): void {
    if (run === 0) return;
    if (fence) {
      const closes = runChar === fence.char && run >= fence.length && before <= fence.before &&
        (next <= 32 || next === 60);
      // A second run of backticks on the line of the first: that was inline code.
      const inlined = fence.isFirstLine && runChar === BACKTICK && fence.char === BACKTICK;
      if (inlined || closes && fence.depth <= 1) fence = undefined;
      else if (closes) fence.depth--;
      // Who quotes Markdown that holds blocks rarely makes its own fence longer.
      else if (
        fence.depth > 0 && runChar === fence.char && run >= 3 && before <= MARKERS && next > 32
      ) {
        fence.depth++;
      }
    } else if (before <= MARKERS && run >= 3) {
      fence = { char: runChar, length: run, before, isFirstLine: true, depth: 0 };
      span = 0;
    } else if (runChar === BACKTICK) {
      inline = inline === 0 ? run : inline === run ? 0 : inline;
      if (span === run) span = 0;
      else if (span === 0 && run <= MAX_SPAN) {
        span = run;
        isSpanCode = false;
      }
    }
    run = 0;
    before = TEXT;
  }

  function endLine(): void {
    if (before === BLANK && !isBegun) {
      span = 0;
      mayIndent = true;
    } else mayIndent = isIndented;
    isBegun = false;
    before = BLANK;
    inline = indent = 0;
    isIndented = isRow = isQuote = false;
    if (fence?.isFirstLine) {
      fence.isFirstLine = false;
      fence.depth = MARKDOWN.test(line) ? 1 : 0;
    }
  }

  function addLine(text: string): void {
    if (line.length < MAX_LINE) line += text.slice(0, MAX_LINE - line.length);
  }

  return {
    feed(text, from, to) {
      let start = from;
      for (let i = from; i < to; i++) {
        const code = text.charCodeAt(i);
        if (run > 0) {
          if (code === runChar) {
            run++;
            continue;
          }
          settle(code);
        }
        if (code === NEWLINE) {
          addLine(text.slice(start, i));
          endLine();
          line = "";
          start = i + 1;
          continue;
        }
        if (before === BLANK) {
          if (code <= 32) indent = code === TAB ? (indent | 3) + 1 : indent + 1;
          else beginLine(code);
        }
        if (code === BACKTICK || code === TILDE) {
          run = 1;
          runChar = code;
        } else if (before !== TEXT && code > 32) {
          isQuote ||= code === GREATER;
          // > - * + . ) and digits
          before = code === GREATER || code >= 41 && code <= 57 && code !== 44 && code !== 47
            ? MARKERS
            : TEXT;
        }
      }
      addLine(text.slice(start, to));
      if (to > from) last = text.charCodeAt(to - 1);
    },
    inCode(next) {
      const code = next.charCodeAt(0);
      if (run > 0 && code === runChar) return true;
      settle(code);
      return fence !== undefined || inline !== 0 || isRow || isSpanCode && span !== 0 ||
        (before === BLANK ? indent >= 4 && mayIndent : isIndented);
    },
    openSpan: () => isSpanCode ? 0 : span,
    decideSpan(isCode) {
      isSpanCode = isCode;
      if (!isCode) span = 0;
    },
    atLineStart: () => run === 0 && before <= MARKERS,
    isFirst: () => before === BLANK,
    isQuoted: () => isQuote || QUOTES.has(last) || SHOWN_LINE.test(line),
  };
}

/**
 * Looks for the end of inline code that `length` backticks began, piece by piece: true where it
 * comes, false where the paragraph ends without it, undefined while that is open.
 */
export function spanSearch(length: number): (piece: string) => boolean | undefined {
  let run = 0;
  let isBlank = false;
  /** Whether the run is the first of its line. */
  let isFence = false;
  return (piece) => {
    for (let i = 0; i < piece.length; i++) {
      const code = piece.charCodeAt(i);
      if (code === BACKTICK) {
        if (run++ === 0) isFence = isBlank;
        isBlank = false;
        continue;
      }
      if (run > 0) {
        if (isFence && run >= 3) return false;
        if (run === length) return true;
        run = 0;
      }
      if (code === NEWLINE) {
        if (isBlank) return false;
        isBlank = true;
      } else if (code > 32) isBlank = false;
    }
    return undefined;
  };
}
