/** Reports of slash commands, notices, permissions and instructions, as data: frontends make the text. @module */

import type { contextParts } from "../agent/tokens.ts";
import type { ServerNews, Standing } from "../mcp/server_options.ts";
import type { RuleEffect } from "../permissions/rules.ts";
import type { ApproveMode, SandboxMode } from "../permissions/settings.ts";
import type { DiffLine } from "../text/diff.ts";
import type { Usage } from "../types/event.ts";
import type { Part } from "../types/message.ts";
import type { CacheLoss, CacheWatch } from "./cache_watch.ts";
import type { Hint, ToldFailure } from "./hints.ts";
import type { Resumed, SessionTitle } from "./record.ts";
import type { UndoReport } from "./undo.ts";
import type { Job, ToolOutcome } from "../types/tool.ts";

/** A slash command, as a help or an editor lists it. */
export interface CommandInfo {
  /** The name without its slash: letters, digits, `-` and `:`. */
  name: string;
  /** The name of its argument, such as `[NAME]`; left out for none. */
  argument?: string;
  help: string;
  /** True where it waits for the model or its server. */
  isSlow?: true;
}

/** A row of the list from which a person picks the argument of a command. */
export interface ArgumentChoice {
  argument: string;
  label: string;
  /** Facts, such as a size or an age. */
  detail?: string;
  /** True for what is in force now. */
  isCurrent?: boolean;
}

export type Report =
  | { type: "leave" }
  /** The person wants to choose among servers, which the frontend lists. */
  | { type: "setup" }
  /** The person wants the model server examined, which the frontend does. */
  | { type: "doctor" }
  /** The person wants to see what the keys mean, which the frontend knows. */
  | { type: "keys" }
  /** The person wants another theme, of which the frontend has a list: by its name, or any. */
  | { type: "theme"; name: string }
  /** What the command asks for is a turn of the model: the frontend runs it, with these parts as the message. */
  | { type: "turn"; parts: readonly Part[] }
  /** A text for the clipboard; `block`: which block of code it is, left out for a whole answer. */
  | { type: "copy"; text: string; block?: number }
  /** Nothing there has the name that was given; `nearest` has one like it, `server` is where a model was looked for. */
  | { type: "unknown"; what: NamedThing; name: string; nearest?: string; server?: string }
  /** There is no command `name` for the mode of asking, which other commands and a key change. */
  | { type: "no_mode_command"; name: string }
  /** The command does not take the argument; `takes` are those that it takes. */
  | { type: "bad_argument"; command: string; takes: readonly string[] }
  /** `/permissions remove` where nothing was allowed. */
  | { type: "nothing_allowed" }
  /** The command lacks an argument, such as the one of an MCP server's prompt. */
  | { type: "missing_argument"; command: string; argument: string }
  | ({ type: "failed" } & ToldFailure)
  /** The conversation was forgotten. */
  | { type: "cleared" }
  /** The messages were summed up, as `message` says, or not; without either, there was nothing to sum up. */
  | { type: "compacted"; message?: string }
  | ({ type: "not_compacted" } & Partial<ToldFailure>)
  | { type: "plan"; state: PlanState }
  /** The answer has `blocks` of code, and not the one that was asked for; left out where there is no answer. */
  | { type: "nothing_to_copy"; blocks?: number }
  /** The number of messages that can be undone, for `/undo N` with another. */
  | { type: "undo_bound"; most: number }
  /** The folder cannot be worked in. */
  | { type: "bad_folder"; folder: string; why: "absent" | "no_folder" | { error: string } }
  | { type: "commands"; commands: readonly CommandInfo[] }
  | { type: "tools"; tools: readonly { name: string; description: string }[] }
  /** The sub-agents that files define, or one of them. */
  | { type: "agents"; agents: readonly { name: string; description: string }[] }
  /** The tool of sub-agents is not offered, as the first request has no room for it. */
  | { type: "no_room_for_agents" }
  /** The lines that were typed, oldest first. */
  | { type: "history"; entries: readonly string[] }
  /** Tokens of the session; `last` is the newest request. */
  | ({ type: "tokens"; cost?: number | undefined; last?: Usage | undefined } & Omit<Usage, "cost">)
  /** The parts of the next request; `counted` are the prompt tokens of the session, and those from the cache. */
  | ({ type: "context"; counted?: CacheWatch["counted"] } & ReturnType<typeof contextParts>)
  | ({ type: "models"; models: readonly { name: string; isCurrent: boolean }[] } & AskedModel)
  /** The model is another; `isListed` is whether the server names it, `nearest` a name alike that it lists. */
  | ({ type: "model"; isListed: boolean; nearest?: string | undefined } & AskedModel)
  /** The model is the one before, as the other server cannot be reached. */
  | ({ type: "model_stays"; failure: ToldFailure } & AskedModel)
  /** The folder that is worked in; `change` is what came with another one. */
  | { type: "folder"; folder: string; change?: FolderChange }
  | { type: "trust"; instructions: HeededInstructions }
  /** The stored sessions of the folder, newest first. */
  | { type: "sessions"; sessions: readonly SessionTitle[] }
  | { type: "resumed"; resumed: Resumed }
  /** A message was taken back or brought back; without `undone`, there was none. */
  | {
    type: "undone";
    way: UndoReport["way"];
    undone: UndoReport | undefined;
    /** The conversation has messages of before the program was started, which cannot be taken back. */
    isContinued?: boolean;
  }
  | { type: "permissions"; permissions: PermissionReport }
  /** MCP servers, and of one of them what it has. */
  | {
    type: "mcp";
    servers: readonly McpState[];
    has?: {
      tools: readonly { name: string; description?: string }[];
      prompts: readonly { name: string; description?: string }[];
      resources: readonly { uri: string; name: string }[];
    };
  }
  | { type: "mcp_approval"; server: string; result: McpApproval }
  /** The prompt of an MCP server has no text. */
  | { type: "empty_prompt"; name: string }
  /** Jobs, and of one of them the end of its output. */
  | { type: "jobs"; jobs: readonly Job[]; output?: string };

