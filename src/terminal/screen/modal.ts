/**
 * A stack of modals: the top one has the keyboard and lays out the rows at the end of the screen.
 * The input line is at the bottom; a question, a search or a menu lies above it and gives the
 * keyboard back when it closes. @module
 */

import type { Key } from "../line/keys.ts";
import type { TerminalSize } from "../tty.ts";
import { EMPTY_FRAME, type Frame } from "./frame.ts";

/** One use of the keyboard and of the rows at the end of the screen. */
export interface Modal<T = unknown> {
  /** Text that was printed before it: printed again after another program had the terminal. */
  readonly context?: string | undefined;
  /** True where it takes the whole screen: it closes once another modal opens above it. */
  readonly isFullScreen?: boolean;
  /** The rows, at most `rows` of `columns`, and the cursor among them. */
  layout(size: TerminalSize): Frame;
  /** Takes a key. */
  press(key: Key): Outcome<T>;
}

/**
 * An action of the driver on the terminal, after a key: `"bell"` where the key could do nothing,
 * `"clear"` clears the screen, `"suspend"` stops the process, as Ctrl-Z does.
 */
type TerminalAction = "none" | "bell" | "clear" | "suspend";

/** The effect of a key on a modal. A result is null where the person gave none. */
export type Outcome<T = unknown> =
  | TerminalAction
  /** The modal closes without a result, and the key goes to the one below. */
  | "pass"
  /** The modal closes with a result. */
  | { done: T | null }
  /** Another modal opens right above, as a part of this one: it closes with it. */
  | { push: Modal<void> }
  /** The outcome is not known yet; the next key waits for it. */
  | { later: Promise<Outcome<T>> };

interface Layer {
  modal: Modal;
  /** Takes the result; left out for a part of the modal below. */
  settle?: (result: unknown) => void;
}

/** Modals, of which the top one is in use. */
export class ModalStack {
  /** True while the outcome of a key is not known: keys that come meanwhile are not read yet. */
  isWaiting = false;
  readonly #layers: Layer[] = [];

  /** Opens `modal` on top; resolves with its result when it closes. */
  open<T>(modal: Modal<T>): Promise<T | null> {
    this.closeFullScreen();
    return new Promise((resolve) => {
      this.#layers.push({ modal, settle: (result) => resolve(result as T | null) });
    });
  }

  /** Closes the modal on top where it takes the whole screen. */
  closeFullScreen(): void {
    const top = this.#layers.at(-1)?.modal;
    if (top?.isFullScreen) this.close(top);
  }

  /** Closes `modal`, if it is open, and its parts; null stands for no result. */
  close(modal: Modal, result: unknown = null): void {
    const at = this.#indexOf(modal);
    if (at === -1) return;
    let end = at + 1;
    while (end < this.#layers.length && this.#layers[end]!.settle === undefined) end++;
    this.#layers.splice(at, end - at)[0]!.settle?.(result);
  }

  /** Closes all modals without a result. */
  closeAll(): void {
    for (const { settle } of this.#layers.splice(0)) settle?.(null);
  }

  /** The number of open modals, without those that are a part of another. */
  get depth(): number {
    return this.#layers.filter(({ settle }) => settle !== undefined).length;
  }

  /** The contexts of all modals, as whole lines. */
  get context(): string {
    return this.#layers.map(({ modal: { context } }) => context ? `${context}\n` : "").join("");
  }

  /** The rows of the top modal. */
  layout(size: TerminalSize): Frame {
    const { modal } = this.#layers.at(-1) ?? {};
    if (modal?.isFullScreen) return { ...modal.layout(size), isFullScreen: true };
    return modal?.layout(size) ?? EMPTY_FRAME;
  }

  get isFullScreen(): boolean {
    return this.#layers.at(-1)?.modal.isFullScreen ?? false;
  }

  /** Gives `key` to the top modal, and to those below as long as it is passed on. */
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
      // It may have been closed while its outcome was not known.
      const at = this.#indexOf(modal);
      if ("push" in outcome && at !== -1) this.#layers.splice(at + 1, 0, { modal: outcome.push });
      return "none";
    }
    return "none";
  }

  #indexOf(modal: Modal): number {
    return this.#layers.findIndex((layer) => layer.modal === modal);
  }
}
