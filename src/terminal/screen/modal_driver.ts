/** The driver of modals: raw mode, keys and drawing, for a session and a single line. @module */

import type { Terminal } from "../terminal.ts";
import { asPressed, isReport, type Key } from "../line/keys.ts";
import type { RawOptions, RawTerminal } from "../tty.ts";
import type { LiveOutput } from "./live_output.ts";
import type { ModalStack } from "./modal.ts";

interface ModalDriverOptions extends Pick<RawOptions, "focus" | "onSignal"> {
  terminal: Terminal;
  modals: ModalStack;
  output: LiveOutput;
  /** Called with each key before the modals; true when it is not for them. The next key waits for it. */
  onKey?: (key: Key) => boolean | Promise<boolean>;
  /** Called with what the terminal tells of itself, which no modal is given. */
  onReport?: (name: string) => void;
}

/** Holds the terminal in raw mode until it is disposed of. */
export class ModalDriver implements Disposable {
  readonly #raw: RawTerminal;

  constructor(private readonly options: ModalDriverOptions) {
    const { terminal, modals, output, focus, onSignal } = options;
    this.#raw = terminal.raw({
      focus,
      onSignal,
      onRedraw(resumed) {
        if (!resumed) return output.resized();
        output.resume();
        output.prepend(modals.context);
        output.draw();
      },
      onLeave: () => output.below(),
    });
  }

  /** Gives keys to the modals until all are closed, the input ends, or `signal` is aborted. */
  async run(signal?: AbortSignal): Promise<void> {
    const { terminal, modals, output } = this.options;
    const began = terminal.now();
    while (modals.depth > 0) {
      // Keys that came in one piece are shown in one frame.
      if (!terminal.keys.ready) output.draw();
      const key = await terminal.keys.next(signal);
      if (key === null) return;
      await this.#press(asPressed(key, terminal.now() - began));
    }
  }

  /** Gives the terminal to another program until `run` is done with it; then all is drawn anew. */
  async lend<T>(run: () => Promise<T>): Promise<T> {
    this.options.output.pause();
    return await this.#raw.lend(run);
  }

  useKitty(): void {
    this.#raw.useKitty();
  }

  [Symbol.dispose](): void {
    this.#raw[Symbol.dispose]();
  }

  async #press(key: Key): Promise<void> {
    const { terminal, modals, output, onKey, onReport } = this.options;
    if (isReport(key)) return onReport?.(key.name!);
    if (await onKey?.(key)) return;
    const { depth } = modals;
    const action = await modals.press(key);
    // What a result leads to, such as the next question, has the next key.
    if (modals.depth < depth) await new Promise((resolve) => setTimeout(resolve));
    switch (action) {
      case "bell":
        return terminal.write("\x07");
      case "clear":
        return output.clearScreen();
      case "suspend":
        output.pause();
        return await this.#raw.suspend();
    }
  }
}
