/** The types of the policy: settings, a call, and the verdict on it. @module */

import { UsageError } from "../errors.ts";
import type { Right } from "../types/confine.ts";
import type { Subject } from "../types/tool.ts";
import type { PathTable } from "./path_table.ts";
import type { Rule, RuledTool, RuleEffect } from "./rules.ts";
import type { NetworkGrant } from "./shell/beginnings.ts";
import type { View } from "./view.ts";

/** The approval modes, strictest first: `plan` only runs sandboxed commands, `never` refuses what `ask` asks about. */
export const APPROVE_MODES = ["plan", "never", "ask", "auto"] as const;
export type ApproveMode = typeof APPROVE_MODES[number];
/** The sandbox modes, strictest first. */
export const SANDBOX_MODES = ["read-only", "workspace-write", "off"] as const;
export type SandboxMode = typeof SANDBOX_MODES[number];

/** Returns the mode of that name, if any. `edits` is another name for `auto`. */
export const modeNamed = <T>(modes: readonly T[], given: unknown): T | undefined =>
  modes.find((one) => one === (given === "edits" ? "auto" : given));

/** Returns the `given` mode, if any. @throws {UsageError} which calls it `name`, if it is not one of `modes`. */
export function modeAmong<T>(modes: readonly T[], given: unknown, name: string): T | undefined {
  const mode = modeNamed(modes, given);
  if (given === undefined || mode !== undefined) return mode;
  throw new UsageError(`Cannot use ${name} as it must be one of ${modes.join(", ")}`);
}

/** One setting of git. Its name has the section and the key in lower case. */
export interface GitSetting {
  /** Its source: `global` is the user's file, `local` the repository's. */
  scope: string;
  name: string;
  value: string;
}

export interface Settings {
  approve: ApproveMode;
  sandbox: SandboxMode;
  rules: readonly Rule[];
  /** True if commands run in bash; other shells read them differently. */
  hasBash(): boolean;
  paths?: PathTable;
  /** Returns the current view, in which commands may also write `written`; missing without a sandbox. */
  view?(written?: string): View;
  /** The last output of sandboxed commands; empty for a command that was granted a folder. */
  outputs?: Map<string, string>;
  network?: boolean;
  networked?: readonly string[];
  /** The absolute folders of PATH that no command writes. Programs outside of the sandbox are searched for there. */
  programs?: readonly string[];
  /** The absolute folders of PATH, which a sandboxed command has. */
  commandPrograms?: readonly string[];
  /** Queries git for what a repository has: settings, hooks and files of remotes, folders for submodules. */
  git?: {
    settings(folder: string): readonly GitSetting[] | undefined;
    named(folder: string): readonly string[];
    submodules(folder: string): readonly string[];
    /** Returns the addresses of a remote that settings name, as git rewrites them; empty for another remote. */
    addresses(folder: string, remote: string, isPush: boolean): readonly string[];
    /** Returns the absolute paths of git's folder, and of the repository that has its settings. */
    folders(folder: string): readonly string[];
    changed(folder: string, name: string, revision: string): readonly string[];
    /** True if a sandboxed program that is running can write a path. */
    isWritten(path: string): boolean;
    /** True if git answers one of these queries in another way now. */
    hasChanged(): boolean;
  };
}

/** The settings that a project, or a folder above, may make stricter. */
export type Strictness = Pick<Settings, "approve" | "sandbox" | "rules">;

export interface PolicyCall extends Omit<Subject, "isFile" | "action"> {
  tool: RuledTool;
  /** The arguments of a call to another program's tool, which rules may name. */
  args?: Readonly<Record<string, unknown>>;
}

/** True for a right that needs no other sandbox than that of all commands. */
export const isUsualRight = (right: Right | undefined): boolean =>
  right === undefined || right.kind === "git" && right.folder === undefined;

/** The decision on a call, with its reason. */
export interface Verdict {
  effect: RuleEffect;
  /** A clause without a subject or a full stop: "is outside of the working directory". */
  reason: string;
  /** The right without which the call would fail in the sandbox. */
  right?: Right;
  /** True if the call may reach a local network, because a rule of the user names its host. */
  mayBePrivate?: true;
  isLossy?: boolean;
  /** True if the call needs something that the view closes. */
  isBeyond?: boolean;
  /** True if the call could run in a sandbox with a writable folder. */
  isKeptReadOnly?: true;
  /** True if the call cannot be understood, and a rule that denies may cover it. */
  mayBeDenied?: boolean;
  /** True if `reason` says only that the call writes or runs something. */
  isRoutine?: boolean;
  isPlanned?: boolean;
  networked?: readonly NetworkGrant[];
  /** For a part of a line. `quiet`: runs if the others are allowed; `words`: a rule allows exactly these words. */
  basis?: "quiet" | "words";
}
