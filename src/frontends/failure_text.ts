/** The line about a turn that failed. @module */

import type { CopilotConfig } from "../config.ts";
import { BackendError } from "../errors.ts";
import { hintFor } from "../session/hints.ts";
import { oneLine } from "../text/one_line.ts";
import { reasonOf } from "../text/reason.ts";
import { hintText, type Way } from "./hint_text.ts";

/** The message of `error` in one line, with a hint where one helps. */
export function failureText(error: unknown, config: CopilotConfig, way: Way): string {
  const message = oneLine(reasonOf(error));
  const hint = error instanceof BackendError ? hintFor(error, config) : undefined;
  if (hint === undefined) return message;
  return `${message}${/[.!?…]$/.test(message) ? "" : "."} ${hintText(hint, way)}`;
}
