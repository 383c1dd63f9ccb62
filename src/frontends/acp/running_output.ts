/** The output of a command while it runs, as the content of its call. @module */

import type { NewestOutput } from "../../types/tool.ts";
import { newestText } from "../progress.ts";
import { type CallContent, printedText } from "./call_updates.ts";

/** How often the output is looked up, in ms, and the most characters of its end that are shown. */
const OUTPUT_MS = 250;
const MAX_OUTPUT_CHARS = 8000;

/** Shows the end of the output whenever it changed; the editor replaces what it had. */
export class RunningOutput {
  readonly #timer: ReturnType<typeof setInterval>;
  #shown = "";

  constructor(newest: NewestOutput, show: (content: CallContent[]) => void) {
    this.#timer = setInterval(() => {
      const text = newestText(newest, MAX_OUTPUT_CHARS).trimEnd();
      if (text === this.#shown) return;
      this.#shown = text;
      show([printedText(text)]);
    }, OUTPUT_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
