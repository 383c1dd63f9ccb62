/** Reports of slash commands, permissions and instructions, as data: frontends make the text. @module */

import type { contextParts } from "../agent/tokens.ts";
import type { RuleEffect } from "../permissions/rules.ts";
import type { ApproveMode, SandboxMode } from "../permissions/settings.ts";
import type { DiffLine } from "../text/diff.ts";
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
  | { type: "leave" }
  /** One sentence: what the command did, or why it could not. */
  | { type: "message"; message: string }
  | { type: "commands"; commands: readonly CommandInfo[] }
  | { type: "tools"; tools: readonly { name: string; description: string }[] }
  /** The lines that were typed, oldest first. */
  | { type: "history"; entries: readonly string[] }
  /** Tokens of the session; `last` is the newest request. */
  | ({ type: "tokens"; cost?: number | undefined; last?: Usage | undefined } & Omit<Usage, "cost">)
  | ({ type: "context" } & ReturnType<typeof contextParts>)
  | ({ type: "models"; models: readonly { name: string; isCurrent: boolean }[] } & AskedModel)
  /** The model is another; `isListed` is whether the server names it. */
  | ({ type: "model"; isListed: boolean } & AskedModel)
  /** The folder that is worked in; `change` is what came with another one. */
  | { type: "folder"; folder: string; change?: FolderChange }
  | { type: "trust"; instructions: HeededInstructions }
  /** The stored sessions of the folder, newest first. */
  | { type: "sessions"; sessions: readonly SessionTitle[] }
  | { type: "resumed"; resumed: Resumed }
  /** A message was taken back or brought back; without `undone`, there was none. */
  | { type: "undone"; way: UndoReport["way"]; undone: UndoReport | undefined }
  | { type: "permissions"; permissions: PermissionReport }
  /** Jobs, and of one of them the end of its output. */
  | { type: "jobs"; jobs: readonly Job[]; output?: string };

/** The model and the host of its server; `failure` is why that does not list its models. */
type AskedModel = { model: string; server: string; failure?: string };
type FolderChange = { notices: readonly Notice[]; instructions: HeededInstructions };

/**
 * A change of the settings that a person is told of, in one line. Codes of a folder's settings:
 * `settings_unheeded`, `key_withheld`, `project_stricter`, `project_ignored`, `sandbox_missing` (commands
 * are refused), `sandbox_off`; of a fit: `model_instead`, `text_tools`, `compatible_endpoint`.
 */
export type Notice = { code: string; message: string };

/** The permissions in force for a folder; with `by` and `why` where commands are to be confined. */
export interface PermissionReport extends SandboxStatus {
  approve: ApproveMode;
  /** True where calls that would be asked about simply run. */
  yes: boolean;
  /** Variables that commands get beside the usual ones. */
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

/** A file with instructions, by its path relative to the working directory, with its size in lines. */
export interface InstructionFile {
  name: string;
  lines: number;
  /** Left out where it is as it was trusted, and where the folder never was. */
  change?: InstructionChange;
}

/** The change of a file since the person trusted it; without `lines` where it is not known what it said then. */
export interface InstructionChange {
  type: "added" | "changed";
  lines?: readonly DiffLine[];
}

/** Why instructions that were trusted are not any more: some changed, or the folder is another. */
export type InstructionDoubt = "content" | "folder";

/** The instructions that a folder brings, and whether the model gets them. */
export interface HeededInstructions {
  files: readonly (InstructionFile & { isHeeded: boolean })[];
  /** Files that are never heeded: links that lead out of the folder, or to a secret. */
  refused: readonly { name: string; reason: "outside" | "secret" }[];
  /** True where all are heeded, or there are none; false after a no; undefined where nobody said. */
  isHeeded: boolean | undefined;
  /** Set where `isHeeded` is undefined though the person trusted the folder. */
  doubt?: InstructionDoubt;
  /** The reason why the person's answer could not be saved. */
  unsaved?: string;
}

export const sentence = (message: string): Report => ({ type: "message", message });
