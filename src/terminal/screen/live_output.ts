/**
 * Printed text in few frames: whole lines, which scroll, and one that is not finished; below them,
 * at the end of the screen, the rows that change in place. @module
 */

import type { Terminal } from "../terminal.ts";
import type { TerminalSize } from "../tty.ts";
import { EMPTY_FRAME, erase, eraseResized, type Frame, leave, paint } from "./frame.ts";

/** Lays out the rows that change in place, for a terminal of that size. */
type Layout = (size: TerminalSize) => Frame;
/** Streamed text is shown in frames at least this many milliseconds apart. */
const FRAME_MS = 33;
/** The most characters of a frame's text; keys are looked at between two frames. */
const MAX_FRAME_CHARS = 8 * 1024;
/** To the alternate screen (DEC mode 1049), which has no scrollback, and back to the one before. */
const ENTER_ALTERNATE = "\x1b[?1049h\x1b[H\x1b[2J";
const LEAVE_ALTERNATE = "\x1b[?1049l";
/** Keeps the window's title (xterm's ctlseqs, XTWINOPS), and brings it back; without that it is cleared. */
const KEEP_TITLE = "\x1b[22;2t";
const RESTORE_TITLE = "\x1b]2;\x07\x1b[23;2t";

/**
 * Text that waits for its frame, above the rows of `layout`: these go from where the cursor is, at
 * the beginning of a row. A frame is one write, or none. While `layout` fills the whole screen, it is on the alternate one, and text
 * that is printed waits until it no longer does.
 */
export class LiveOutput {
  /** The line that is not finished. */
  tail = "";
  /** The rows that the terminal shows, and the size they were painted for. */
  #shown: Frame = EMPTY_FRAME;
  #size: TerminalSize;
  #lines = "";
  /** True while the text ends with a blank line, or there is none yet. */
  #isApart = true;
  /** When the last frame was drawn that did not come of a key. */
  #drawn = 0;
  #frame: ReturnType<typeof setTimeout> | undefined;
  /** The frame on the alternate screen, and its size; undefined while that is not in use. */
  #full: { shown: Frame; size: TerminalSize } | undefined;
  /** The window's title; undefined while it is not ours. */
  #title: string | undefined;
  /** Another program has the terminal. */
  #isPaused = false;
  /** The terminal changed its size, perhaps back to the one before: rows that were shown may be gone. */
  #isResized = false;

  /** `onGone`: the terminal cannot be written to. Nothing is drawn once `signal` is aborted. */
  constructor(
    private readonly terminal: Terminal,
    private readonly layout: Layout,
    private readonly onGone: (error: unknown) => void,
    private readonly signal?: AbortSignal,
  ) {
    this.#size = terminal.size();
  }

  /** Prints whole lines before all text that is not shown yet. */
  prepend(lines: string): void {
    this.#lines = lines + this.#lines;
  }

  /** Prints whole lines; the line that is not finished stays below them. */
  append(lines: string): void {
    this.#lines += lines;
    if (lines !== "") this.#isApart = lines === "\n" || lines.endsWith("\n\n");
  }

  /** Prints whole lines below a blank one. */
  appendApart(lines: string): void {
    this.append(this.#isApart ? lines : `\n${lines}`);
  }

  /** Prints `text` as lines of their own; the line that is not finished is ended before them. */
  print(text: string): void {
    this.append(`${this.tail}${this.tail && "\n"}${text}\n`);
    this.tail = "";
  }

  /** Prints text that may go on in the same line. */
  stream(text: string): void {
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) {
      this.append(this.tail + text.slice(0, end));
      this.tail = "";
    }
    this.tail += text.slice(end);
  }

  /** Shows the text printed so far, and the layout as it is now. */
  draw(): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
    if (this.#isPaused || this.signal?.aborted) return;
    try {
      const size = this.terminal.size();
      const next = this.layout(size);
      this.#showTitle(next.title);
      if (next.isFullScreen) this.#paintFull(next, size);
      else this.#paintEnd(next, size);
      this.#isResized = false;
    } catch (error) {
      this.onGone(error);
    }
  }

  /** Draws, with others that come soon in one frame; the first after a pause at once. */
  drawSoon(): void {
    if (this.#frame !== undefined) return;
    const wait = this.#drawn + FRAME_MS - this.terminal.now();
    if (wait <= 0) this.#drawPaced();
    else this.#frame = setTimeout(() => this.#drawPaced(), wait);
  }

  #drawPaced(): void {
    this.draw();
    this.#drawn = this.terminal.now();
  }

