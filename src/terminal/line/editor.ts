/**
 * The line editor: keys in, one line of text out, the terminal in raw mode in between.
 *
 * @module
 */

import { type Completer, completeWith } from "./completion.ts";
import { asPressed } from "./keys.ts";
import { layoutLine, type LineFrame } from "../screen/layout.ts";
import { liveRegion } from "../screen/live_region.ts";
import { cleared, finished, type LineState, lineState, lineText } from "./state.ts";
import { press } from "./press.ts";
import { show, stdinKeys } from "../stdin.ts";
import { rawTerminal } from "../tty.ts";

/** Options of `readInput` and `readLineRaw`. */
export interface ReadOptions {
  /** Ends the reading: the result is null. */
  signal?: AbortSignal | undefined;
  /** Answers Tab; without one Tab rings the bell. */
  completer?: Completer | undefined;
  /**
   * Drops what was typed before the prompt is there, where a terminal is edited on: for questions
   * that must not be answered by accident.
   */
  dropTypeAhead?: boolean | undefined;
  /** With `"clear"`, Ctrl-C clears a line that is not empty, and only at an empty one gives null. */
  interrupt?: "cancel" | "clear" | undefined;
}

/** How a line is edited. */
export interface EditOptions extends ReadOptions {
  /** Before the text. */
  prompt: string;
  /** An SGR sequence for the prompt, or empty: no colours at all then. */
  color: string;
  /** What Up and Ctrl-R find, oldest first. */
  history: readonly string[];
  /** Enter after a `\` that ends the text begins a new line; false when left out. */
  multiline?: boolean | undefined;
}

/** What was killed in earlier lines: Ctrl-Y brings it back in later ones. */
let kills: LineState["kills"] = [];

/** Edits one line; null on Ctrl-C, on Ctrl-D at an empty line, and at the end of the input. */
export async function editLine(options: EditOptions): Promise<string | null> {
  const { prompt, color, history, multiline = false, signal } = options;
  const keys = stdinKeys();
  let state = lineState({ history, kills, multiline });
  const region = liveRegion();
  let top = 0;
  const layout = (maxRows: number, columns: number): LineFrame =>
    layoutLine(state, { prompt, color, columns, maxRows, top });
  const draw = () =>
    region.paint(({ columns, rows }) => {
      const frame = layout(rows, columns);
      top = frame.top;
      return frame;
    });
  const finish = () => {
    state = finished(state);
    region.commit(({ columns }) => layout(Infinity, columns));
  };
  using terminal = rawTerminal({
    onRedraw(resumed) {
      if (resumed) region.reset();
      draw();
    },
    onLeave: () => region.below(),
  });
  if (options.dropTypeAhead) await keys.discard(signal);
  const began = performance.now();
  for (;;) {
    // What came in one piece is shown in one go.
    if (!keys.ready) draw();
    const key = await keys.next(signal);
    const pressed = key === null
      ? { state, effect: "end" as const }
      : press(state, asPressed(key, performance.now() - began));
    ({ state } = pressed);
    kills = state.kills;
    switch (pressed.effect) {
      case "submit":
        finish();
        return lineText(state);
      case "cancel":
        if (options.interrupt === "clear" && state.units.length > 0) {
          state = cleared(state);
          break;
        }
        finish();
        return null;
      case "end":
        finish();
        return null;
      case "clear":
        region.clearScreen();
        break;
      case "suspend":
        await terminal.suspend();
        break;
      case "complete": {
        const completed = await completeWith(options.completer, state);
        if (completed === undefined) show("\x07");
        else state = completed;
        break;
      }
      case "bell":
        show("\x07");
    }
  }
}
