/** Presses keys, given as a terminal sends them, on a line and its modals. @module */

import { keymapOf } from "../../../../src/ui/terminal/line/actions.ts";
import { type Key, KeyDecoder } from "../../../../src/ui/terminal/line/keys.ts";
import { LineModal, type LineModalOptions } from "../../../../src/ui/terminal/line/line_modal.ts";
import { press } from "../../../../src/ui/terminal/line/press.ts";
import {
  type LineEffect,
  type LineState,
  lineState,
  lineText,
} from "../../../../src/ui/terminal/line/state.ts";
import { ModalStack, type Outcome } from "../../../../src/ui/terminal/screen/modal.ts";
import { unitsText } from "../../../../src/ui/terminal/units.ts";

const KEYMAP = keymapOf({ "ctrl-t": "transpose-chars" });

export class PressedLine extends LineModal<never> {
  readonly modals = new ModalStack();
  /** The effects of the keys pressed last, but for `"none"` and searches. */
  effects: LineEffect[] = [];
  readonly sent: string[] = [];

  constructor(
    state: LineState = lineState(),
    readonly look: Partial<LineModalOptions> = {},
  ) {
    const ring = { kills: state.kills };
    super(state, Object.assign(look, { prompt: "> ", sgr: () => "", ring, keymap: KEYMAP }));
    this.modals.open(this);
  }

  protected override pressLine(key: Key): Outcome<never> {
    const { effect } = press(this.state, key, KEYMAP);
    if (effect !== "none" && !effect.startsWith("search")) this.effects.push(effect);
    return super.pressLine(key);
  }

  protected override leave(how: string): Outcome<never> {
    if (how === "submit") this.sent.push(lineText(this.state));
    return "none";
  }
}

export async function pressAll(keys: string, line = new PressedLine()): Promise<PressedLine> {
  const decoder = new KeyDecoder();
  const decoded = [...decoder.push(new TextEncoder().encode(keys)), ...decoder.flush()];
  const all = decoded.flatMap((key): Key[] =>
    key.type === "text" ? Array.from(key.text, (text) => ({ type: "text", text })) : [key]
  );
  line.effects = [];
  for (const key of all) await line.modals.press(key);
  return line;
}

/** The text with `|` where the cursor is. */
export function shown(state: LineState): string {
  const before = unitsText(state.units.slice(0, state.cursor));
  return `${before}|${lineText(state).slice(before.length)}`;
}
