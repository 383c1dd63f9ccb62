/** The parts of a session that its turns and its commands share. @module */

import type { CopilotAgent } from "../agent/agent.ts";
import type { CopilotConfig } from "../config.ts";
import type { ApproveMode } from "../safety/settings.ts";
import type { ExecutionFacts } from "../records/execution.ts";
import type { Usage } from "../types/event.ts";
import type { Part } from "../types/message.ts";
import type { Jobs } from "../types/tool.ts";
import type { CacheWatch } from "./cache_watch.ts";
import type { McpSource } from "../extensions/mcp/source.ts";
import type { FolderTrust } from "../safety/folder_trust.ts";
import type { ModelFit } from "./fit_model.ts";
import type { SessionEvent, Surface } from "./frontend.ts";
import type { HookDefinition } from "../extensions/hooks/definition.ts";
import type { Permissions } from "./permissions.ts";
import type { LoadedPromptFiles } from "../extensions/skills/load.ts";
import type { PromptFiles } from "../extensions/skills/prompt_files.ts";
import type { SessionRecord } from "./record.ts";
import type { ArgumentChoice, CommandAnswer, CommandInfo, Notice } from "./data.ts";
import type { VariableReader } from "../user_files.ts";
import type { UndoLog } from "./undo.ts";

/** Reads the flags that name a model and its server, for `/model --hosted`. */
export interface ModelFlags {
  /** The offered flags, such as `--host`. Flags for keys are missing, because typed text is stored. */
  readonly names: readonly string[];
  /**
   * Returns the settings that `words` name, and a notice about them. @throws {Error} with one line for the user.
   */
  parse(
    words: readonly string[],
  ): { config: CopilotConfig; isChosen: boolean; notice?: Notice | undefined };
  /** Returns `config` with another model of its server, and with the user's settings for that model. */
  named(config: CopilotConfig, model: string, env?: VariableReader): CopilotConfig;
}

export interface SessionState {
  readonly agent: CopilotAgent;
  readonly permissions: Permissions;
  /** The user's answers about what folders bring. */
  readonly folderTrust: FolderTrust;
  readonly jobs: Jobs;
  readonly fit: ModelFit;
  readonly modelFlags: ModelFlags | undefined;
  /** Missing if nothing can be undone, as with a single prompt. */
  undo?: UndoLog;
  /** The outcomes of calls, by id: shown to the user, not sent to the model. */
  readonly executions: Map<string, ExecutionFacts>;
  /** Missing if the session is not recorded. */
  record?: SessionRecord;
  /** True once the server is known to have the model. Without a named model, the server may choose one. */
  isModelKnown: boolean;
  /** Parts to send with the next message, before its text, such as the output of a command. */
  pending: Part[];
  /** Tokens of the newest request and its answer; undefined until a request is counted. */
  usage?: Usage | undefined;
  /** How much of the prompts came from the server's cache, and the speed for the rest. */
  readonly cache: CacheWatch;
  /** US dollars so far; undefined until a request has a known price. */
  cost?: number;
  /** The mode, and whether commands are sandboxed; undefined until the settings are read. */
  mode?: { approve: ApproveMode; isConfined: boolean };
  /** Resolves once the server has listed its models, because that may change the model. */
  looked: Promise<void>;
  /** The skills, commands and sub-agents, if there are any. */
  plugged?: PromptFiles | undefined;
  /** Loads the skills, commands and sub-agents of the working directory. */
  plug(found: LoadedPromptFiles): Promise<void>;
  /** The active hooks, if there are any. */
  hooks?: readonly HookDefinition[] | undefined;
  mcp?: McpSource;
  emit(event: SessionEvent): void;
  /** Where the texts of commands are read. */
  readonly surface: Surface;
}

export interface Command extends CommandInfo {
  /** A frontend also runs it with flags that the user chose. */
  takesFlags?: true;
  /** Runs the command. `argument` is trimmed, and empty if `CommandInfo.argument` is missing. */
  run(
    session: SessionState,
    argument: string,
    signal: AbortSignal,
  ): CommandAnswer | Promise<CommandAnswer>;
  /** Returns the arguments to select from, for a command without an argument. */
  choices?(
    session: SessionState,
    signal?: AbortSignal,
  ): readonly ArgumentChoice[] | Promise<readonly ArgumentChoice[]>;
  /** Returns completions of `begun`, by default those of `choices`. Others are filtered out. */
  values?(
    session: SessionState,
    begun: string,
  ): readonly (string | ArgumentChoice)[] | Promise<readonly (string | ArgumentChoice)[]>;
}
