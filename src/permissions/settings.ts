/**
 * What a policy is made of: what a person settled on, a call, and what becomes of it.
 *
 * @module
 */

import type { ToolAccess } from "../types/tool.ts";
import type { Effect, Rule } from "./rules.ts";

/** When to ask, strictest first; `never` refuses what `ask` asks about. */
export const APPROVE_MODES = ["never", "ask", "edits", "auto"] as const;
export type ApproveMode = typeof APPROVE_MODES[number];

/** What commands may touch, strictest first. */
export const SANDBOX_MODES = ["read-only", "workspace-write", "off"] as const;
export type SandboxMode = typeof SANDBOX_MODES[number];

/** What a person has settled on. */
export interface Settings {
  approve: ApproveMode;
  sandbox: SandboxMode;
  rules: readonly Rule[];
  /** Whether programs may heed what the folder configures, such as `.git/config`. */
  isTrusted: boolean;
  /** Whether commands run in bash; in any other shell they mean something else. */
  hasBash: boolean;
  /** Whether the folder brings the program, so that a name that is known says nothing of what runs. */
  isBrought?(program: string): boolean;
  /** Whether the program is the system's own, so that no manager of versions stands in for it. */
  isSystem?(program: string): boolean;
  /** Whether there may be secrets at or below a path; taken for true without it. */
  mayHoldSecrets?(path: string): boolean;
  /** What a pattern comes to, relative to the folder that it is for; undefined where nobody can say. */
  matchesOf?(folder: string, pattern: string): string[] | undefined;
}

/** One call, as far as it matters here. */
export interface Call {
  tool: { name: string; access: ToolAccess };
  /** The file or folder that it names. */
  path?: string;
  /** The command line that it runs. */
  command?: string;
}

/** What is to happen to a call, and why. */
export interface Verdict {
  effect: Effect;
  /** A clause without a subject or a full stop: "is outside of the working directory". */
  reason: string;
  /** True where `reason` says no more than that the call writes or runs something. */
  isRoutine?: boolean;
}
