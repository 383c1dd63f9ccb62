/** Errors that say more of a call than that it failed. @module */

import type { CommandOutput } from "../types/tool.ts";

/** Thrown where a call is refused instead of tried, such as by what should confine its command. */
export class RefusedError extends Error {
  override name = "RefusedError";
}

/** The result of a call that was aborted while it ran. */
export const NOT_FINISHED = "Interrupted by the user: the call did not finish.";

/** Thrown by a command that was aborted, with what it had printed by then. */
export class InterruptedError extends Error {
  override name = "InterruptedError";

  /** @param text the output as the model reads it */
  constructor(text: string, readonly output: CommandOutput, options?: ErrorOptions) {
    super(`${NOT_FINISHED} It printed so far:\n${text}`, options);
  }
}
