/** The data that a session hands to frontends: answers of slash commands, notices, checks, instructions. @module */

import type { StoredSession } from "../records/store.ts";
import type { Theme } from "../config.ts";
import type { TrustChange, TrustDoubt } from "../safety/folder_trust.ts";
import type { PermissionNotice } from "../safety/permission_report.ts";
import type { Part } from "../types/message.ts";
import type { CacheLoss } from "./cache_watch.ts";
import type { ResumedSession } from "./record.ts";
import type { Change, ToolOutcome } from "../types/tool.ts";

export const COMMAND_GROUPS = ["Session", "Model", "Work", "Setup"] as const;

export interface CommandInfo {
  /** The name without its slash: letters, digits, `-` and `:`. */
  name: string;
  argument?: string;
  help: string;
  group: typeof COMMAND_GROUPS[number];
  isSlow?: true;
  /** True if it only shows something, so that it runs while the model works. */
  isView?: true;
  /** True if its list opens while the model works. The command runs after the answer. */
  isListView?: true;
  isOfTerminal?: true;
  question?: string;
  /** The keys of that list besides Enter, by their names. */
  listKeys?: readonly ListKey[];
}

/** A key of a list: lists more or less (`widen`), or runs the command with its name and the selected argument. */
export interface ListKey {
  key: string;
  does: "widen" | "rename" | "delete";
  help: string;
}

export interface ArgumentChoice {
  argument: string;
  label: string;
  detail?: string;
  /** The heading above the first of the rows that have it. */
  group?: string;
  /** Returns the text that Space shows below the list. */
  preview?: string;
  isCurrent?: boolean;
}

export type CommandAnswer = string | Effect;

/** `text`: shown by a frontend that does not support the effect. */
export type Effect =
  | { type: "turn"; parts: readonly Part[] }
  | { type: "leave"; text: string }
  /** `doctor` checks the model server; `help` and `keys` list the keys, which a frontend knows. */
  | { type: "setup" | "doctor" | "help" | "keys"; text: string }
  | { type: "theme"; theme: Theme; text: string }
  | { type: "changes"; changes: readonly Change[]; others: readonly string[]; text: string }
  | { type: "export"; session: StoredSession; argument: string; text: string }
  | { type: "copy"; copied: string; what: string; text: string }
  /** Messages were undone or restored. The user may change `line` and send it again. */
  | { type: "undone"; line: string; text: string }
  /** The session resumes an earlier one. A terminal replays its turns. */
  | { type: "resumed"; resumed: ResumedSession; before?: string; text: string };

export type Notice =
  | PermissionNotice
  | { code: "model_instead"; model: string }
  | { code: "other_model"; models: readonly string[]; asked: string }
  | { code: "text_tools" | "no_tools" | "no_thinking" | "compatible_endpoint" }
  /** A variable's key is not sent to a host or an address with a password or plain HTTP. */
  | { code: "key_unsent"; variable: string; to: string; why: "userinfo" | "http" }
  /** Why the session cannot be recorded; without a reason, it is recorded again. */
  | { code: "record"; why?: string }
  | { code: "unread_session"; why: string }
  /** The checks of the server, up to a failed one. `instead`: the model that replaced the default one. */
  | { code: "server"; instead?: string; checks: readonly Check[] }
  /** The server processed a part of the prompt again that should have been in its cache. */
  | ({ code: "cache_lost" } & CacheLoss)
  /** News of an extension; `kind` identifies it in JSON. */
  | { code: "extension"; kind: string; lines: readonly string[] }
  /** The names after `@` in a message. `limit` is the maximum number of files, if there were more. */
  | {
    code: "attached";
    files: readonly AttachedFile[];
    limit?: number;
  };

export interface AttachedFile {
  name: string;
  /** The target of its links, relative to the working directory if it is inside. */
  place?: string;
  result: "attached" | "absent" | "refused" | "unreadable";
  why?: string;
  /** The type and size of an image: `PNG, 1280x720, 45 KB`. */
  about?: string;
  range?: NonNullable<ToolOutcome["range"]>;
}

/** A check of a model server or of the sandbox, by the doctor or at the start of a session. */
export interface Check {
  name: string;
  /** `note`: it works, but could be better. */
  status: "ok" | "note" | "fail";
  text: string;
  advice?: string;
  contextLength?: number;
  does?: string;
  /** The size and the quantization of the model. */
  facts?: string[];
}

/** An instruction file, by path relative to the working directory, with its number of lines. */
export interface InstructionFile {
  name: string;
  lines: number;
  /** The number of lines of the whole file, if only a part of it is used. */
  total?: number;
  /** The files that it imports. */
  imports?: readonly string[];
  kind?: "skill" | "command" | "agent";
  /** The full text, if the question needs it and the changes do not show it. */
  text?: string;
  /** Missing if it is as trusted, or if the folder was never trusted. */
  change?: TrustChange;
}

export interface LoadedInstructions {
  files: readonly (InstructionFile & { isLoaded: boolean })[];
  /** The user's file of another program, if it is used. */
  own?: InstructionFile;
  /** Files that are never loaded: links to a secret or out of the folder. */
  refused: readonly { name: string; reason: "outside" | "secret" }[];
  /** True if all are loaded, or there are no files; false after a no; undefined without a decision. */
  isLoaded: boolean | undefined;
  /** Set if `isLoaded` is undefined although the user trusted the folder. */
  doubt?: TrustDoubt;
  unsaved?: string;
}
