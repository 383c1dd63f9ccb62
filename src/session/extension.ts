/** The contract of what extends a session, and the parts of a session that extensions and commands share. @module */

import type { AgentOptions, CopilotAgent } from "../agent/agent.ts";
import type { TurnOptions } from "../agent/turn.ts";
import type { StoredSession } from "../records/store.ts";
import type { CopilotConfig, ModelRoles } from "../config.ts";
import type { ExecutionFacts } from "../records/execution.ts";
import type { CheckResult, ToolExecution, TurnResult, Usage } from "../types/event.ts";
import type { Message, Part, TextPart } from "../types/message.ts";
import type { Decision, Policy } from "../types/policy.ts";
import type { EditorFiles, Jobs, Tool } from "../types/tool.ts";
import type { FoundServer } from "../models/servers.ts";
import type { CacheWatch } from "./cache_watch.ts";
import type { FolderTrust } from "../safety/folder_trust.ts";
import type { ModelFit } from "./fit_model.ts";
import type { Approval, ApprovalAnswer } from "../safety/approval.ts";
import type { ModeStatus } from "../safety/permission_report.ts";
import type { Confirmation, Frontend, SessionEvent, Status, Surface } from "./frontend.ts";
import type { Permissions } from "../safety/permissions.ts";
import type { Recorder } from "../records/recorder.ts";
import type { ArgumentChoice, CommandAnswer, CommandInfo, Notice } from "./data.ts";
import type { VariableReader } from "../user_files.ts";
import type { UndoLog } from "./undo.ts";

export interface ModelFlags {
  /** The offered flags, such as `--host`. Flags for keys are missing, because typed text is stored. */
  readonly names: readonly string[];
  /**
   * Returns the settings that `words` name, of the server of `current` if they name no server, and a notice about them.
   * @throws {Error} with one line for the user.
   */
  parse(
    words: readonly string[],
    current: CopilotConfig,
  ): { config: CopilotConfig; isChosen: boolean; notice?: Notice | undefined };
  /**
   * Returns the settings for `SERVER#MODEL`, or for a model of `config`'s own server, with the user's settings for that
   * model. @throws {Error}
   */
  at(spec: string, config: CopilotConfig, env?: VariableReader): CopilotConfig;
  /** Returns the servers on this machine and, of those that the user `chose`, those that are not on the web. */
  find(signal: AbortSignal, chose: readonly string[]): Promise<readonly FoundServer[]>;
}

export interface Lent {
  readonly role: string;
  /** Has no conversation, and counts the tokens. */
  readonly agent: CopilotAgent;
  readonly fit: ModelFit;
}

interface Roles {
  readonly models: ModelRoles;
  readonly lent: Map<string, Lent>;
  /** The roles whose server was away, until when it is not asked, and why. */
  readonly away: Map<string, { until: number; error: unknown }>;
  /** The conversation in plan mode. `last`: the newest message of the session when it paused. */
  planner?: { lent: Lent; agent: CopilotAgent; last: Message | undefined };
}

export interface SessionOptions
  extends Pick<TurnOptions, "answerSchema">, Pick<AgentOptions, "systemPrompt" | "appendedPrompt"> {
  config: CopilotConfig;
  /** True if the user named the model. */
  isChosen: boolean;
  /** The working directory; by default that of the process. */
  folder?: string | undefined;
  permissions: Permissions;
  extensions?: readonly Extension[] | undefined;
  /** True uses what the folder brings in this run, without asking. By default, the user decides. */
  trust?: boolean | undefined;
  /** False ignores what the folder brings. */
  readsFolder: boolean;
  isRecorded?: boolean | undefined;
  /** True for `-p`, whose sessions are listed apart. */
  isPrint?: boolean | undefined;
  /** True continues the newest session of the folder, if there is one. */
  resumesNewest?: boolean | undefined;
  /** The editor, whose files are used instead of those on disk. */
  editor?: EditorFiles | undefined;
  resumes?: StoredSession | undefined;
  /** True restores the permission mode of a resumed session. */
  keepsMode?: boolean | undefined;
  /** True makes messages undoable. The files that they change are stored in memory. */
  canUndo?: boolean | undefined;
  /** True asks the server about its models when the session opens. By default, a local one is asked before each turn. */
  asksAtStart?: boolean | undefined;
  /** The address of the running demo server. It ends with the program. */
  demoUrl?: string | undefined;
  roles?: ModelRoles | undefined;
  /** Reads the flags of `/model`. Without it, `/model` only accepts a name. */
  modelFlags?: ModelFlags | undefined;
  notice?: Notice | undefined;
}

