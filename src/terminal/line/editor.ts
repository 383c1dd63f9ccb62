/** The line editor: keys in, one line of text out, the terminal in raw mode in between. @module */

import { processTerminal } from "../terminal.ts";
import { LiveOutput } from "../screen/live_output.ts";
import { ModalStack, type Outcome } from "../screen/modal.ts";
import { ModalDriver } from "../screen/modal_driver.ts";
import { makeSane } from "../tty.ts";
import type { Completer } from "./completion.ts";
import { LineModal, type LineModalOptions } from "./line_modal.ts";
import { cleared, type KillRing, lineState, lineText } from "./state.ts";

/** Options of `readInput` and `readLineRaw`. */
export interface ReadOptions {
  /** Ends the reading: the result is null. */
  signal?: AbortSignal | undefined;
  /** Answers Tab; without one Tab rings the bell. */
  completer?: Completer | undefined;
  /** Drops what was typed before the prompt is there: no question is answered by accident. */
  dropTypeAhead?: boolean | undefined;
  /** With `"clear"`, Ctrl-C clears a line that is not empty, and only at an empty one gives null. */
  interrupt?: "cancel" | "clear" | undefined;
}

interface EditOptions extends ReadOptions, Pick<LineModalOptions, "prompt" | "color"> {
  /** The texts that Up and Ctrl-R find, oldest first. */
  history: readonly string[];
  /** Enter after a `\` that ends the text begins a new line. */
  multiline: boolean;
}

/** The kill ring that all lines share. */
const ring: { kills: KillRing } = { kills: [] };

/** Edits one line; null on Ctrl-C, on Ctrl-D at an empty line, and at the end of the input. */
export async function editLine(options: EditOptions): Promise<string | null> {
  const { dropTypeAhead, signal, history, multiline } = options;
  const terminal = processTerminal();
  const line = new EditedLine(lineState({ history, multiline }), { ...options, ring });
  const modals = new ModalStack();
  const text = modals.open(line);
  const output = new LiveOutput(terminal, (size) => modals.layout(size), (error) => {
    throw error;
  });
  await makeSane();
  using driver = new ModalDriver({ terminal, modals, output });
  if (dropTypeAhead) await terminal.keys.discard(signal);
  await driver.run(signal);
  modals.closeAll();
  output.commit(({ columns }) => line.whole(columns));
  return await text;
}

class EditedLine extends LineModal<string, EditOptions & LineModalOptions> {
  protected override leave(how: "submit" | "cancel" | "end"): Outcome<string> {
    if (how === "submit") return { done: lineText(this.state) };
    const clears = how === "cancel" && this.options.interrupt === "clear";
    if (!clears || this.state.units.length === 0) return { done: null };
    this.state = cleared(this.state);
    return "none";
  }
}
