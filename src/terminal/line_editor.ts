/**
 * The line editor: keys in, one line of text out, the terminal in raw mode in between.
 *
 * @module
 */

import { complete, type Completer, textAround } from "./completion.ts";
import type { KeySource } from "./key_source.ts";
import { layoutLine, type LineFrame } from "./layout.ts";
import { liveRegion } from "./live_region.ts";
import { type LineState, lineState, lineText, withUndo } from "./line_state.ts";
import { press } from "./press.ts";
import { show, stdinKeys } from "./stdin.ts";
import { rawTerminal, terminalSize } from "./tty.ts";

/** How a line is edited. */
export interface EditOptions {
  /** Before the text. */
  prompt: string;
  /** An SGR sequence for the prompt, or empty: no colours at all then. */
  color: string;
  /** What Up and Ctrl-R find, oldest first. */
  history: readonly string[];
  /** Text that is there already. */
  text?: string | undefined;
  /** Enter after a `\` that ends the text begins a new line; false when left out. */
  multiline?: boolean | undefined;
  /** Answers Tab; without one Tab rings the bell. */
  completer?: Completer | undefined;
  /** With `"clear"`, Ctrl-C clears a line that is not empty, and only an empty one ends. */
  interrupt?: "cancel" | "clear" | undefined;
  /** Drops what was typed before the prompt is there: for questions that must not be answered by
   * accident. */
  dropTypeAhead?: boolean | undefined;
  /** Ends the editing: the result is null. */
  signal?: AbortSignal | undefined;
  /** Where the keys come from: stdin when left out. */
  keys?: KeySource | undefined;
}

/** What was killed in earlier lines: Ctrl-Y brings it back in later ones. */
let kills: LineState["kills"] = [];

/** Edits one line; null on Ctrl-C, on Ctrl-D at an empty line, and at the end of the input. */
export async function editLine(options: EditOptions): Promise<string | null> {
  const { prompt, color, history, text, multiline = false, signal, keys = stdinKeys() } = options;
  let state = lineState({ history, text, kills, multiline });
  const region = liveRegion(show, terminalSize, reflowsRows());
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
    // All of the text stays in the scrollback, nothing of searches and menus.
    state = { ...state, cursor: state.units.length, search: undefined, menu: undefined };
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
  for (;;) {
    // What came in one piece is shown in one go.
    if (!keys.ready) draw();
    const key = await keys.next(signal);
    const pressed = key === null ? { state, effect: "end" as const } : press(state, key);
    ({ state } = pressed);
    kills = state.kills;
    switch (pressed.effect) {
      case "submit":
        finish();
        return lineText(state);
      case "cancel":
        if (options.interrupt === "clear" && state.units.length > 0) {
          state = withUndo(state, { ...state, units: [], cursor: 0, entry: history.length });
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
        const completed = await completedBy(options.completer, state);
        if (completed === undefined) show("\x07");
        else state = completed;
        break;
      }
      case "bell":
        show("\x07");
    }
  }
}

async function completedBy(
  completer: Completer | undefined,
  state: LineState,
): Promise<LineState | undefined> {
  try {
    return complete(state, await completer?.(...textAround(state)));
  } catch {
    return undefined; // whatever is wrong with it, the text is safe
  }
}

/** Whether the terminal breaks rows that a smaller window makes too long; few do not. */
export function reflowsRows(env: { get(name: string): string | undefined } = Deno.env): boolean {
  return env.get("XTERM_VERSION") === undefined && env.get("TERM") !== "linux" &&
    (env.get("STY") === undefined || env.get("TMUX") !== undefined);
}
