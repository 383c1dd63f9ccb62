/** A session with all extensions, for programs that use the library. @module */

import type { CopilotAgent } from "../agent/agent.ts";
import type { CopilotConfig } from "../config.ts";
import type { TurnEvent, TurnResult } from "../types/event.ts";
import type { Part, ToolCall } from "../types/message.ts";
import type { Tool } from "../types/tool.ts";
import { definitionsIn } from "../extensions/mcp/definition.ts";
import type { Extension } from "../session/extension.ts";
import { sessionWithId } from "../session/record.ts";
import { shortName } from "../records/store.ts";
import { allExtensions } from "../extensions/extensions.ts";
import { SkillsExtension } from "../extensions/skills/skills_extension.ts";
import { type Frontend, PLAIN_SURFACE, type SessionEvent } from "../session/frontend.ts";
import { openPermissions } from "../safety/permissions.ts";
import { openSession } from "../session/session.ts";
import { noteTexts } from "./answers.ts";
import { noticeLines } from "../session/notices.ts";

/** A call that needs approval: see {@linkcode PluggedSessionOptions}. */
export interface AskedCall {
  /** The call, without arguments that have their default value. */
  call: ToolCall;
  /** The reason for the question: the end of a sentence that starts with "it". */
  reason: string;
  /** The name of the sub-agent that makes the call; missing for the main agent. */
  subAgent?: string;
  /** Lines for the user: the reason, what a yes allows beyond the call, and its limits. */
  notes: readonly string[];
}

/** Options of {@linkcode pluggedSession}. */
export interface PluggedSessionOptions {
  /** The working directory. Default: the current one. */
  folder?: string;
  /** True loads what the folder brings. By default only what the user trusted before is loaded. */
  trust?: boolean;
  /** Decides on a call that the rules and modes leave open. Without it, such calls are refused. */
  approve?: (asked: AskedCall, signal: AbortSignal) => Promise<boolean>;
  /** Called with each event of a turn as it happens. */
  onEvent?: (event: TurnEvent) => void;
  /** Tools in addition to those of the session. The user's rules and modes decide on their calls, too. */
  tools?: readonly Tool[];
  /** MCP servers by name, as in `mcp.json`. They start without a question. */
  mcpServers?: Readonly<Record<string, unknown>>;
  /** The system prompt instead of the built-in one. */
  systemPrompt?: string;
  /** Text to add to the system prompt. */
  appendSystemPrompt?: string;
  /** True records the session as `copilot -p` does. Its id is then in {@linkcode PluggedSession.sessionId}. */
  isRecorded?: boolean;
  /** Continues the recorded session with this id or a prefix of it. Implies `isRecorded`. */
  resume?: string;
  /** Called with each notice of extensions, and of files that were not loaded. */
  onNotice?: (lines: readonly string[]) => void;
}

/** A session of the library. Disposing of it ends everything that it started. */
export interface PluggedSession extends AsyncDisposable {
  /** The agent and its messages. {@linkcode PluggedSession.prompt} runs its turns. */
  readonly agent: CopilotAgent;
  /** The skills and commands that a prompt may start with, as `/name`. */
  readonly commands: readonly { name: string; help: string }[];
  /** The id of the recorded session, from its first turn on; undefined if it is not recorded. */
  readonly sessionId: string | undefined;
  /** The sub-agents defined in files. */
  readonly agents: readonly { name: string; help: string }[];
  /**
   * Runs one turn. A prompt that starts with `/name` runs that skill or command, hooks run, and files named as
   * `@PATH` are attached.
   *
   * @throws {Error} if a hook blocks the prompt.
   * @throws {BackendError} if the model server fails.
   */
  prompt(input: string | readonly Part[], signal?: AbortSignal): Promise<TurnResult>;
  /**
   * Runs one turn as {@linkcode PluggedSession.prompt} does, and yields its events as they come. Leaving the loop
   * ends the turn.
   */
  stream(
    input: string | readonly Part[],
    signal?: AbortSignal,
  ): AsyncGenerator<TurnEvent, TurnResult>;
}

