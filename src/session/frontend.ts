/** The seam between a session and what shows it: the session emits data, a frontend draws it. @module */

import type { Elicitation, ElicitationAnswer } from "../mcp/elicitation.ts";
import type { Theme } from "../config.ts";
import type { ToolChange } from "../mcp/server_options.ts";
import type { OfferedRule } from "../permissions/rules.ts";
import type { ApproveMode } from "../permissions/settings.ts";
import type { NetworkGrant } from "../permissions/shell/beginnings.ts";
import type { TurnEvent } from "../types/event.ts";
import type { Way } from "./hint_text.ts";
import type { HeededInstructions, InstructionDoubt, InstructionFile, Notice } from "./report.ts";
import type { ToolCall } from "../types/message.ts";
import type { Resumed } from "./record.ts";
import type { Leave } from "../types/confine.ts";
import type { Change, Job, NewestOutput, Subject, TaskItem } from "../types/tool.ts";

/** A question about one call, as data. */
export interface Approval {
  /** The call; without the arguments that have their default. */
  call: ToolCall;
  subject: Subject;
  /** The name of the sub-agent that makes the call; left out for the agent of the session. */
  subAgent?: string;
  /** The reason for the question, as the end of a sentence that begins with "it". */
  reason: string;
  /** True where `reason` says no more than that the call writes or runs something. */
  isRoutine: boolean;
  /** True where the person asked for the call, by naming a file in a message. */
  isOfPerson: boolean;
  /** The limits that the system sets to a command, in one line; left out where nothing confines it. */
  confinedTo?: string;
  /** The change, which the tool made from the bytes that it will write; left out where it cannot be made. */
  preview?: Change;
  /** The answers that are offered, in order. */
  choices: readonly ApprovalChoice[];
  /** The rules that `session` and `folder` would add. */
  rules?: readonly OfferedRule[];
  /** The file that the rule is for, where the call names one. */
  rulePath?: string;
  /** The part of the sandbox that the command leaves with a yes; left out, it leaves none. */
  leave?: Leave;
  /** The grants of the network that a yes makes for the session. */
  networked?: readonly NetworkGrant[];
}

/** `once` runs the call; `session` and `folder` also remember `rules`; `edit` changes the command first. */
export type ApprovalChoice = "once" | "session" | "folder" | "edit" | "refuse";

/** A person's answer to an {@linkcode Approval}. */
export type ApprovalAnswer =
  | { choice: "once" | "session" | "folder" }
  /** The command as the person changed it: it is decided anew, and asked about again. */
  | { choice: "edit"; command: string }
  /** `reason` is told to the model; empty for none. */
  | { choice: "refuse"; reason: string };

/** The question whether the instructions of a folder are heeded; `doubt` where they were trusted before. */
export interface TrustQuestion {
  type: "trust";
  doubt?: InstructionDoubt;
  files: readonly InstructionFile[];
}

/** The question whether an MCP server that a file defines may be used, or tools of it that changed. */
export interface ServerQuestion {
  type: "server";
  name: string;
  file?: string;
  /** All that decides what runs, and with what: to be shown whole. */
  definition: Readonly<Record<string, unknown>>;
  /** The names of variables whose values it gets. */
  variables: readonly string[];
  /** Of a program: whether it gets the network. */
  network?: boolean;
  /** The tools that are not as they were approved, where the question is about them. */
  changes?: readonly ToolChange[];
}

/** The question whether the hooks that a file of a folder defines may run. */
export interface HooksQuestion {
  type: "hooks";
  file: string;
  /** All that runs, and when: to be shown whole. */
  hooks: readonly { event: string; matcher?: string; command: string; timeoutMs: number }[];
}

/** A question of yes or no. */
export type Confirmation = TrustQuestion | ServerQuestion | HooksQuestion;

/** The state of a session that footers and editors show. */
export interface Status {
  /** The model's name; undefined while it is not known which one the server has. */
  model: string | undefined;
  /** The absolute folder that is worked in. */
  folder: string;
  /** True under `--yes`: nothing is asked. */
  approvesAll: boolean;
  /** The mode of asking, and whether commands are confined; left out until both are known. */
  mode?: { approve: ApproveMode; isConfined: boolean };
  /** Tokens of the conversation; `isCounted` is false for an estimate, `window` the model's room. */
  tokens: { used: number; isCounted: boolean; window: number | undefined };
  /** US dollars so far; undefined while no request had a known price. */
  cost: number | undefined;
  /** The steps of long work, as the model keeps them; empty where it does not. */
  tasks: readonly TaskItem[];
  runningJobs: number;
}

export type SessionEvent =
  | TurnEvent
  /** News beside the turn's own; `notices.ts` has the words. */
  | { type: "session_notice"; notice: Notice }
  /** A command began to run; `newest` looks up what it printed. */
  | { type: "output"; newest: NewestOutput }
  /** A rule was added: for good, where `path` stores it, else for the session; `error`: why it is not stored. */
  | { type: "rule_added"; rule: string; path?: string; error?: string }
  | { type: "job_ended"; job: Job }
  | { type: "instructions"; instructions: HeededInstructions }
  /** The session goes on with the folder's newest conversation; undefined where there was none. */
  | { type: "resumed"; resumed: Resumed | undefined }
  /** The model wrote so many tokens, about, for a command that waits for it. */
  | { type: "command_progress"; tokens: number }
  | ({ type: "status" } & Status);

/** Where the texts of slash commands are read, which have their words and their columns from it. */
export interface Surface {
  way: Way;
  columns: number;
  unicode: boolean;
  /** The key of the next mode of asking, as people write it; left out where there is none. */
  modeKey?: string | undefined;
  /** The theme in force; left out where there are no colours to choose. */
  theme?: Theme;
}

/** A surface that says no more of itself. */
export const PLAIN_SURFACE: Surface = { way: "terminal", columns: 80, unicode: true };

/** The side that shows a session: the terminal, a pipe, an editor. */
export interface Frontend {
  onEvent(event: SessionEvent): void;
  /** Left out, texts are as for a terminal of 80 columns. */
  readonly surface?: Surface;
  /** False for one that has no use for `status` events: what they tell takes a while to count. */
  showsStatus?: boolean;
  /** Asks about a call; without it what would be asked about is refused. */
  approve?(request: Approval, signal: AbortSignal): Promise<ApprovalAnswer>;
  /** Asks yes or no; undefined for no answer. Without it nobody is asked. */
  confirm?(question: Confirmation, signal: AbortSignal): Promise<boolean | undefined>;
  /** Asks for what an MCP server wants to know. Without it servers are told that nobody answers. */
  elicit?:
    | ((question: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>)
    | undefined;
  /** Resolves once more of an answer can be shown; undefined for at once. */
  ready?(): Promise<void> | undefined;
}
