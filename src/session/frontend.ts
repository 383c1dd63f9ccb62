/** The interface between a session and its display: the session emits data, a frontend draws it. @module */

import type { Elicit } from "./form.ts";
import type { Theme } from "../config.ts";
import type { TurnEvent } from "../types/event.ts";
import type { UiKind } from "./hint_text.ts";
import type { InstructionFile, LoadedInstructions, Notice } from "./data.ts";
import type { Approver, RuleAdded } from "../safety/approval.ts";
import type { Brought } from "../safety/folder_trust.ts";
import type { ModeStatus } from "../safety/permission_report.ts";
import type { Part } from "../types/message.ts";
import type { ResumedSession } from "./record.ts";
import type { Job, NewestOutput, TaskItem } from "../types/tool.ts";

/** A yes-or-no question about what a folder brings. */
export interface Confirmation {
  kind: Brought["kind"];
  /** Everything that a yes covers, except `files`. */
  text: string;
  title: string;
  /** The files that it is about: their text, or what changed since the last answer. */
  files: readonly InstructionFile[];
  /** The file that brings it, if it is not one of `files`. */
  path?: string;
}

export interface Status {
  /** The model's name; undefined while the server's model is unknown. */
  model: string | undefined;
  folder: string;
  /** The branch of git that is checked out there; undefined outside of a repository. */
  branch?: string | undefined;
  /** True under `--yes`: asks only about what the sandbox closes, and what a rule that denies may cover. */
  approvesAll: boolean;
  mode?: ModeStatus;
  /** Tokens in the context. `isCounted` is false for an estimate; `window` is the model's limit. */
  tokens: { used: number; isCounted: boolean; window: number | undefined };
  /** US dollars so far; undefined until a request has a known price. */
  cost: number | undefined;
  /** The tokens per second of the newest long answer, if it was measured. */
  speed?: number | undefined;
  tasks: readonly TaskItem[];
  runningJobs: number;
  /** The check at the end of turns, and its run in this turn: 0 before the first. */
  check?: { command: string; round: number; rounds: number };
}

export type SessionEvent =
  | TurnEvent
  /** News outside of the turn's events. `notices.ts` has the wording. */
  | { type: "session_notice"; notice: Notice }
  /** A command started. `newest` returns the end of its output. */
  | { type: "output"; newest: NewestOutput }
  | RuleAdded
  | { type: "job_ended"; job: Job }
  | { type: "instructions"; instructions: LoadedInstructions }
  /** The session resumes an earlier one. `resumed` is undefined if the newest one was requested and the folder has no session. */
  | { type: "resumed"; resumed: ResumedSession | undefined }
  /** The approximate number of tokens written for a command that waits for the model. */
  | { type: "command_progress"; tokens: number }
  | ({ type: "status" } & Status);

/** Where the texts of slash commands are read. It decides their wording and width. */
export interface Surface {
  kind: UiKind;
  columns: number;
  theme?: Theme;
}

export const PLAIN_SURFACE: Surface = { kind: "terminal", columns: 80 };

export interface Frontend extends Approver {
  onEvent(event: SessionEvent): void;
  readonly surface?: Surface;
  /** False skips `status` events, which are slow to compute. */
  showsStatus?: boolean;
  /** Asks yes or no; undefined if there is no answer. Without it, no question is asked. */
  confirm?(question: Confirmation, signal: AbortSignal): Promise<boolean | undefined>;
  /** Asks for the input of a program. Without it, the answer is that the user cannot be asked. */
  elicit?: Elicit | undefined;
  /** Takes the messages that the user sent during the turn. Without it, they wait for the next turn. */
  steering?(): readonly (readonly Part[])[];
  /** Resolves when more of an answer can be shown; undefined for now. */
  ready?(): Promise<void> | undefined;
}
