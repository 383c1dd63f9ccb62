/** The decision whether a call may run, as plain JSON apart from functions. @module */

import type { Right } from "./confine.ts";
import type { Grant, Prepared, Tool, ToolContext } from "./tool.ts";

/** The decision of a {@linkcode Policy} about one call. */
export type Decision =
  /**
   * `args` replace the call's arguments, which the model can see. `grant` limits the call. `prepared` belongs to
   * `args`. `right` is a right beyond the sandbox. `mayBePrivate` is as in a tool's context.
   */
  | {
    allow: true;
    args?: Record<string, unknown>;
    /** True if a hook changed the arguments, not the user. */
    isByHook?: true;
    grant?: Grant;
    prepared?: Prepared;
    right?: Right;
    mayBePrivate?: true;
  }
  /** `reason` is for the model. `summary` (a few words) and `explanation` (a sentence) are for the user. */
  | { allow: false; reason: string; summary?: string; explanation?: string };

/** Decides whether a call may run. Every tool call of an agent passes its policy. */
export interface Policy {
  /** Decides on one call with checked arguments. May ask the user. Throws the `reason` of an abort. */
  decide(
    tool: Tool,
    args: Record<string, unknown>,
    context: ToolContext,
  ): Decision | Promise<Decision>;
}