export interface SessionState {
  readonly options: SessionOptions;
  readonly agent: CopilotAgent;
  readonly permissions: Permissions;
  /** The user's answers about what folders bring. */
  readonly folderTrust: FolderTrust;
  readonly jobs: Jobs;
  readonly fit: ModelFit;
  readonly roles: Roles;
  undo?: UndoLog;
  /** The outcomes of calls, by id: shown to the user, not sent to the model. */
  readonly executions: Map<string, ExecutionFacts>;
  record?: Recorder;
  /** True once the server is known to have the model. Without a named model, the server may choose one. */
  isModelKnown: boolean;
  /** Parts to send with the next message, before its text, such as the output of a command. */
  pendingParts: Part[];
  /** Tokens of the newest request and its answer; undefined until a request is counted. */
  usage?: Usage | undefined;
  /** How much of the prompts came from the server's cache, and the speed for the rest. */
  readonly cache: CacheWatch;
  cost?: number;
  mode?: ModeStatus;
  check?: Status["check"];
  /** Resolves once the server has listed its models, because that may change the model. */
  probed: Promise<void>;
  /** In order. An extension may add another one, which is called from then on. */
  readonly extensions: Extension[];
  /** Decides on calls: the extensions, then the settings and the user. */
  readonly policy: Policy;
  /** Returns the policy of the settings, and perhaps of the extensions, in which `approve` answers for the user. */
  policyWith(approve: Frontend["approve"] | undefined, withExtensions?: true): Policy;
  /** Asks the user, one question at a time; undefined if there is no user. */
  readonly approve: Frontend["approve"] | undefined;
  readonly confirm: Frontend["confirm"] | undefined;
  readonly elicit: Frontend["elicit"] | undefined;
  /** Returns the text of the extensions to append to a call's result, for an agent's `conversation`. */
  afterCall(execution: ToolExecution, conversation: object, signal: AbortSignal): Promise<string>;
  /** Returns a reader of what the user sends during an agent's turn: each call returns the messages since the last. */
  steering(signal: AbortSignal): () => Promise<readonly (readonly Part[])[]>;
  endTurn(reason: string): void;
  /** Call it after a change that the status shows. */
  emitStatus(): void;
  emit(event: SessionEvent): void;
  notify(notice: Notice): void;
  /** Shows lines of an extension to the user; `kind` identifies them in JSON. */
  tell(kind: string, ...lines: string[]): void;
  readonly surface: Surface;
}

export interface Command extends CommandInfo {
  /** Runs the command. `argument` is trimmed, and empty if `CommandInfo.argument` is missing. */
  run(
    session: SessionState,
    argument: string,
    signal: AbortSignal,
  ): CommandAnswer | Promise<CommandAnswer>;
  /** Returns the arguments to select from, for a command without an argument. `isWide`: also further ones. */
  choices?(
    session: SessionState,
    signal?: AbortSignal,
    isWide?: boolean,
  ): readonly ArgumentChoice[] | Promise<readonly ArgumentChoice[]>;
  /** Returns completions of `begun`, by default those of `choices`. Others are filtered out. */
  values?(
    session: SessionState,
    begun: string,
  ): readonly (string | ArgumentChoice)[] | Promise<readonly (string | ArgumentChoice)[]>;
}

/** A question about what the folder brings, for frontends that ask with the first message. */
export interface PendingQuestion {
  question: Confirmation;
  decide(isYes: boolean, signal: AbortSignal): Promise<void>;
}

export type PendingCall = Parameters<Policy["decide"]>;

export interface TurnEnd {
  parts?: readonly Part[];
  /** The result of a check. If it did not pass and nothing continues the turn, the turn failed. */
  check?: CheckResult;
}

/** Extends a session by tools, by commands, and at each step of a turn. All members are optional. */
export interface Extension {
  tools?(own: readonly Tool[]): readonly Tool[];
  /** Reads the folder and adds tools. Called before an earlier session is resumed. */
  open?(session: SessionState, signal: AbortSignal): Promise<void>;
  /** Called once the session is new or resumed. */
  start?(session: SessionState, source: "startup" | "resume", signal: AbortSignal): Promise<void>;
  /** Reads another folder after `/cd`. Returns lines for the user. */
  enter?(session: SessionState): Promise<readonly string[]>;
  commands?(): readonly Command[];
  /** Returns rows for `/permissions`. */
  permissions?(session: SessionState): Promise<readonly (readonly [label: string, text: string])[]>;
  /** Returns how to expand a line into parts, as for `/NAME`; undefined for other lines. */
  expands?(line: string): ((line: TextPart, signal: AbortSignal) => Promise<Part[]>) | undefined;
  /** Names that may follow `@` in a message, besides those of files. */
  names?(): readonly string[];
  /** Returns the text for such a name; undefined for a name of another source. */
  attach?(name: string, signal: AbortSignal): Promise<string> | undefined;
  /** Returns parts to send with a message. @throws {Error} if the message must not be sent. */
  message?(text: string, signal: AbortSignal): Promise<readonly Part[]>;
  /** Decides on a call; `next` decides without this extension. */
  beforeCall?(call: PendingCall, next: Policy): Decision | Promise<Decision>;
  /** Answers a question about a call in place of the user; undefined asks them. */
  beforeQuestion?(
    question: Approval,
    signal: AbortSignal,
  ): Promise<ApprovalAnswer | undefined>;
  /** Called before the conversation is shortened, by `/compact` with its argument or without the user. */
  beforeCompact?(trigger: "manual" | "auto", focus: string, signal: AbortSignal): Promise<void>;
  /**
   * Returns text to append to the result of a call, which may have failed, for the `conversation` that it belongs to.
   * All calls of the answer have ended.
   */
  afterCall?(
    execution: ToolExecution,
    conversation: object,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /** Called when a turn is done; `round` counts from 0. An extension limits how often it continues a turn. */
  endOfTurn?(result: TurnResult, round: number, signal: AbortSignal): Promise<TurnEnd | undefined>;
  /** The open questions. The session removes those that it returns to its frontend. */
  readonly openQuestions?: PendingQuestion[];
  close?(): Promise<void>;
}
