/** Shows the output of a running command as the content of its call. @module */

import type { NewestOutput } from "../../types/tool.ts";
import { newestText } from "../progress.ts";
import { type CallContent, printedText } from "./call_updates.ts";

/** The polling interval in ms, and the maximum number of characters shown. */
const OUTPUT_MS = 250;
const MAX_OUTPUT_CHARS = 8000;

/** Sends the end of the output when it changes. The editor replaces the previous content. */
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
