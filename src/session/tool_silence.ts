/** Notices a model that calls no tools where its answers show what tools would do. @module */

import type { TurnResult } from "../types/event.ts";

/** The number of such turns after which it is told. */
const MAX_SILENT_TURNS = 5;

/** Counts the turns of a model that has called no tool, and whose answers have code in place of calls. */
export class ToolSilence {
  #model = "";
  #turns = 0;
  #hasCalled = false;

  /** True once for a model, with the fifth such turn. */
  isNews(model: string, { response, toolExecutions, stopReason }: TurnResult): boolean {
    if (model !== this.#model) [this.#model, this.#turns, this.#hasCalled] = [model, 0, false];
    this.#hasCalled ||= toolExecutions.length > 0;
    if (this.#hasCalled || stopReason !== "done" || !/^ {0,3}(?:```|~~~)/m.test(response)) {
      return false;
    }
    return ++this.#turns === MAX_SILENT_TURNS;
  }
}
