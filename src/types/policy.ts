/** The decision whether a call may run. Plain JSON but for functions. @module */

import type { Leave } from "./confine.ts";
import type { Grant, Prepared, Tool, ToolContext } from "./tool.ts";

/** The decision of a {@linkcode Policy} about one call. */
export type Decision =
  /**
   * `args` replace the call's, and the model is told; `grant` limits it; `prepared` is for `args`;
   * `leave` is what of the sandbox does not hold for it; `mayBePrivate` as a tool's context has it.
   */
  | {
    allow: true;
    args?: Record<string, unknown>;
    grant?: Grant;
    prepared?: Prepared;
    leave?: Leave;
    mayBePrivate?: true;
  }
  /** `reason` goes to the model; for a person, `summary` is a few words, `explanation` a sentence. */
  | { allow: false; reason: string; summary?: string; explanation?: string };

/** Decides whether a call may run. Every tool call of an agent passes its policy. */
export interface Policy {
  /** Decides one call with checked arguments; may ask a person. Throws the `reason` of an abort. */
  decide(
    tool: Tool,
    args: Record<string, unknown>,
    context: ToolContext,
  ): Decision | Promise<Decision>;
}
