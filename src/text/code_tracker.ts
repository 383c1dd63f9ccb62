/** Follows Markdown text and tells where code is: see {@linkcode codeTracker}. */
export interface CodeTracker {
  /** Reads `text` from `from` up to `to`, which goes on where the last call ended. */
  feed(text: string, from: number, to: number): void;
  /** Whether a character `next` that comes now is in code or in the middle of a code sign. */
  inCode(next: string): boolean;
  /** Whether a fence that comes now would open a block. */
  atLineStart(): boolean;
}

/** What stands before a place on its line. */
const BLANK = 0; // nothing, or white space
const MARKERS = 1; // signs of lists and quotations
const TEXT = 2;

const NEWLINE = 10;
const BACKTICK = 96;
const TILDE = 126;

/**
 * Follows Markdown text piece by piece, as it streams. It decides by what came before alone: a
 * backtick begins inline code until one like it or the end of the line. CommonMark would wait for
 * the second one, but then text would have to be held back for a whole line.
 */
export function codeTracker(): CodeTracker {
  let before = BLANK;
  let inline = 0;
  let fence: { char: number; length: number; before: number; isFirstLine: boolean } | undefined;
  /** The backticks or tildes just read: what they mean depends on what follows. */
  let run = 0;
  let runChar = 0;

  function settle(next: number): void {
    if (run === 0) return;
    if (fence) {
      const closes = runChar === fence.char && run >= fence.length && before <= fence.before &&
        (next <= 32 || next === 60);
      // A second run of backticks on the line of the first: that was inline code.
      const inlined = fence.isFirstLine && runChar === BACKTICK && fence.char === BACKTICK;
      if (closes || inlined) fence = undefined;
    } else if (before <= MARKERS && run >= 3) {
      fence = { char: runChar, length: run, before, isFirstLine: true };
    } else if (runChar === BACKTICK) {
      inline = inline === 0 ? run : inline === run ? 0 : inline;
    }
    run = 0;
    before = TEXT;
  }

  return {
    feed(text, from, to) {
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
          before = BLANK;
          inline = 0;
          if (fence) fence.isFirstLine = false;
        } else if (code === BACKTICK || code === TILDE) {
          run = 1;
          runChar = code;
        } else if (before !== TEXT && code > 32) {
          // > - * + . ) and digits
          before = code === 62 || code >= 41 && code <= 57 && code !== 44 && code !== 47
            ? MARKERS
            : TEXT;
        }
      }
    },
    inCode(next) {
      const code = next.charCodeAt(0);
      if (run > 0 && code === runChar) return true;
      settle(code);
      return fence !== undefined || inline !== 0;
    },
    atLineStart: () => run === 0 && before <= MARKERS,
  };
}
