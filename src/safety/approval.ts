/** A question about a call, its answer, and the frontend that answers it. @module */

import type { Right } from "../types/confine.ts";
import type { ToolCall } from "../types/message.ts";
import type { Change, Subject } from "../types/tool.ts";
import type { PermissionNotice } from "./permission_report.ts";
import type { OfferedRule } from "./rules.ts";
import type { NetworkGrant } from "./shell/beginnings.ts";

/** A question about one call, as data. */
export interface Approval {
  /** The call, without arguments that have their default value. */
  call: ToolCall;
  subject: Subject;
  /** The name of the sub-agent that makes the call; missing for the main agent. */
  subAgent?: string;
  /** The reason for the question: the end of a sentence that starts with "it". */
  reason: string;
  /** True if `reason` only says that the call writes or runs something. */
  isRoutine: boolean;
  /** True if the call may destroy work, or needs what the sandbox closes. */
  isDanger?: true;
  /** True if the call may destroy work. */
  isLossy?: true;
  /** True if the user asked for the call by naming a file in a message. */
  isFromUser: boolean;
  /** How the command is sandboxed, in one line; missing without a sandbox. */
  confinedTo?: string;
  /** The change, made by the tool from the bytes that it will write; missing if there is no preview. */
  preview?: Change;
  /** The changes that `preview` joins, if there are several files. */
  previews?: readonly Change[];
  choices: readonly ApprovalChoice[];
  /** The rules that `session` and `folder` would add. */
  rules?: readonly OfferedRule[];
  /** The file that the rule is for, if the call names one. */
  rulePath?: string;
  /** True if `session` allows all edits in the folder, instead of adding `rules`. */
  allowsEdits?: true;
  /** The right beyond the sandbox that a yes gives the command. */
  right?: Right;
  /** The paths of the programs that get this access, as far as they are found. */
  programs?: readonly string[];
  /** The network access that a yes allows for the session. */
  networked?: readonly NetworkGrant[];
}

/** `once` runs the call; `session` and `folder` also add `rules`; `edit` changes the command first. */
export type ApprovalChoice = "once" | "session" | "folder" | "edit" | "refuse";

export type ApprovalAnswer =
  | { choice: "once" | "session" | "folder" }
  /** The command as edited by the user. It is checked against the rules and then runs. */
  | { choice: "edit"; command: string }
  /** The model reads `reason`; it may be empty. */
  | { choice: "refuse"; reason: string };

/** A rule was added that allows the calls `words`: permanently if `path` stores it. `error`: why it was not saved. */
export interface RuleAdded {
  type: "rule_added";
  rule: string;
  words: string;
  path?: string;
  error?: string;
}

/** The part of a frontend that permissions use. */
export interface Approver {
  onEvent(event: RuleAdded | { type: "session_notice"; notice: PermissionNotice }): void;
  /** Asks about a call. Without it, calls that need approval are refused. */
  approve?(request: Approval, signal: AbortSignal): Promise<ApprovalAnswer>;
}
