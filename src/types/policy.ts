/** The decision whether a call may run. Plain JSON but for functions. @module */

import type { Grant, Prepared, Tool, ToolContext } from "./tool.ts";

/** The decision of a {@linkcode Policy} about one call. */
export type Decision =
  /**
   * `args` replace the arguments of the call, and the model is told. `grant` limits where it goes.
   * `prepared` is the result of the tool's `prepare` for the arguments that will run.
   */
  | { allow: true; args?: Record<string, unknown>; grant?: Grant; prepared?: Prepared }
  /**
   * `reason` goes to the model as the call's result: why it is refused, and what would help. For a
   * person, `summary` says why in a few words, and `explanation` in a sentence.
   */
  | { allow: false; reason: string; summary?: string; explanation?: string };

/** Decides whether a call may run. Every tool call of an agent passes its policy. */
export interface Policy {
  /**
   * Decides one call, whose arguments are already checked. May ask a person; ends by throwing the
   * signal's `reason` when that is aborted.
   */
  decide(
    tool: Tool,
    args: Record<string, unknown>,
    context: ToolContext,
  ): Decision | Promise<Decision>;
}
