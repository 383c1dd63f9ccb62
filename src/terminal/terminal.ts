/** The terminal that a person sits at: keys in, text out, its size, raw mode, a clock. @module */

import { wait } from "../wire/wait.ts";
import { type KeySource, stdinKeys } from "./line/sources.ts";
import { writeStdout } from "./stdio.ts";
import type { RawOptions, RawTerminal, TerminalSize } from "./tty.ts";
import { rawTerminal, reflowsRows, terminalSize } from "./tty.ts";

export interface Terminal {
  readonly keys: KeySource;
  /** True when rows that a smaller window makes too long are broken, not cut off. */
  readonly reflows: boolean;
  /** Writes all of `text` before it returns; fails when the terminal is gone. */
  write(text: string): void;
  size(): TerminalSize;
  /** Enters raw mode until the result is disposed of. */
  raw(options: RawOptions): RawTerminal;
  /** Milliseconds since some fixed time. */
  now(): number;
  /** Resolves after `ms` milliseconds, or once `signal` is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

export function processTerminal(): Terminal {
  return {
    keys: stdinKeys(),
    reflows: reflowsRows(),
    write: writeStdout,
    size: terminalSize,
    raw: rawTerminal,
    now: () => performance.now(),
    pause: (ms, signal) => wait(ms, signal).catch(() => {}),
  };
}
