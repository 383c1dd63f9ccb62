/**
 * The rows at the end of the screen that change in place; all above them is ordinary scrollback.
 *
 * @module
 */

import { EMPTY_FRAME, erase, eraseResized, type Frame, leave, paint } from "./frame.ts";
import { show } from "../stdin.ts";
import { reflowsRows, terminalSize } from "../tty.ts";

/** The size of the terminal, in cells. */
export interface Size {
  columns: number;
  rows: number;
}

/** The rows that change in place. Each method writes once, or not at all. */
export interface LiveRegion {
  /** Shows what `layout` makes of the terminal's size. */
  paint(layout: (size: Size) => Frame): void;
  /**
   * Writes `text` (whole lines, safe for a terminal, `\n` only) above the region, and below it what
   * `layout` makes of the size.
   */
  print(text: string, layout: (size: Size) => Frame): void;
  /** Clears the screen; the region goes to the top of it. */
  clearScreen(): void;
  /** Leaves `last` in the scrollback, and starts below it. */
  commit(last: (size: Size) => Frame): void;
  /** Takes the region off the screen, as if it had never been there. */
  clear(): void;
  /** Forgets what is on the screen: something else has been writing there. */
  reset(): void;
  /** Goes below the region, by what is to be written; for {@linkcode RawOptions.onLeave}. */
  below(): string;
}

/** A region that begins where the cursor is: at the beginning of a row. */
export function liveRegion(
  write: (text: string) => void = show,
  size: () => Size = terminalSize,
  reflows: boolean = reflowsRows(),
): LiveRegion {
  let shown: Frame = EMPTY_FRAME;
  let { columns, rows } = size();

  /** Takes the frame off a terminal whose size may have changed. */
  function erased(): string {
    const now = size();
    const out = now.columns === columns ? erase(shown) : eraseResized(shown, now.columns, reflows);
    ({ columns, rows } = now);
    shown = EMPTY_FRAME;
    return out;
  }

  return {
    paint(layout) {
      const now = size();
      // A terminal that became smaller may have dropped the rows below the cursor.
      const first = now.columns === columns && now.rows === rows ? "" : erased();
      const next = layout(now);
      const out = first + paint(shown, next, now.columns);
      shown = next;
      if (out !== "") write(out);
    },
    print(text, layout) {
      const next = layout(size());
      const out = erased() + text.replaceAll("\n", "\r\n") + paint(EMPTY_FRAME, next, columns);
      shown = next;
      // In one go, for a terminal that can (DEC mode 2026, synchronized output).
      write(`\x1b[?2026h${out}\x1b[?2026l`);
    },
    clearScreen() {
      shown = EMPTY_FRAME;
      ({ columns, rows } = size());
      write("\x1b[H\x1b[2J");
    },
    commit(last) {
      const next = last(size());
      // Rows that have scrolled out of a small terminal's reach are written again, in full.
      const out = next.rows.length > size().rows
        ? erased() + paint(EMPTY_FRAME, next, columns)
        : (size().columns === columns ? "" : erased()) + paint(shown, next, columns);
      shown = EMPTY_FRAME;
      write(out + leave(next));
    },
    clear() {
      write(erased());
    },
    reset() {
      shown = EMPTY_FRAME;
      ({ columns, rows } = size());
    },
    below() {
      const out = leave(shown);
      shown = { rows: [...shown.rows, []], cursor: { row: shown.rows.length, column: 0 } };
      return out;
    },
  };
}
