/** A question of one line, asked in place of the input line. @module */

import { LineModal, type LineModalOptions } from "../line/line_modal.ts";
import type { Key } from "../line/keys.ts";
import { lineState, lineText } from "../line/state.ts";
import type { TerminalSize } from "../tty.ts";
import { unitsText } from "../units.ts";
import type { Frame } from "./frame.ts";
import type { Outcome } from "./modal.ts";

export interface SessionLineOptions extends LineModalOptions {
  /** Prints whole lines. */
  append: (lines: string) => void;
  columns: () => number;
}

interface QuestionModalOptions extends SessionLineOptions {
  /** Text that was printed before it. */
  context: string;
  /** The text that the answer begins with. */
  text: string;
  /** A sentence on why a line is no answer, which is printed, and the question stays. */
  objection: (line: string) => string | undefined;
  /** Ctrl-C or Escape. */
  onCancel: () => void;
  /** True where dots are shown in place of the answer. */
  isHidden?: boolean;
}

/** The most dots for a hidden answer: they show that keys arrive, and hardly how long it is. */
const MAX_DOTS = 12;

/** A question; its result is the line typed, which its objection accepted. */
export class QuestionModal extends LineModal<string, QuestionModalOptions> {
  readonly context = this.options.context;

  constructor(options: QuestionModalOptions) {
    super(lineState({ multiline: false, text: options.text }), options);
  }

  override layout(size: TerminalSize): Frame {
    return this.options.isHidden ? this.whole(size.columns) : super.layout(size);
  }

  override whole(columns: number, state = this.state): Frame {
    const { isHidden, unicode = true } = this.options;
    if (!isHidden) return super.whole(columns, state);
    const dots = (unicode ? "•" : "*").repeat(Math.min(MAX_DOTS, unitsText(state.units).length));
    return super.whole(columns, lineState({ text: dots }));
  }

  override press(key: Key): Outcome<string> {
    return key.name === "escape" ? this.leave("cancel") : super.press(key);
  }

  protected override leave(how: "submit" | "cancel" | "end"): Outcome<string> {
    const { append, columns, objection, onCancel } = this.options;
    append(this.wholeText(columns()));
    if (how === "cancel") onCancel();
    if (how !== "submit") return { done: null };
    const text = lineText(this.state);
    const wrong = objection(text);
    if (wrong === undefined) return { done: text };
    append(`${wrong}\n`);
    this.state = lineState({ multiline: false });
    return "none";
  }
}
