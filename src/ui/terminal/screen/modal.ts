/**
 * Modals: a stack with the input line at the bottom. The top one has the keyboard, and draws the last rows.
 * @module
 */

import { asPressed, isReport, type Key } from "../line/keys.ts";
import type { RawOptions, RawTerminal, Terminal, TerminalSize } from "../tty.ts";
import { EMPTY_FRAME, type Frame } from "./frame.ts";
import type { LiveOutput } from "./live_output.ts";

export interface Modal<T = unknown> {
  /** True if it uses the whole screen: it closes when another modal opens above it. */
  readonly isFullScreen?: boolean;
  /** Its rows, at most `rows` of `columns`, and the cursor. */
  layout(size: TerminalSize): Frame;
  press(key: Key): Outcome<T>;
  /** Selects no row: the Enter for a draft must not answer. */
  unselect?(): void;
}

/** What the driver does after a key; `"bell"`: the key could do nothing. */
type TerminalAction = "none" | "bell" | "clear" | "suspend";

/** The effect of a key on a modal. A null result means that the user cancelled. */
export type Outcome<T = unknown> =
  | TerminalAction
  /** Closes the modal without a result; the key goes to the modal below. */
  | "pass"
  | { done: T | null }
  | { later: Promise<Outcome<T>> };

interface Layer {
  modal: Modal;
  settle: (result: unknown) => void;
}

export class ModalStack {
  /** True while the outcome of a key is pending; no keys are read then. */
  isWaiting = false;
  readonly #layers: Layer[] = [];

  /** Opens `modal` on top; resolves with its result when it closes. */
  open<T>(modal: Modal<T>): Promise<T | null> {
    this.closeFullScreen();
    return new Promise((resolve) => {
      this.#layers.push({ modal, settle: (result) => resolve(result as T | null) });
    });
  }

  closeFullScreen(): void {
    const top = this.#layers.at(-1)?.modal;
    if (top?.isFullScreen) this.close(top);
  }

  close(modal: Modal, result: unknown = null): void {
    const at = this.#layers.findIndex((layer) => layer.modal === modal);
    if (at !== -1) this.#layers.splice(at, 1)[0]!.settle(result);
  }

  closeAll(): void {
    for (const { settle } of this.#layers.splice(0)) settle(null);
  }

  get depth(): number {
    return this.#layers.length;
  }

  layout(size: TerminalSize): Frame {
    const { modal } = this.#layers.at(-1) ?? {};
    if (modal?.isFullScreen) return { ...modal.layout(size), isFullScreen: true };
    return modal?.layout(size) ?? EMPTY_FRAME;
  }

  get isFullScreen(): boolean {
    return this.#layers.at(-1)?.modal.isFullScreen ?? false;
  }

  /** Gives `key` to the top modal, and to the next ones while it is passed on. */
  async press(key: Key): Promise<TerminalAction> {
    for (let modal; (modal = this.#layers.at(-1)?.modal) !== undefined;) {
      let outcome = modal.press(key);
      if (typeof outcome === "object" && "later" in outcome) {
        this.isWaiting = true;
        outcome = await outcome.later.finally(() => this.isWaiting = false);
      }
      if (outcome === "pass") {
        this.close(modal);
        continue;
      }
      if (typeof outcome === "string") return outcome;
      if ("done" in outcome) this.close(modal, outcome.done);
      return "none";
    }
    return "none";
  }
}

interface ModalDriverOptions extends Pick<RawOptions, "focus" | "onSignal"> {
  terminal: Terminal;
  modals: ModalStack;
  output: LiveOutput;
  /** Called before the modals; true if the key is handled. The next key waits for it. */
  onKey?: (key: Key) => boolean | Promise<boolean>;
  onReport?: (name: string) => void;
}

export class ModalDriver implements Disposable {
  readonly #raw: RawTerminal;

  constructor(private readonly options: ModalDriverOptions) {
    const { terminal, output, focus, onSignal } = options;
    this.#raw = terminal.raw({
      focus,
      onSignal,
      onRedraw(resumed) {
        if (!resumed) return output.resized();
        output.resume();
        output.draw();
      },
      onLeave: () => output.below(),
    });
  }

  /** Runs until all modals are closed, the input ends, or `signal` is aborted. */
  async run(signal?: AbortSignal): Promise<void> {
    const { terminal, modals, output } = this.options;
    const start = terminal.now();
    while (modals.depth > 0) {
      if (!terminal.keys.ready) output.draw();
      const key = await terminal.keys.next(signal);
      if (key === null) return;
      await this.#press(asPressed(key, terminal.now() - start));
    }
  }

  /** Lends the terminal to another program while `run` is pending, then draws everything again. */
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
    // A result may open the next question, which receives the next key.
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