/** The kinds of what a command finds by its name or number. */
type NamedThing = "agent" | "command" | "job" | "mcp_server" | "model" | "session";

/**
 * The state of plan mode after a command: it began, is not on, has no plan yet, stays as the settings ask for it,
 * is over with or without a plan that was accepted, or `refuses_init`, which writes.
 */
type PlanState =
  | "begun"
  | "not_on"
  | "no_plan"
  | "stays"
  | "accepted"
  | "dropped"
  | "over"
  | "refuses_init";

/**
 * The end of an approval: nothing waits for one, `copilot mcp approve` must ask, the person said no to a server or
 * to tools of it that changed, or yes to those, or to a server that is there `now` or in the `next_session`.
 */
export type McpApproval =
  | "none"
  | "elsewhere"
  | "declined"
  | "tools_declined"
  | "tools"
  | "now"
  | "next_session";

/** An MCP server, as lists of them show it. */
export interface McpState {
  name: string;
  standing: Standing;
  isRunning: boolean;
  /** Why it cannot be used, or could not the last time. */
  problem?: string;
  /** The number of its tools, and of tokens if all were shown to the model; left out while not known. */
  tools?: number;
  tokens?: number;
  /** Tools that are not as they were approved. */
  changed: readonly string[];
}

/** The model and the host of its server; `failure` is why that does not list its models. */
type AskedModel = { model: string; server: string; failure?: ToldFailure };
type FolderChange = { notices: readonly Notice[]; instructions: HeededInstructions };

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
  /** The hooks that run, which may refuse calls or have them asked about. */
  hooks?: readonly { event: string; matcher?: string; command: string }[];
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
  /** Its first lines, where it is asked about and no change of it is shown. */
  start?: readonly string[];
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
