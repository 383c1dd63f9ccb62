/** Formats a failure as one line. @module */

import type { CopilotConfig } from "../config.ts";
import { BackendError } from "../errors.ts";
import { oneLine } from "../text/one_line.ts";
import { reasonOf } from "../text/reason.ts";
import { hintFor, type Way } from "./hint_text.ts";

/** Returns the message of `error` in one line, followed by a hint if one helps. */
export function failureText(error: unknown, config: CopilotConfig, way: Way): string {
  const why = oneLine(reasonOf(error));
  const hint = error instanceof BackendError ? hintFor(error, config) : undefined;
  if (hint === undefined) return why;
  return `${why}${/[.!?…]$/.test(why) ? "" : "."} ${hint(way)}`;
}
