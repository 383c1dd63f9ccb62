/** Answers of slash commands; notices, permissions and instructions as data. @module */

import type { Theme } from "../config.ts";
import type { ServerNews } from "../mcp/server_options.ts";
import type { RuleEffect } from "../permissions/rules.ts";
import type { ApproveMode, SandboxMode } from "../permissions/settings.ts";
import type { DiffLine } from "../text/diff.ts";
import type { Part } from "../types/message.ts";
import type { CacheLoss } from "./cache_watch.ts";
import type { Hint } from "./hints.ts";
import type { Resumed } from "./record.ts";
import type { ToolOutcome } from "../types/tool.ts";

/** A slash command, as a help or an editor lists it. */
export interface CommandInfo {
  /** The name without its slash: letters, digits, `-` and `:`. */
  name: string;
  /** The name of its argument, such as `[NAME]`; left out for none. */
  argument?: string;
  help: string;
  /** True where it waits for the model or its server. */
  isSlow?: true;
  /** True for what an editor has its own way for. */
  isOfTerminal?: true;
  /** The title of the list from which a person picks its argument. */
  question?: string;
  /** False where the last row of that list is not next to the first. */
  wraps?: boolean;
}

/** A row of the list from which a person picks the argument of a command. */
export interface ArgumentChoice {
  argument: string;
  label: string;
  /** Facts, such as a size or an age, or what it means. */
  detail?: string;
  /** True for what is in force now. */
  isCurrent?: boolean;
}

/** A slash command leads to a text for the person, or to what a frontend does. */
export type CommandAnswer = string | Effect;

/** `text`: what a frontend says that cannot do it. */
export type Effect =
  /** The model takes a turn, with these parts as the message. */
  | { type: "turn"; parts: readonly Part[] }
  /** `doctor` examines the model server; `help` and `keys` list the keys, which a frontend knows. */
  | { type: "leave"; text: string }
  | { type: "setup" | "doctor" | "help" | "keys"; text: string }
  | { type: "theme"; theme: Theme; text: string }
  /** `copied` belongs into the clipboard; `what` says what it is. */
  | { type: "copy"; copied: string; what: string; text: string }
  /** The session continues an earlier one, whose turns a terminal shows again. */
  | { type: "resumed"; resumed: Resumed; text: string };

/** News that a person is told unasked. */
export type Notice =
  /** Settings in the folder that only a person may set: servers and keys. */
  | { code: "settings_unheeded"; names: readonly string[] }
  /** A variable that the person named for commands holds the model's key, and is not passed on. */
  | { code: "key_withheld"; variable: string }
  /** The modes that a file of the project made stricter, and the number of rules that it added. */
  | { code: "project_stricter"; file: string; modes: StricterModes; rules: number }
  | { code: "project_ignored"; file: string; settings: readonly string[] }
  /** Commands are refused, as they are to be confined and cannot be. */
  | { code: "sandbox_missing"; why: string }
  /** Commands run unconfined: as nothing works that would confine them, or as the person never asked for it. */
  | { code: "sandbox_off"; why?: string; isAsked?: boolean }
  /** The server's model takes the place of the default one. */
  | { code: "model_instead"; model: string }
  /** The server's only model is another one than was named, and may answer in its place. */
  | { code: "other_model"; model: string; asked: string }
  | { code: "text_tools" | "no_tools" | "no_thinking" | "compatible_endpoint" }
  /** The key of a variable is not sent to a host or an address, as a password or plain HTTP is in the way. */
  | { code: "key_unsent"; variable: string; to: string; why: "userinfo" | "http" }
  /** The conversation cannot be recorded for now, and why; without a reason, it is recorded again. */
  | { code: "record"; why?: string }
  | { code: "unread_session"; why: string }
  /** The checks of the server, up to one that failed; `instead`: the model that took the default one's place. */
  | { code: "server"; instead?: string; checks: readonly Check[] }
  /** The server read a part of the prompt again that it should have had in its cache. */
  | ({ code: "cache_lost" } & CacheLoss)
  /** News of an MCP server. */
  | ({ code: "mcp" } & ServerNews)
  /** MCP servers that the folder defines and that nobody approved. */
  | { code: "mcp_pending"; servers: readonly string[] }
  /** A file of MCP servers cannot be read. */
  | { code: "mcp_file"; why: string }
  /** A sub-agent gets the model of the session, as the server does not have the one that its file names. */
  | { code: "agent_model"; agent: string; model: string }
  /** Files of skills, commands and sub-agents that are left out. */
  | { code: "prompt_files"; problems: readonly { path: string; why: string }[] }
  /** Files of hooks with what makes no sense in them, and those whose hooks nobody approved. */
  | {
    code: "hook_files";
    problems: readonly { path: string; why: string }[];
    pending: readonly string[];
  }
  /** What hooks say to the person. */
  | { code: "hook"; messages: readonly string[] }
  /** The names behind `@` in a message; `limit` is the most files, where there were more. */
  | {
    code: "attached";
    files: readonly AttachedFile[];
    pasted: readonly string[];
    limit?: number;
  };

type StricterModes = { approve?: ApproveMode; sandbox?: SandboxMode };

/** A file or folder that a message names with a typed `@`. */
export interface AttachedFile {
  name: string;
  /** The place that its links lead to, relative to the working directory where it is inside. */
  place?: string;
  result: "attached" | "absent" | "refused" | "unreadable";
  /** The reason why it is refused or unreadable. */
  why?: string;
  /** The kind and the size of an image: `PNG, 1280x720, 45 KB`. */
  about?: string;
  /** The lines that go along, where they are not all. */
  range?: NonNullable<ToolOutcome["range"]>;
}

/** A check of a model server or of the sandbox, for the doctor and for a greeting. */
export interface Check {
  name:
    | "commands"
    | "web"
    | "key"
    | "mcp"
    | "server"
    | "model"
    | "context"
    | "slots"
    | "answer"
    | "tools"
    | "result"
    | "cache"
    | "plugged";
  /** `note`: it works, and could be better. */
  status: "ok" | "note" | "fail";
  text: string;
  advice?: string;
  /** A change that may mend it, in place of `advice`. */
  hint?: Hint;
  /** The model's tokens, for the check `context`. */
  contextLength?: number;
}

/** The permissions in force for a folder; with `by` and `why` where commands are to be confined. */
export interface PermissionReport extends SandboxStatus {
  approve: ApproveMode;
  /** True where calls that would be asked about simply run. */
  yes: boolean;
  /** Variables that commands get beside the usual ones. */
  env: readonly string[];
  /** What may use the network in this session: the beginnings of commands. */
  networked: readonly string[];
  rules: readonly {
    effect: RuleEffect;
    text: string;
    isOfSession: boolean;
    /** True for one that counts in the sandbox alone. */
    isConfined?: boolean;
  }[];
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
  /** The change to the machine with which one would work, where that is known. */
  advice?: string;
}

/** A file with instructions, by its path relative to the working directory, with its size in lines. */
export interface InstructionFile {
  name: string;
  lines: number;
  /** Set for a skill, a command or a sub-agent that the folder brings. */
  kind?: "skill" | "command" | "agent";
  /** All that it says, where it is asked about and its changes do not tell. */
  text?: string;
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
