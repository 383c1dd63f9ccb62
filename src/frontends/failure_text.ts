/** The line about a turn that failed. @module */

import type { CopilotConfig } from "../config.ts";
import { toldFailure } from "../session/hints.ts";
import { failureWords, type Way } from "./hint_text.ts";

/** The message of `error` in one line, with a hint where one helps. */
export function failureText(error: unknown, config: CopilotConfig, way: Way): string {
  return failureWords(toldFailure(error, config), way);
}
