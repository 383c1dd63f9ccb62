/**
 * Printed text in few frames: whole lines, which scroll, and one that is not finished; below them the
 * rows that change in place.
 *
 * @module
 */

import type { Terminal } from "../terminal.ts";
import { type Layout, LiveRegion } from "./live_region.ts";

/** Streamed text is shown in frames at least this many milliseconds apart. */
const FRAME_MS = 33;

/** When a {@linkcode LiveOutput} ends. */
interface LiveOutputOptions {
  /** Called when the terminal cannot be written to any more. */
  onGone: (error: unknown) => void;
  /** Nothing is drawn once it is aborted. */
  signal?: AbortSignal | undefined;
}

/** Text that waits for its frame, above the rows of `layout`. */
export class LiveOutput {
  readonly #terminal: Terminal;
  readonly #layout: Layout;
  readonly #options: LiveOutputOptions;
  readonly #region: LiveRegion;
  #lines = "";
  #tail = "";
  /** When the last frame was drawn. */
  #drawn = 0;
  #frame: ReturnType<typeof setTimeout> | undefined;
  /** Another program has the terminal. */
  #isPaused = false;

  constructor(terminal: Terminal, layout: Layout, options: LiveOutputOptions) {
    this.#terminal = terminal;
    this.#layout = layout;
    this.#options = options;
    this.#region = new LiveRegion(terminal);
  }

  /** The line that is not finished. */
  get tail(): string {
    return this.#tail;
  }

  /** Prints whole lines before all text that is not shown yet. */
  prepend(lines: string): void {
    this.#lines = lines + this.#lines;
  }

  /** Prints whole lines; the line that is not finished stays below them. */
  append(lines: string): void {
    this.#lines += lines;
  }

  /** Prints `text` as lines of their own; the line that is not finished is ended before them. */
  print(text: string): void {
    this.#lines += `${this.#tail}${this.#tail && "\n"}${text}\n`;
    this.#tail = "";
  }

  /** Prints text that may go on in the same line. */
  stream(text: string): void {
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) {
      this.#lines += this.#tail + text.slice(0, end);
      this.#tail = "";
    }
    this.#tail += text.slice(end);
  }

  /** Shows the text printed so far, and the layout as it is now. */
  draw(): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
    if (this.#isPaused || this.#options.signal?.aborted) return;
    const text = this.#lines;
    this.#lines = "";
    try {
      if (text === "") this.#region.paint(this.#layout);
      else this.#region.print(text, this.#layout);
    } catch (error) {
      this.#options.onGone(error);
    }
    this.#drawn = this.#terminal.now();
  }

  /** Draws, with others that come soon in one frame; the first after a pause at once. */
  drawSoon(): void {
    if (this.#frame !== undefined) return;
    const wait = this.#drawn + FRAME_MS - this.#terminal.now();
    if (wait <= 0) this.draw();
    else this.#frame = setTimeout(() => this.draw(), wait);
  }

  /** Leaves the rows of `layout` in the scrollback in place of those that change. */
  commit(layout: Layout): void {
    this.#region.commit(layout);
  }

  clearScreen(): void {
    this.#region.clearScreen();
  }

  /** Draws nothing until {@linkcode resume}. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Draws again, on a screen where another program has been writing. */
  resume(): void {
    this.#isPaused = false;
    this.#region.reset();
  }

  /** Goes below the rows that change: the text to write for that. */
  below(): string {
    return this.#region.below();
  }

  /** Takes the rows that change off the screen; the text that was not shown yet. */
  end(): string {
    clearTimeout(this.#frame);
    this.#region.clear();
    return this.#lines + this.#tail + (this.#tail && "\n");
  }
}