/**
 * Opens a session with all extensions of the user and the folder: skills, commands, hooks, sub-agents, MCP
 * servers and instructions. The user's rules and modes decide on calls, as in `copilot -p`.
 *
 * @example
 * ```ts ignore
 * await using session = await pluggedSession({ local: localConfig({ model: "qwen3:8b" }) });
 * console.log(session.commands.map(({ name }) => name));
 * console.log((await session.prompt("/release 1.2")).response);
 * ```
 *
 * @throws {TypeError} {RangeError} if a setting or the folder is invalid.
 * @throws {UsageError} if a settings file is invalid.
 */
export async function pluggedSession(
  config: CopilotConfig,
  options: PluggedSessionOptions = {},
): Promise<PluggedSession> {
  const { folder, trust, tools = [], mcpServers = {}, resume } = options;
  const never = new AbortController().signal;
  const skills = new SkillsExtension();
  const ownTools: Extension = { tools: (others) => [...others, ...tools] };
  const servers = definitionsIn({ mcpServers }, { scope: "given" });
  const streams = new Set<Listener>();
  const session = await openSession(
    {
      config,
      folder,
      trust,
      isChosen: true,
      isRecorded: options.isRecorded ?? resume !== undefined,
      isPrint: true,
      resumes: resume === undefined ? undefined : sessionWithId(resume),
      systemPrompt: options.systemPrompt,
      appendedPrompt: options.appendSystemPrompt,
      readsFolder: true,
      permissions: openPermissions(),
      extensions: [...allExtensions(servers, skills), ownTools],
    },
    libraryFrontend({
      ...options,
      onEvent(event) {
        options.onEvent?.(event);
        for (const tell of streams) tell(event);
      },
    }),
    never,
  );
  const prompt: PluggedSession["prompt"] = (input, signal = never) => session.prompt(input, signal);
  return {
    agent: session.agent,
    get commands() {
      return skills.commands().map(({ name, help }) => ({ name, help }));
    },
    get agents() {
      return skills.agents.map(({ name, description: help }) => ({ name, help }));
    },
    get sessionId() {
      return session.record?.file && shortName(session.record.name!);
    },
    prompt,
    stream: (input, signal = never) =>
      streamed(streams, (ended) => prompt(input, AbortSignal.any([signal, ended]))),
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

type Listener = (event: TurnEvent) => void;

/** Yields the events of the turn that `run` starts. Its signal is aborted when the reader stops. */
async function* streamed(
  listeners: Set<Listener>,
  run: (signal: AbortSignal) => Promise<TurnResult>,
): AsyncGenerator<TurnEvent, TurnResult> {
  const ended = new AbortController();
  const { readable, writable } = new TransformStream<TurnEvent, TurnEvent>();
  const writer = writable.getWriter();
  const listener: Listener = (event) => void writer.write(event).catch(() => {});
  listeners.add(listener);
  const turn = run(ended.signal).finally(() => writer.close().catch(() => {}));
  turn.catch(() => {});
  try {
    yield* readable;
    return await turn;
  } finally {
    listeners.delete(listener);
    ended.abort();
    await turn.catch(() => {});
  }
}

/** The session's own events. The type ensures that the list is complete. */
const BESIDE_TURNS: Readonly<Record<Exclude<SessionEvent["type"], TurnEvent["type"]>, true>> = {
  session_notice: true,
  output: true,
  rule_added: true,
  job_ended: true,
  instructions: true,
  resumed: true,
  command_progress: true,
  status: true,
};

function libraryFrontend({ approve, onEvent, onNotice }: PluggedSessionOptions): Frontend {
  return {
    surface: { ...PLAIN_SURFACE, kind: "flags" },
    onEvent: (event) => {
      if (event.type === "session_notice") onNotice?.(noticeLines(event.notice, "flags"));
      else if (!(event.type in BESIDE_TURNS)) onEvent?.(event as TurnEvent);
    },
    ...approve && {
      approve: async (approval, signal) => {
        const { call, reason, subAgent } = approval;
        const notes = noteTexts(approval);
        const asked = { call, reason, notes, ...subAgent !== undefined && { subAgent } };
        const isYes = await approve(asked, signal);
        return isYes ? { choice: "once" } : { choice: "refuse", reason: "" };
      },
    },
  };
}
