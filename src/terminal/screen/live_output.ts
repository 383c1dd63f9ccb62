/**
 * What a live screen prints, in few frames: whole lines, which scroll, and one that is not finished.
 *
 * @module
 */

import type { Frame } from "./frame.ts";
import { liveRegion, type Size } from "./live_region.ts";

/** A frame of streamed text every so many milliseconds at most. */
const FRAME_MS = 33;

/** Text that waits for its frame, above rows that change in place. */
export interface LiveOutput {
  /** The line that is not finished. */
  readonly tail: string;
  /** Printed before what waits, and before all else. */
  prepend(text: string): void;
  /** Whole lines, with the one that is not finished left where it is. */
  append(lines: string): void;
  /** Whole lines, the one that is not finished ended before them. */
  print(text: string): void;
  /** Text that may go on in the same line. */
  stream(text: string): void;
  /** Shows it all. */
  draw(): void;
  /** Many pieces make one frame; the first after a pause is shown at once. */
  drawSoon(): void;
  /** Clears the screen. */
  clearScreen(): void;
  /** Forgets what is on the screen: something else has been writing there. */
  reset(): void;
  /** Goes below all of it, by what is to be written. */
  below(): string;
  /** Takes the rows that change off the screen; what was not shown yet. */
  end(): string;
}

/**
 * @param layout the rows that change
 * @param isOurs whether the terminal can be written to now; else it is shown when it can
 * @param onGone the terminal cannot be written to any more
 */
export function liveOutput(
  layout: (size: Size) => Frame,
  isOurs: () => boolean,
  onGone: () => void,
): LiveOutput {
  const region = liveRegion();
  let lines = "";
  let tail = "";
  let last = 0;
  let frame: ReturnType<typeof setTimeout> | undefined;

  function draw(): void {
    clearTimeout(frame);
    frame = undefined;
    if (!isOurs()) return;
    const text = lines;
    lines = "";
    try {
      if (text === "") region.paint(layout);
      else region.print(text, layout);
    } catch {
      onGone();
    }
    last = performance.now();
  }

  return {
    get tail() {
      return tail;
    },
    prepend: (text) => void (lines = text + lines),
    append: (text) => void (lines += text),
    print(text) {
      lines += `${tail}${tail && "\n"}${text}\n`;
      tail = "";
    },
    stream(text) {
      const end = text.lastIndexOf("\n") + 1;
      if (end > 0) {
        lines += tail + text.slice(0, end);
        tail = "";
      }
      tail += text.slice(end);
    },
    draw,
    drawSoon() {
      if (frame !== undefined) return;
      const wait = last + FRAME_MS - performance.now();
      if (wait <= 0) draw();
      else frame = setTimeout(draw, wait);
    },
    clearScreen: region.clearScreen,
    reset: region.reset,
    below: region.below,
    end() {
      clearTimeout(frame);
      region.clear();
      return lines + tail + (tail && "\n");
    },
  };
}
