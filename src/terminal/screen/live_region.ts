/**
 * The rows at the end of the screen that change in place; all above them is ordinary scrollback.
 *
 * @module
 */

import type { Terminal } from "../terminal.ts";
import type { TerminalSize } from "../tty.ts";
import { EMPTY_FRAME, erase, eraseResized, type Frame, leave, paint } from "./frame.ts";

/** Lays out the rows that change in place, for a terminal of that size. */
export type Layout = (size: TerminalSize) => Frame;

/**
 * The rows that change in place, from where the cursor is: at the beginning of a row. Each method
 * writes once, or not at all.
 */
export class LiveRegion {
  readonly #terminal: Terminal;
  /** The frame that the terminal shows, and the size it was painted for. */
  #shown: Frame = EMPTY_FRAME;
  #size: TerminalSize;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#size = terminal.size();
  }

  /** Shows the rows of `layout`. */
  paint(layout: Layout): void {
    const size = this.#terminal.size();
    const { columns, rows } = this.#size;
    // A terminal that became smaller may have dropped the rows below the cursor.
    const first = size.columns === columns && size.rows === rows ? "" : this.#erased();
    const next = layout(size);
    const out = first + paint(this.#shown, next, size.columns);
    this.#shown = next;
    if (out !== "") this.#terminal.write(out);
  }

  /** Writes `text` (whole lines, safe for a terminal, `\n` only), and the rows of `layout` below it. */
  print(text: string, layout: Layout): void {
    const next = layout(this.#terminal.size());
    const out = this.#erased() + text.replaceAll("\n", "\r\n") +
      paint(EMPTY_FRAME, next, this.#size.columns);
    this.#shown = next;
    // In one go, for a terminal that can (DEC mode 2026, synchronized output).
    this.#terminal.write(`\x1b[?2026h${out}\x1b[?2026l`);
  }

  /** Clears the screen; the region goes to the top of it. */
  clearScreen(): void {
    this.reset();
    this.#terminal.write("\x1b[H\x1b[2J");
  }

  /** Leaves the rows of `layout` in the scrollback; the region begins below them. */
  commit(layout: Layout): void {
    const size = this.#terminal.size();
    const next = layout(size);
    // Rows that have scrolled out of a small terminal's reach are written again, in full.
    const isTall = next.rows.length > size.rows;
    const first = isTall || size.columns !== this.#size.columns ? this.#erased() : "";
    const out = first + paint(this.#shown, next, size.columns);
    this.#shown = EMPTY_FRAME;
    this.#terminal.write(out + leave(next));
  }

  /** Takes the region off the screen, as if it had never been there. */
  clear(): void {
    this.#terminal.write(this.#erased());
  }

  /** Forgets the rows on the screen: another program has been writing there. */
  reset(): void {
    this.#shown = EMPTY_FRAME;
    this.#size = this.#terminal.size();
  }

  /** Goes below the region: the text to write for that. */
  below(): string {
    const out = leave(this.#shown);
    const { rows } = this.#shown;
    this.#shown = { rows: [...rows, []], cursor: { row: rows.length, column: 0 } };
    return out;
  }

  /** Takes the frame off a terminal whose size may have changed: the text to write for that. */
  #erased(): string {
    const size = this.#terminal.size();
    const out = size.columns === this.#size.columns
      ? erase(this.#shown)
      : eraseResized(this.#shown, size.columns, this.#terminal.reflows);
    this.#size = size;
    this.#shown = EMPTY_FRAME;
    return out;
  }
}
