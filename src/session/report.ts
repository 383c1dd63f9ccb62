/** Reports of slash commands, permissions and instructions, as data: frontends make the text. @module */

import type { contextParts } from "../agent/tokens.ts";
import type { RuleEffect } from "../permissions/rules.ts";
import type { ApproveMode, SandboxMode } from "../permissions/settings.ts";
import type { Usage } from "../types/event.ts";
import type { Resumed, SessionTitle } from "./record.ts";
import type { UndoReport } from "./undo.ts";
import type { Job } from "../types/tool.ts";

/** A slash command, as a help or an editor lists it. */
export interface CommandInfo {
  /** Without the slash; letters, digits, `-` and `:`. */
  name: string;
  /** The name of its argument, such as `[NAME]`; left out for none. */
  argument?: string;
  help: string;
  /** True where it waits for the model or its server. */
  isSlow?: true;
}

/** The result of one command. */
export type Report =
  /** The session is to end. */
  | { type: "leave" }
  /** One sentence: what the command did, or why it could not. */
  | { type: "message"; message: string }
  | { type: "commands"; commands: readonly CommandInfo[] }
  | { type: "tools"; tools: readonly { name: string; description: string }[] }
  /** The lines that were typed, oldest first. */
  | { type: "history"; entries: readonly string[] }
  /** Tokens of the session; `last` is the newest request. */
  | {
    type: "tokens";
    inputTokens: number;
    outputTokens: number;
    cost: number | undefined;
    last: Usage | undefined;
  }
  | ({ type: "context" } & ReturnType<typeof contextParts>)
  /** The models of the server; `failure` is why it does not list them. */
  | {
    type: "models";
    models: readonly { name: string; isCurrent: boolean }[];
    model: string;
    server: string;
    failure?: string;
  }
  /** The model is another; `isListed` is whether the server names it. */
  | { type: "model"; model: string; server: string; isListed: boolean; failure?: string }
  /** The folder that is worked in; `change` is what came with another one. */
  | {
    type: "folder";
    folder: string;
    change?: { notices: readonly PermissionNotice[]; instructions: HeededInstructions };
  }
  /** The person trusts the folder's instructions from now on, or does not. */
  | { type: "trust"; instructions: HeededInstructions }
  /** The stored sessions of the folder, newest first. */
  | { type: "sessions"; sessions: readonly SessionTitle[] }
  /** The session goes on with a stored conversation. */
  | { type: "resumed"; resumed: Resumed }
  /** A message was taken back or brought back; without `undone`, there was none. */
  | { type: "undone"; way: UndoReport["way"]; undone: UndoReport | undefined }
  | { type: "permissions"; permissions: PermissionReport }
  /** Jobs, and of one of them the end of its output. */
  | { type: "jobs"; jobs: readonly Job[]; output?: string };

/** A notice about the permissions of a run. */
export interface PermissionNotice {
  /**
   * `settings_unheeded`, `project_ignored`: of what the folder brings, this does not count.
   * `project_stricter`: that counts. `key_withheld`: commands never get the model's key.
   * `sandbox_missing`: commands are refused. `sandbox_off`: nobody said that they run unconfined.
   */
  code:
    | "settings_unheeded"
    | "key_withheld"
    | "project_stricter"
    | "project_ignored"
    | "sandbox_missing"
    | "sandbox_off";
  /** The notice in one line. */
  message: string;
}

/** The permissions in force for a folder; with `by` and `why` where commands are to be confined. */
export interface PermissionReport extends SandboxStatus {
  approve: ApproveMode;
  /** True where calls that would be asked about simply run. */
  yes: boolean;
  /** Variables that commands get though they look like credentials. */
  env: readonly string[];
  rules: readonly { effect: RuleEffect; text: string }[];
  /** The person's own settings file. */
  file?: string;
  /** True or false where the person said whether the folder may instruct the model. */
  trust?: boolean;
}

/** The sandbox of this machine, whether it is wanted or not. */
export interface SandboxStatus {
  mode: SandboxMode;
  /** True where confined commands may use the network. */
  network: boolean;
  /** The program that would confine commands, such as `bubblewrap`. */
  by?: string;
  /** The reason why none works here. */
  why?: string;
}

/** The instructions that a folder brings, and whether the model gets them. */
export interface HeededInstructions {
  /** The files by their paths relative to the working directory, with their sizes in lines. */
  files: readonly { name: string; lines: number }[];
  /** Files that are never heeded: links that lead out of the folder, or to a secret. */
  refused: readonly { name: string; reason: "outside" | "secret" }[];
  /** True where they are heeded, or there are none; false where the person said no, undefined where nobody said. */
  isHeeded: boolean | undefined;
  /** The reason why the person's answer could not be saved. */
  unsaved?: string;
}

export const sentence = (message: string): Report => ({ type: "message", message });
