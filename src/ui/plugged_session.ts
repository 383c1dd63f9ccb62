/** A session with all extensions, for programs that use the library. @module */

import type { CopilotAgent } from "../agent/agent.ts";
import type { CopilotConfig } from "../config.ts";
import type { TurnEvent, TurnResult } from "../types/event.ts";
import type { Part, ToolCall } from "../types/message.ts";
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
  /** Called with each notice of extensions, and of files that were not loaded. */
  onNotice?: (lines: readonly string[]) => void;
}

/** A session of the library. Disposing of it ends everything that it started. */
export interface PluggedSession extends AsyncDisposable {
  /** The agent and its messages. {@linkcode PluggedSession.prompt} runs its turns. */
  readonly agent: CopilotAgent;
  /** The skills and commands that a prompt may start with, as `/name`. */
  readonly commands: readonly { name: string; help: string }[];
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
  const { folder, trust } = options;
  const never = new AbortController().signal;
  const skills = new SkillsExtension();
  const session = await openSession(
    {
      config,
      folder,
      trust,
      isChosen: true,
      canUndo: false,
      isRecorded: false,
      readsFolder: true,
      asksServer: "local-before-turns",
      permissions: openPermissions(),
      extensions: allExtensions([], skills),
    },
    libraryFrontend(options),
    never,
  );
  return {
    agent: session.agent,
    get commands() {
      return skills.commands().map(({ name, help }) => ({ name, help }));
    },
    get agents() {
      return skills.agents.map(({ name, description: help }) => ({ name, help }));
    },
    prompt: (input, signal = never) => session.prompt(input, signal),
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
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

const isOfTurn = (event: SessionEvent): event is TurnEvent => !(event.type in BESIDE_TURNS);

function libraryFrontend({ approve, onEvent, onNotice }: PluggedSessionOptions): Frontend {
  return {
    surface: { ...PLAIN_SURFACE, way: "flags" },
    onEvent: (event) => {
      if (event.type === "session_notice") onNotice?.(noticeLines(event.notice, "flags"));
      else if (isOfTurn(event)) onEvent?.(event);
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
