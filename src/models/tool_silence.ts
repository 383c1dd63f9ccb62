/** Detects a model that calls no tools although its answers show what tools would do. @module */

import type { TurnResult } from "../types/event.ts";

const MAX_SILENT_TURNS = 5;

/** Counts the turns of a model that has called no tool and answers with code instead. */
export class ToolSilence {
  #model = "";
  #turns = 0;
  #hasCalled = false;

  /** Returns true once per model, at the fifth such turn. */
  isNews(model: string, { response, toolExecutions, stopReason }: TurnResult): boolean {
    if (model !== this.#model) [this.#model, this.#turns, this.#hasCalled] = [model, 0, false];
    this.#hasCalled ||= toolExecutions.length > 0;
    if (this.#hasCalled || stopReason !== "done" || !/^ {0,3}(?:```|~~~)/m.test(response)) {
      return false;
    }
    return ++this.#turns === MAX_SILENT_TURNS;
  }
}
