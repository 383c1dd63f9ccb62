/** Prints text in few frames: whole lines, which scroll, and below them rows that change in place. @module */

import type { Terminal, TerminalSize } from "../tty.ts";
import { EMPTY_FRAME, erase, eraseResized, type Frame, leave, paint } from "./frame.ts";

type Layout = (size: TerminalSize) => Frame;
const FRAME_MS = 33;
/** The most characters of text in a frame; keys are handled between two frames. */
const MAX_FRAME_CHARS = 8 * 1024;
/** The alternate screen (DEC mode 1049), which has no scrollback. */
const ENTER_ALTERNATE = "\x1b[?1049h\x1b[H\x1b[2J";
const LEAVE_ALTERNATE = "\x1b[?1049l";
/** Saves and restores the window's title (xterm's ctlseqs, XTWINOPS). */
const SAVE_TITLE = "\x1b[22;2t";
const RESTORE_TITLE = "\x1b]2;\x07\x1b[23;2t";

/**
 * Each frame is one write: the text that was printed since the last one, and below it the rows of
 * `layout`. A layout of the whole screen is drawn on the alternate screen; printed text waits.
 */
export class LiveOutput {
  tail = "";
  /** Text that may still change, such as a welcome. It is printed before any other text. */
  head: (() => string) | undefined;
  /** The rows on the terminal, and the size that they were painted for. */
  #shown: Frame = EMPTY_FRAME;
  #size: TerminalSize;
  #lines = "";
  /** True if the printed text ends with a blank line, or is empty. */
  endsBlank = true;
  #drawn = 0;
  #frame: ReturnType<typeof setTimeout> | undefined;
  #full: { shown: Frame; size: TerminalSize } | undefined;
  #title: string | undefined;
  #isPaused = false;
  /** True if the size changed, perhaps back to the last one: the terminal may have dropped rows. */
  #isResized = false;

  /** `onGone` is called if a write fails. Nothing is drawn once `signal` is aborted. */
  constructor(
    private readonly terminal: Terminal,
    private readonly layout: Layout,
    private readonly onGone: (error: unknown) => void,
    private readonly signal?: AbortSignal,
  ) {
    this.#size = terminal.size();
  }

  append(lines: string): void {
    if (lines !== "") this.#endHead();
    this.#lines += lines;
    if (lines !== "") this.endsBlank = lines === "\n" || lines.endsWith("\n\n");
  }

  appendApart(lines: string): void {
    this.append(this.endsBlank || this.head ? lines : `\n${lines}`);
  }

  #endHead(): void {
    this.#lines += this.head ? `${this.head()}\n\n` : "";
    this.head = undefined;
  }

  print(text: string): void {
    this.append(`${this.tail}${this.tail && "\n"}${text}\n`);
    this.tail = "";
  }

  stream(text: string): void {
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) {
      this.append(this.tail + text.slice(0, end));
      this.tail = "";
    }
    this.tail += text.slice(end);
  }

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

  drawSoon(): void {
    if (this.#frame !== undefined) return;
    const draw = () => {
      this.draw();
      this.#drawn = this.terminal.now();
    };
    const wait = this.#drawn + FRAME_MS - this.terminal.now();
    if (wait <= 0) draw();
    else this.#frame = setTimeout(draw, wait);
  }

  commit(layout: Layout): void {
    const size = this.terminal.size();
    const next = layout(size);
    // Rows that scrolled out of a small terminal are written again.
    const isTall = next.rows.length > size.rows;
    const first = isTall || size.columns !== this.#size.columns ? this.#erased() : "";
    const out = first + paint(this.#shown, next, size.columns);
    this.#shown = EMPTY_FRAME;
    this.terminal.write(out + leave(next));
  }

  clearScreen(output = "\x1b[H\x1b[2J"): void {
    if (this.#full !== undefined) this.#full.shown = EMPTY_FRAME;
    else this.#forget();
    this.terminal.write(output);
  }

  /** Clears the screen for good: tmux saves rows that are erased from the top of the screen on. */
  discardScreen(): void {
    this.clearScreen("\x1b[H\x1b[K\x1b[B\x1b[J\x1b[H");
  }

  pause(): void {
    this.#isPaused = true;
  }

  resized(): void {
    this.#isResized = true;
    this.draw();
  }

  resume(): void {
    this.#isPaused = false;
    this.#forget();
  }

  /** The text that moves the cursor below all rows, and restores the terminal. */
  below(): string {
    const out = this.#restored() + leave(this.#shown);
    const { rows } = this.#shown;
    this.#shown = { rows: [...rows, []], cursor: { row: rows.length, column: 0 } };
    return out;
  }

  /** Erases the rows that change in place; returns the text that was not shown yet. */
  end(): string {
    clearTimeout(this.#frame);
    this.terminal.write(this.#restored() + this.#erased());
    this.#endHead();
    return this.#lines + this.tail + (this.tail && "\n");
  }

  #paintFull(next: Frame, size: TerminalSize): void {
    const { shown, size: before } = this.#full ?? {};
    const isSame = !this.#isResized && before?.columns === size.columns &&
      before.rows === size.rows;
    const first = shown === undefined ? ENTER_ALTERNATE : isSame ? "" : "\x1b[H\x1b[2J";
    const out = first + paint(first === "" ? shown! : EMPTY_FRAME, next, size.columns);
    this.#full = { shown: next, size };
    if (out !== "") this.terminal.write(`\x1b[?2026h${out}\x1b[?2026l`);
  }

  #paintEnd(next: Frame, size: TerminalSize): void {
    const first = this.#leaveFull();
    const text = this.#takeLines();
    const { columns, rows } = this.#size;
    // A terminal that shrank may have dropped the rows below the cursor.
    const isSame = !this.#isResized && size.columns === columns && size.rows === rows;
    const before = first + text === "" && isSame ? "" : this.#erased();
    const out = before + text.replaceAll("\n", "\r\n") + paint(this.#shown, next, size.columns);
    this.#shown = next;
    if (first + out === "") return;
    // DEC mode 2026: synchronized output.
    this.terminal.write(text === "" ? first + out : `${first}\x1b[?2026h${out}\x1b[?2026l`);
    if (this.#lines !== "") this.#frame = setTimeout(() => this.draw(), 0);
  }

  /** The whole lines of the next frame, at least one. */
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
    const first = this.#title === undefined ? SAVE_TITLE : "";
    this.#title = title;
    this.terminal.write(`${first}\x1b]2;${title}\x07`);
  }

  #restored(): string {
    const title = this.#title === undefined ? "" : RESTORE_TITLE;
    this.#title = undefined;
    return this.#leaveFull() + title;
  }

  #leaveFull(): string {
    if (this.#full === undefined) return "";
    this.#full = undefined;
    return LEAVE_ALTERNATE;
  }

  #forget(): void {
    this.#shown = EMPTY_FRAME;
    this.#size = this.terminal.size();
  }

  /** The text that erases the rows, after the size may have changed. */
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
