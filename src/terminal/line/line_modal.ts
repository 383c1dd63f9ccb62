/** A line of input as a modal: the editor of messages, answers and the library's lines. @module */

import { brokenRow, rowsText } from "../styled.ts";
import { layoutLine, type LayoutOptions } from "./line_layout.ts";
import type { Frame } from "../screen/frame.ts";
import type { Modal, Outcome } from "../screen/modal.ts";
import type { TerminalSize } from "../tty.ts";
import { type Completer, completeWith, MenuModal } from "./completion.ts";
import type { Key } from "./keys.ts";
import { press } from "./press.ts";
import { SearchModal } from "./search.ts";
import { type KillRing, type LineState, withKills } from "./state.ts";

/** The prompt and the keys of a line. */
export interface LineModalOptions extends Pick<LayoutOptions, "prompt" | "color"> {
  /** Answers Tab; without one Tab rings the bell. */
  completer?: Completer | undefined;
  /** The kill ring that several lines share. */
  ring: { kills: KillRing };
}

/** A line of input; the results of its keys are left to {@linkcode LineModal.leave}. */
export abstract class LineModal<T, Options extends LineModalOptions = LineModalOptions>
  implements Modal<T> {
  /** The search that is open on the line. */
  search: SearchModal | undefined;
  /** The first row of the text that is shown. */
  #top = 0;
  constructor(public state: LineState, protected readonly options: Options) {}

  layout(size: TerminalSize): Frame {
    return this.layoutAs(this.options.prompt, size);
  }

  /** The rows with another prompt. */
  layoutAs(prompt: string, { columns, rows }: TerminalSize): Frame {
    const { color } = this.options;
    const frame = layoutLine(this.state, { prompt, color, columns, maxRows: rows, top: this.#top });
    this.#top = frame.top;
    return frame;
  }

  press(key: Key): Outcome<T> {
    const { ring } = this.options;
    const { state, effect } = press(withKills(this.state, ring.kills), key);
    this.state = state;
    ring.kills = state.kills;
    switch (effect) {
      case "submit":
      case "cancel":
      case "end":
        return this.leave(effect);
      case "complete":
        return { later: this.#complete() };
      case "search-back":
      case "search-forward":
        return { push: this.search = new SearchModal(this, effect === "search-back" ? -1 : 1) };
      case "ignored":
        return "none";
    }
    return effect;
  }

  /** Enter, Ctrl-C, or Ctrl-D at an empty line was pressed. */
  protected abstract leave(how: "submit" | "cancel" | "end"): Outcome<T>;

  /** All rows of a line, as it goes into the scrollback of a terminal of `columns`. */
  whole(columns: number, state = this.state): Frame {
    const finished = { ...state, cursor: state.units.length };
    return layoutLine(finished, { ...this.options, columns, maxRows: Infinity });
  }

  /** The same as text, broken at spaces. */
  wholeText(columns: number, state = this.state): string {
    const { rows } = this.whole(Infinity, state);
    return rowsText(rows.flatMap((row) => brokenRow(row, columns)));
  }

  async #complete(): Promise<Outcome<T>> {
    const completed = await completeWith(this.options.completer, this.state);
    if (completed === undefined) return "bell";
    this.state = completed.state;
    if (completed.menu === undefined) return "none";
    return { push: new MenuModal(this, completed.menu, this.options.color && "\x1b[2m") };
  }
}
