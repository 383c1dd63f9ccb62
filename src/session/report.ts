/**
 * What slash commands report, as data: frontends make the text.
 *
 * @module
 */

import type { contextParts } from "../agent/tokens.ts";
import type { Usage } from "../types/event.ts";
import type { Resumed, SessionTitle } from "./record.ts";
import type { UndoReport } from "./undo.ts";
import type { HeededInstructions } from "./instruction_report.ts";
import type { PermissionNotice, PermissionReport } from "./permission_report.ts";
import type { Job } from "../types/tool.ts";

/** A slash command, as a help or an editor lists it. */
export interface CommandInfo {
  /** Without the slash; letters, digits, `-` and `:`. */
  name: string;
  /** What its argument is called, such as `[NAME]`; left out for none. */
  argument?: string;
  help: string;
  /** True where it waits for the model or its server. */
  isSlow?: true;
}

/** The result of one command. */
export type Report =
  /** The session is to end. */
  | { type: "leave" }
  /** One sentence. `level` tells whether the command did what it was asked for. */
  | { type: "message"; level: "info" | "error"; message: string }
  /** Lines as they are, such as the end of a job's output. */
  | { type: "commands"; commands: readonly CommandInfo[] }
  | { type: "tools"; tools: readonly { name: string; description: string }[] }
  /** What was typed, oldest first. */
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
  | { type: "model"; model: string; server: string; isListed: boolean }
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
