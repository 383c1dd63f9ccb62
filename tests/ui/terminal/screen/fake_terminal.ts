/** A terminal without a process: bytes in, a grid of cells out, and a clock that tests set. @module */

import { KeySource } from "../../../../src/ui/terminal/line/sources.ts";
import { ByteSource } from "../../../../src/ui/terminal/line/sources.ts";
import type { RawOptions, Terminal } from "../../../../src/ui/terminal/tty.ts";
import { Screen } from "../../../helpers/screen.ts";

const UNSEEN = new RegExp(
  "\x1b\\[\\?2026[hl]|\x1b\\]9;[^\x07]*\x07|\x1b\\[\\?u|\x1b\\]11;\\?\x1b\\\\",
  "g",
);

/** A terminal of 40 by 12 with its focus, and the time on its clock. */
export class FakeTerminal implements Terminal {
  readonly keys: KeySource;
  readonly reflows = true;
  output = "";
  readonly #grid = new Screen(40, 12);
  readonly #bytes: Uint8Array[] = [];
  #time = 0;
  #pauses: { until: number; end: () => void }[] = [];
  #onBytes = () => {};
  #onEvent = () => {};

  constructor() {
    this.keys = new KeySource(new ByteSource({ read: (buffer) => this.#read(buffer) }));
  }

  /** Types `keys`; resolves when all of them are read, and the program waits for more. */
  async type(keys: string): Promise<void> {
    this.#bytes.push(new TextEncoder().encode(keys));
    this.#onBytes();
    await this.until(() => this.#bytes.length === 0 && this.#isWaiting);
  }

  /** Moves the clock, and ends the pauses whose time has come. */
  async wait(ms: number): Promise<void> {
    this.#time += ms;
    for (const pause of this.#pauses.filter(({ until }) => until <= this.#time)) pause.end();
    await new Promise((resolve) => setTimeout(resolve));
  }

  async until(is: (rows: readonly string[]) => boolean): Promise<void> {
    while (!is(this.#grid.lines)) await new Promise<void>((resolve) => this.#onEvent = resolve);
  }

  get rows(): readonly string[] {
    return this.#grid.lines;
  }

  get isAlternate(): boolean {
    return this.#grid.isAlternate;
  }

  size = () => ({ columns: 40, rows: 12 });
  now = () => this.#time;

  write(text: string): void {
    this.output += text;
    this.#grid.write(text.replace(UNSEEN, ""));
    this.#onEvent();
  }

  hasKitty = false;
  readonly holders: RawOptions[] = [];

  raw(options: RawOptions) {
    this.holders.push(options);
    return {
      useKitty: () => void (this.hasKitty = true),
      suspend: () => Promise.resolve(),
      lend: <T>(run: () => Promise<T>) => run(),
      [Symbol.dispose]() {},
    };
  }

  pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const pause = {
        until: this.#time + ms,
        end: () => {
          this.#pauses = this.#pauses.filter((other) => other !== pause);
          resolve();
        },
      };
      signal.addEventListener("abort", pause.end, { once: true });
      this.#pauses.push(pause);
    });
  }

  #isWaiting = false;

  async #read(buffer: Uint8Array): Promise<number> {
    while (this.#bytes.length === 0) {
      this.#isWaiting = true;
      this.#onEvent();
      await new Promise<void>((resolve) => this.#onBytes = resolve);
    }
    this.#isWaiting = false;
    const piece = this.#bytes.shift()!;
    buffer.set(piece);
    return piece.length;
  }
}
