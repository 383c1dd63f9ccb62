/**
 * What decides whether a call may run. Plain JSON but for functions.
 *
 * @module
 */

import type { Grant, Prepared, Tool, ToolContext } from "./tool.ts";

/** What a {@linkcode Policy} says of one call. */
export type Decision =
  /**
   * `args`: what to run instead of what was asked for; the model is told. `grant`: how far it goes.
   * `prepared`: what the tool's `prepare` made for the arguments that will run.
   */
  | { allow: true; args?: Record<string, unknown>; grant?: Grant; prepared?: Prepared }
  /**
   * `reason` goes to the model as the call's result: why, and what would help. For a person:
   * `summary`, why in a few words, and `explanation`, why in a sentence.
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
