/** The shapes that a policy works with: settings, a call, and the verdict on it. @module */

import { UsageError } from "../errors.ts";
import type { Leave } from "../types/confine.ts";
import type { Subject } from "../types/tool.ts";
import type { PathTable } from "./path_table.ts";
import type { Rule, RuledTool, RuleEffect } from "./rules.ts";
import type { NetworkGrant } from "./shell/beginnings.ts";
import type { View } from "./view.ts";

/**
 * The modes of asking, strictest first. `plan` writes nothing and runs only what a sandbox holds, `never`
 * refuses the calls that `ask` asks about.
 */
export const APPROVE_MODES = ["plan", "never", "ask", "edits", "auto"] as const;
export type ApproveMode = typeof APPROVE_MODES[number];
/** The modes of the sandbox, strictest first. */
export const SANDBOX_MODES = ["read-only", "workspace-write", "off"] as const;
export type SandboxMode = typeof SANDBOX_MODES[number];

/** The mode that was `given`, if any; a UsageError calls it `name` where it is none of `modes`. */
export function modeAmong<T>(modes: readonly T[], given: unknown, name: string): T | undefined {
  const mode = modes.find((one) => one === given);
  if (given === undefined || mode !== undefined) return mode;
  throw new UsageError(`Cannot use ${name} as it must be one of ${modes.join(", ")}`);
}

/** One setting of git; its name has the section and the key in lower case. */
export interface GitSetting {
  /** Where it is: `global` is the person's file, `local` the repository's. */
  scope: string;
  name: string;
  value: string;
}

/** The settings that are in force for a folder, and what the policy asks the system. */
export interface Settings {
  approve: ApproveMode;
  sandbox: SandboxMode;
  rules: readonly Rule[];
  /** True where commands run in bash; in any other shell they mean something else. */
  hasBash(): boolean;
  /** The secrets and protected files; left out, those that count in every home folder. */
  paths?: PathTable;
  /**
   * Makes the current view of the folder, in which commands may also write the folder `written`; undefined without a
   * sandbox.
   */
  view?(written?: string): View;
  /** The last output of sandboxed commands; empty for a command that has got a folder. */
  outputs?: Map<string, string>;
  /** True where confined commands may use the network. */
  network?: boolean;
  /** The texts of the grants by which commands may use the network in this session. */
  networked?: readonly string[];
  /** The absolute folders of PATH in which no command writes: what starts outside of the sandbox finds programs there. */
  programs?: readonly string[];
  /** Asks git about its settings and hooks in a folder. */
  git?: {
    settings(folder: string): readonly GitSetting[] | undefined;
    hooks(folder: string): readonly string[];
  };
}

/** The settings that a project, or a folder above, may make stricter. */
export type Strictness = Pick<Settings, "approve" | "sandbox" | "rules">;

/** One call of a tool, as far as the policy looks at it. */
export interface PolicyCall extends Omit<Subject, "isFile" | "action"> {
  tool: RuledTool;
  /** The arguments of a call of a tool of another program, which rules may be about. */
  args?: Readonly<Record<string, unknown>>;
}

/** The decision of the settings on a call, with the reason. */
export interface Verdict {
  effect: RuleEffect;
  /** A clause without a subject or a full stop: "is outside of the working directory". */
  reason: string;
  /** The part of the sandbox that is lifted for the call, which could not do its work in it. */
  leave?: Leave;
  /** True where the call may reach a local network, as a rule of the person names its host. */
  mayBePrivate?: true;
  /** True where the call is about what the view leaves out. */
  isBeyond?: boolean;
  /** True where the call could be made in a sandbox whose folder can be written. */
  isKeptReadOnly?: true;
  /** True where the call cannot be understood, and a rule that denies may be about it. */
  mayBeDenied?: boolean;
  /** True where no rule covers the call, for a reason of its own. */
  isUncovered?: true;
  /** True where `reason` says no more than that the call writes or runs something. */
  isRoutine?: boolean;
  /** True where plan mode refuses the call. */
  isPlanned?: boolean;
  /** The grants that a yes to a call that asks for the network makes, for the session. */
  networked?: readonly NetworkGrant[];
  /** Of a part of a line: `quiet` runs beside others that are allowed; a rule allows its very `words`. */
  basis?: "quiet" | "words";
}
