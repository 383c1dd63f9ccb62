/** The parts of a session, which its turns and its commands share. @module */

import type { CopilotAgent } from "../agent/agent.ts";
import type { CopilotConfig } from "../config.ts";
import type { ApproveMode } from "../permissions/settings.ts";
import type { ExecutionFacts } from "../records/execution.ts";
import type { Usage } from "../types/event.ts";
import type { Part } from "../types/message.ts";
import type { Jobs } from "../types/tool.ts";
import type { CacheWatch } from "./cache_watch.ts";
import type { McpSource } from "./mcp.ts";
import type { ModelFit } from "./fit_model.ts";
import type { SessionEvent, Surface } from "./frontend.ts";
import type { HookDefinition } from "./hooks/definition.ts";
import type { Permissions } from "./permissions.ts";
import type { LoadedPromptFiles } from "./prompt_files/load.ts";
import type { PromptFiles } from "./prompt_files/prompt_files.ts";
import type { SessionRecord } from "./record.ts";
import type { ArgumentChoice, CommandAnswer, CommandInfo, Notice } from "./report.ts";
import type { VariableReader } from "../user_files.ts";
import type { UndoLog } from "./undo.ts";

/** Reads the flags that name a model and its server, for `/model --hosted`. */
export interface ModelFlags {
  /** The flags that are offered, such as `--host`; not those for a key, as what is typed is kept. */
  readonly names: readonly string[];
  /** The settings that `words` name, and a notice of them. @throws {Error} with one line for the person. */
  parse(
    words: readonly string[],
  ): { config: CopilotConfig; isChosen: boolean; notice?: Notice | undefined };
  /** `config` with another model of its server, and with the settings that the person has for that. */
  named(config: CopilotConfig, model: string, env?: VariableReader): CopilotConfig;
}

export interface SessionState {
  readonly agent: CopilotAgent;
  readonly permissions: Permissions;
  readonly jobs: Jobs;
  readonly fit: ModelFit;
  readonly modelFlags: ModelFlags | undefined;
  /** Left out where nothing is to be taken back, as by one prompt. */
  undo?: UndoLog;
  /** How calls ended, by their ids: what is shown of them, and not told to the model. */
  readonly executions: Map<string, ExecutionFacts>;
  /** Left out where the conversation is not recorded. */
  record?: SessionRecord;
  /** True once the server is known to have the model: it may choose one where none is named. */
  isModelKnown: boolean;
  /** Parts that go along with the next message, before its text, such as the output of a command. */
  pending: Part[];
  /** Tokens of the newest request and its answer; undefined until a request is counted. */
  usage?: Usage | undefined;
  /** How much of the prompts came from the server's cache, and how fast it reads the rest. */
  readonly cache: CacheWatch;
  /** US dollars so far; undefined while no request had a known price. */
  cost?: number;
  /** The mode of asking, and whether commands are confined; undefined until the settings are read. */
  mode?: { approve: ApproveMode; isConfined: boolean };
  /** Resolves once the server was asked for its models, as that may change the model. */
  looked: Promise<void>;
  /** The skills, commands and sub-agents; left out where there are none. */
  plugged?: PromptFiles | undefined;
  /** Takes the skills, commands and sub-agents of the folder that is worked in. */
  plug(found: LoadedPromptFiles): Promise<void>;
  /** The hooks that run; left out where there are none. */
  hooks?: readonly HookDefinition[] | undefined;
  /** The MCP servers; left out where none is defined. */
  mcp?: McpSource;
  emit(event: SessionEvent): void;
  /** Where the texts of commands are read. */
  readonly surface: Surface;
}

export interface Command extends CommandInfo {
  /** A frontend also runs it with flags, the choice of the person. */
  takesFlags?: true;
  /** Runs the command; `argument` is trimmed, and empty where `CommandInfo.argument` is left out. */
  run(
    session: SessionState,
    argument: string,
    signal: AbortSignal,
  ): CommandAnswer | Promise<CommandAnswer>;
  /** The arguments from which a person may pick one; asked for where none was given. */
  choices?(
    session: SessionState,
    signal?: AbortSignal,
  ): readonly ArgumentChoice[] | Promise<readonly ArgumentChoice[]>;
  /**
   * Arguments that may complete `begun`, by default those of `choices`; those that do not begin like it
   * are left out afterwards.
   */
  values?(
    session: SessionState,
    begun: string,
  ): readonly (string | ArgumentChoice)[] | Promise<readonly (string | ArgumentChoice)[]>;
}
