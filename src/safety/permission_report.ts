/** The reports of permissions: notices, the mode, and the settings of a folder. @module */

import type { Rule } from "./rules.ts";
import type { ApproveMode, SandboxMode, Strictness } from "./settings.ts";

/** News about permissions that the user has not asked for. */
export type PermissionNotice =
  /** Settings in the folder that only the user may set: servers and keys. */
  | { code: "settings_unheeded"; names: readonly string[] }
  /** A variable that the user passes to commands contains the model's key, and is removed. */
  | { code: "key_withheld"; variable: string }
  /** The modes that a project file made stricter, and the number of rules that it added. */
  | {
    code: "project_stricter";
    file: string;
    modes: Partial<Pick<Strictness, "approve" | "sandbox">>;
    rules: number;
  }
  | { code: "project_ignored"; file: string; settings: readonly string[] }
  /** A folder is not completely searched yet: until then, parts of it are closed to commands. */
  | { code: "look_incomplete"; folder: string }
  /** Commands do not get a path of `sandboxRead` or `sandboxWrite`: it is missing, or behind a link they may have made. */
  | { code: "path_missing"; by: string; path: string; isMade?: true }
  /** Files that a sandboxed command left were undone or put aside. */
  | { code: "mended"; why: string }
  /** Commands are refused because the sandbox that they need does not work. */
  | { code: "sandbox_missing"; why: string }
  /** Commands run without a sandbox, because it does not work or the user has not enabled it. */
  | { code: "sandbox_off"; why?: string; isAsked?: boolean };

/** The mode, and how commands are sandboxed. */
export interface ModeStatus {
  approve: ApproveMode;
  isSandboxed: boolean;
  /** True if a sandbox does not write the working directory, and the mode is not plan mode. */
  isReadOnly?: true;
  hasNetwork?: true;
}

/** The permissions of a folder; with `by` and `why` if commands have to be sandboxed. */
export interface PermissionReport extends SandboxStatus {
  approve: ApproveMode;
  yes: boolean;
  env: readonly string[];
  /** The command prefixes that may use the network in this session. */
  networked: readonly string[];
  rules: readonly Pick<Rule, "effect" | "text" | "origin" | "isForSandbox">[];
  file?: string | undefined;
}

export interface SandboxStatus {
  mode: SandboxMode;
  network: boolean;
  by?: string;
  why?: string;
  /** How to change the machine so that one works, if known. */
  advice?: string | undefined;
}