  /** Leaves the rows of `layout` in the scrollback; those that change begin below them. */
  commit(layout: Layout): void {
    const size = this.terminal.size();
    const next = layout(size);
    // Rows that have scrolled out of a small terminal's reach are written again, in full.
    const isTall = next.rows.length > size.rows;
    const first = isTall || size.columns !== this.#size.columns ? this.#erased() : "";
    const out = first + paint(this.#shown, next, size.columns);
    this.#shown = EMPTY_FRAME;
    this.terminal.write(out + leave(next));
  }

  clearScreen(): void {
    if (this.#full !== undefined) this.#full.shown = EMPTY_FRAME;
    else this.#forget();
    this.terminal.write("\x1b[H\x1b[2J");
  }

  /** Draws nothing until {@linkcode resume}. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Draws all rows anew, as the terminal's size changed. */
  resized(): void {
    this.#isResized = true;
    this.draw();
  }

  /** Draws again, on a screen where another program has been writing. */
  resume(): void {
    this.#isPaused = false;
    this.#forget();
  }

  /** Goes below the rows that change: the text to write for that. */
  below(): string {
    const out = this.#leaveFull() + this.#leaveTitle() + leave(this.#shown);
    const { rows } = this.#shown;
    this.#shown = { rows: [...rows, []], cursor: { row: rows.length, column: 0 } };
    return out;
  }

  /** Takes the rows that change off the screen; the text that was not shown yet. */
  end(): string {
    clearTimeout(this.#frame);
    this.terminal.write(this.#leaveFull() + this.#leaveTitle() + this.#erased());
    return this.#lines + this.tail + (this.tail && "\n");
  }

  /** Shows `next` on the alternate screen. */
  #paintFull(next: Frame, size: TerminalSize): void {
    const { shown, size: before } = this.#full ?? {};
    const isSame = !this.#isResized && before?.columns === size.columns &&
      before.rows === size.rows;
    const first = shown === undefined ? ENTER_ALTERNATE : isSame ? "" : "\x1b[H\x1b[2J";
    const out = first + paint(first === "" ? shown! : EMPTY_FRAME, next, size.columns);
    this.#full = { shown: next, size };
    if (out !== "") this.terminal.write(`\x1b[?2026h${out}\x1b[?2026l`);
  }

  /** Shows the text that waits, and `next` at the end of the screen. */
  #paintEnd(next: Frame, size: TerminalSize): void {
    const first = this.#leaveFull();
    const text = this.#takeLines();
    const { columns, rows } = this.#size;
    // A terminal that became smaller may have dropped the rows below the cursor.
    const isSame = !this.#isResized && size.columns === columns && size.rows === rows;
    const before = first + text === "" && isSame ? "" : this.#erased();
    const out = before + text.replaceAll("\n", "\r\n") + paint(this.#shown, next, size.columns);
    this.#shown = next;
    if (first + out === "") return;
    // In one go, for a terminal that can (DEC mode 2026, synchronized output).
    this.terminal.write(text === "" ? first + out : `${first}\x1b[?2026h${out}\x1b[?2026l`);
    if (this.#lines !== "") this.#frame = setTimeout(() => this.draw(), 0);
  }

  /** The whole lines that fit the next frame, and one at least. */
  #takeLines(): string {
    const text = this.#lines;
    const end = text.length <= MAX_FRAME_CHARS
      ? text.length
      : text.lastIndexOf("\n", MAX_FRAME_CHARS) + 1 || text.indexOf("\n") + 1 || text.length;
    this.#lines = text.slice(end);
    return text.slice(0, end);
  }

  #showTitle(title: string | undefined): void {
    if (title === undefined || title === this.#title) return;
    const first = this.#title === undefined ? KEEP_TITLE : "";
    this.#title = title;
    this.terminal.write(`${first}\x1b]2;${title}\x07`);
  }

  /** Gives the window the title that it had before: the text to write for that. */
  #leaveTitle(): string {
    if (this.#title === undefined) return "";
    this.#title = undefined;
    return RESTORE_TITLE;
  }

  /** Goes back from the alternate screen, if it is in use: the text to write for that. */
  #leaveFull(): string {
    if (this.#full === undefined) return "";
    this.#full = undefined;
    return LEAVE_ALTERNATE;
  }

  #forget(): void {
    this.#shown = EMPTY_FRAME;
    this.#size = this.terminal.size();
  }

  /** Takes the rows off a terminal whose size may have changed: the text to write for that. */
  #erased(): string {
    const size = this.terminal.size();
    const out = size.columns === this.#size.columns
      ? erase(this.#shown)
      : eraseResized(this.#shown, size.columns, this.terminal.reflows);
    this.#size = size;
    this.#shown = EMPTY_FRAME;
    return out;
  }
}
