/**
 * A stack of modals: the top one has the keyboard and lays out the rows at the end of the screen.
 *
 * A modal is pure state with two functions, so it is tested without a terminal. The input line is at
 * the bottom; a question, a search or a menu lies above it and gives the keyboard back when it closes.
 *
 * @module
 */

import type { Key } from "../line/keys.ts";
import type { TerminalSize } from "../tty.ts";
import { EMPTY_FRAME, type Frame } from "./frame.ts";

/** One use of the keyboard and of the rows at the end of the screen. */
export interface Modal<T = unknown> {
  /** Text that was printed before it: printed again after another program had the terminal. */
  readonly context?: string | undefined;
  /** The rows, at most `rows` of `columns`, and the cursor among them. */
  layout(size: TerminalSize): Frame;
  /** Takes a key. */
  press(key: Key): Outcome<T>;
}

/** An action of the driver on the terminal, after a key. */
type TerminalAction =
  | "none"
  /** Rings the bell: the key could do nothing. */
  | "bell"
  /** Clears the screen. */
  | "clear"
  /** Stops the process, as Ctrl-Z does. */
  | "suspend";

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
  readonly #layers: Layer[] = [];
  #isWaiting = false;

  /** True while the outcome of a key is not known: keys that come meanwhile are not read yet. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Opens `modal` on top; resolves with its result when it closes. */
  open<T>(modal: Modal<T>): Promise<T | null> {
    return new Promise((resolve) => {
      this.#layers.push({ modal, settle: (result) => resolve(result as T | null) });
    });
  }

  /** Closes `modal`, if it is open, without a result. */
  close(modal: Modal): void {
    const layer = this.#layers.find((layer) => layer.modal === modal);
    if (layer !== undefined) this.#close(layer, null);
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
    return this.#layers.at(-1)?.modal.layout(size) ?? EMPTY_FRAME;
  }

  /** Gives `key` to the top modal, and to those below as long as it is passed on. */
  async press(key: Key): Promise<TerminalAction> {
    for (let layer; (layer = this.#layers.at(-1)) !== undefined;) {
      let outcome = layer.modal.press(key);
      if (typeof outcome === "object" && "later" in outcome) {
        this.#isWaiting = true;
        outcome = await outcome.later.finally(() => this.#isWaiting = false);
      }
      if (outcome === "pass") {
        this.#close(layer, null);
        continue;
      }
      if (typeof outcome === "string") return outcome;
      if ("push" in outcome) this.#insertAbove(layer, outcome.push);
      else if ("done" in outcome) this.#close(layer, outcome.done);
      return "none";
    }
    return "none";
  }

  #insertAbove(layer: Layer, modal: Modal): void {
    const at = this.#layers.indexOf(layer);
    // It may have been closed while its outcome was not known.
    if (at >= 0) this.#layers.splice(at + 1, 0, { modal });
  }

  #close(layer: Layer, result: unknown): void {
    const at = this.#layers.indexOf(layer);
    if (at < 0) return;
    let end = at + 1;
    while (end < this.#layers.length && this.#layers[end]!.settle === undefined) end++;
    this.#layers.splice(at, end - at);
    layer.settle?.(result);
  }
}
