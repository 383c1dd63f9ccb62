/** Errors with more information about a call than that it failed. @module */

import type { CommandOutput } from "../types/tool.ts";

/** Thrown if a call is refused without an attempt, for example because the sandbox is missing. */
export class RefusedError extends Error {
  override name = "RefusedError";
}

export const NOT_FINISHED = "Interrupted by the user: the call did not finish.";

export class InterruptedError extends Error {
  override name = "InterruptedError";

  /** @param text the output for the model */
  constructor(text: string, readonly output: CommandOutput, options?: ErrorOptions) {
    super(`${NOT_FINISHED} It printed so far:\n${text}`, options);
  }
}
