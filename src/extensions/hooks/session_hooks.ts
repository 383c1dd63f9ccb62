/** Runs the hooks at the events of a session. @module */

import { outcomeOf } from "../../agent/run_tools.ts";
import { checkArguments } from "../../tools/schema.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { notePart } from "../../text/parts.ts";
import type { ToolExecution, TurnResult } from "../../types/event.ts";
import type { Part } from "../../types/message.ts";
import type { Decision, Policy } from "../../types/policy.ts";
import type { Tool, ToolContext } from "../../types/tool.ts";
import type { Approval, Frontend } from "../../session/frontend.ts";
import { repositoryOf } from "../../session/repository.ts";
import type { SessionState } from "../../session/state.ts";
import type { HookFile } from "./hook_files.ts";
import { Hooks, type HookScene } from "./hooks.ts";
import { openHooks } from "./open_hooks.ts";
import { hookCall } from "./tool_names.ts";
import type { HookVerdict } from "./verdict.ts";

type Approve = NonNullable<Frontend["approve"]>;

interface SessionHookOptions {
  frontend: Pick<Frontend, "confirm">;
  /** Asks the user, one question at a time; undefined without a user. */
  approve: Approve | undefined;
  /** Returns the policy in which `approve` answers questions. */
  policyWith(approve: Approve | undefined): Policy;
  trust: boolean;
  approvesAll: boolean;
  signal: AbortSignal;
}

/** How many times hooks may make a turn continue, and the maximum time in ms that they delay the end. */
const MAX_GOING_ON = 5;
const MAX_END_MS = 5000;

/** The names of our approval modes for hooks. */
const PERMISSION_MODES = {
  ask: "default",
  edits: "acceptEdits",
  auto: "auto",
  plan: "plan",
  never: "dontAsk",
} as const;

/**
 * Reads the hooks and asks about those of the folder. `hooks` is missing if no hook may run; `pending` are the
 * files without an answer.
 */
export async function beginHooks(
  state: SessionState,
  files: readonly HookFile[],
  options: SessionHookOptions,
): Promise<{ hooks?: SessionHooks; pending: readonly HookFile[] }> {
  const { permissions, folderTrust, emit } = state;
  const opened = await openHooks(files, { folderTrust, ...options });
  const { problems, pending } = opened;
  if (problems.length + pending.length > 0) {
    emit({
      type: "session_notice",
      notice: { code: "hook_files", problems, pending: pending.map(({ path }) => path) },
    });
  }
  if (opened.hooks.length === 0) return { pending };
  const { agent } = state;
  const folder = () => agent.state.workingDir;
  const id = crypto.randomUUID();
  const scene: HookScene = {
    folder,
    root: () => repositoryOf(folder()),
    fields: () => ({
      session_id: state.record?.name?.replace(/\.jsonl$/, "") ?? id,
      transcript_path: state.record?.file?.path ?? "",
      permission_mode: options.approvesAll
        ? "bypassPermissions"
        : PERMISSION_MODES[state.mode?.approve ?? "ask"],
    }),
    env: permissions.env,
    confine: {
      folder: permissions.confineServers(folder, "folder-hooks", true),
      user: permissions.confineServers(folder, "own-hooks"),
    },
    home: permissions.variables("HOME"),
    tell: (messages) => emit({ type: "session_notice", notice: { code: "hook", messages } }),
  };
  return { hooks: new SessionHooks(state, new Hooks(opened.hooks, scene), options), pending };
}

export class SessionHooks {
  /** Aborted when a hook ends the turn. */
  #stop = new AbortController();

  constructor(
    private readonly state: SessionState,
    readonly hooks: Hooks,
    private readonly options: SessionHookOptions,
  ) {}

  /** Adds the hooks of `others`. */
  join({ hooks }: SessionHooks): void {
    this.hooks.all.push(...hooks.all);
  }

  /** Runs the hooks of a new or a resumed session. Their text is sent with the next message. */
  async start(source: "startup" | "resume", signal: AbortSignal): Promise<void> {
    const fields = { source };
    const verdict = await this.hooks.fire({
      event: "SessionStart",
      names: [source],
      fields,
      signal,
    });
    if (verdict.context !== undefined) this.state.pending.push(notePart(verdict.context));
  }

  /** Returns a signal for a turn that hooks may also end. */
  begin(signal: AbortSignal): AbortSignal {
    this.#stop = new AbortController();
    return AbortSignal.any([signal, this.#stop.signal]);
  }

  /** Returns what hooks add to a prompt. @throws {Error} if a hook refuses it; it is then not sent. */
  async prompt(prompt: string, signal: AbortSignal): Promise<Part[]> {
    const { block, stop, context } = await this.hooks.fire({
      event: "UserPromptSubmit",
      fields: { prompt },
      signal,
    });
    const refusal = block ?? stop;
    if (refusal !== undefined) throw new Error(`The message is not sent: ${refusal}`);
    return context === undefined ? [] : [notePart(context)];
  }

  /**
   * Decides on a call: first by the hooks, then by the policy. Hooks can make it stricter, or answer for the
   * user.
   */
  async decide(
    policy: Policy,
    tool: Tool,
    args: Record<string, unknown>,
    context: ToolContext,
  ): Promise<Decision> {
    const { names, input } = hookCall(tool, args, context.workingDir);
    const verdict = await this.hooks.fire({
      event: "PreToolUse",
      names,
      fields: {
        tool_name: names[0],
        tool_input: input,
        tool_use_id: context.callId ?? "",
        ...context.subAgent !== undefined && { agent_type: context.subAgent },
      },
      signal: context.signal,
    });
    if (verdict.stop !== undefined) this.#endTurn(verdict.stop);
    if (verdict.block !== undefined) return refusedByHook(verdict.block);
    const { updatedInput, decision } = verdict;
    const checked = updatedInput && checkArguments(tool, updatedInput);
    if (checked && !checked.ok) {
      return refusedByHook(`it changed the call wrongly: ${checked.error}`);
    }
    const given = checked ? checked.args : args;
    const decided = decision === undefined
      ? await policy.decide(tool, given, context)
      : await this.#decideWith(verdict, tool, given, context);
    if (!decided.allow || decided.args || !checked) return decided;
    return { ...decided, args: given };
  }

  async #decideWith(
    { decision, reason = "wants it" }: HookVerdict,
    tool: Tool,
    args: Record<string, unknown>,
    context: ToolContext,
  ): Promise<Decision> {
    const { approve, policyWith } = this.options;
    if (decision === "allow") {
      return await policyWith(() => Promise.resolve({ choice: "once" })).decide(
        tool,
        args,
        context,
      );
    }
    let isAsked = false;
    const asking: Approve | undefined = approve &&
      ((...question) => (isAsked = true, approve(...question)));
    const decided = await policyWith(asking).decide(tool, args, context);
    if (!decided.allow || isAsked) return decided;
    if (approve === undefined) {
      return refusedByHook(`it asks the person, and nobody is there: ${reason}`);
    }
    const question: Approval = {
      call: { id: context.callId ?? "", name: tool.name, arguments: args },
      subject: tool.subject?.(args) ?? {},
      reason: `is asked about by a hook: ${reason}`,
      isRoutine: false,
      isOfPerson: false,
      ...context.subAgent !== undefined && { subAgent: context.subAgent },
      choices: ["once", "refuse"],
    };
    const answer = await approve(question, context.signal);
    if (answer.choice === "once") return decided;
    const why = answer.choice === "refuse" && answer.reason !== "" ? `: ${answer.reason}` : "";
    return { allow: false, reason: `Refused by the user${why}`, explanation: "you said no" };
  }

  /** Returns the text that hooks add to the result of a call, if any. */
  async after(execution: ToolExecution, signal: AbortSignal): Promise<string | undefined> {
    const { toolName: name, arguments: args, result, details, toolCallId } = execution;
    const { agent } = this.state;
    const tool = agent.tools.find((one) => one.name === name);
    const ruleName = tool?.ruleName ?? (name.includes("__") ? `mcp__${name}` : undefined);
    const { names, input } = hookCall({ name, ruleName }, args, agent.state.workingDir);
    const { output, exitCode } = outcomeOf({ content: result, ...details });
    const response = {
      content: result,
      ...output && { stdout: output.stdout ?? "", stderr: output.stderr ?? "", interrupted: false },
      ...exitCode !== undefined && { exit_code: exitCode },
      ...typeof input.file_path === "string" && { filePath: input.file_path, success: true },
    };
    const { block, context, stop } = await this.hooks.fire({
      event: "PostToolUse",
      names,
      fields: {
        ...{ tool_name: names[0], tool_input: input, tool_response: response },
        tool_use_id: toolCallId,
      },
      signal,
    });
    if (stop !== undefined) this.#endTurn(stop);
    const said = [...block === undefined ? [] : [block], ...context === undefined ? [] : [context]];
    return said.length === 0 ? undefined : `\n\n[A hook says: ${said.join("\n")}]`;
  }

  /** Continues a turn that ended, as long as hooks request it. */
  async end(
    result: TurnResult,
    goOn: (parts: readonly Part[]) => Promise<TurnResult>,
    signal: AbortSignal,
  ): Promise<TurnResult> {
    let whole = result;
    for (let times = 0; whole.stopReason === "done" && times < MAX_GOING_ON; times++) {
      const { block, stop } = await this.hooks.fire({
        event: "Stop",
        fields: { stop_hook_active: times > 0, last_assistant_message: whole.response },
        signal,
      });
      if (block === undefined || stop !== undefined) break;
      const more = await goOn([notePart(`[A hook says: ${block}]`)]);
      whole = {
        ...more,
        toolExecutions: [...whole.toolExecutions, ...more.toolExecutions],
        inputTokens: whole.inputTokens + more.inputTokens,
        outputTokens: whole.outputTokens + more.outputTokens,
      };
    }
    return whole;
  }

  /** Runs the hooks at the end of the session. */
  async close(): Promise<void> {
    const signal = AbortSignal.timeout(MAX_END_MS);
    const fields = { reason: "other" };
    await this.hooks.fire({ event: "SessionEnd", names: ["other"], fields, signal }).catch(
      () => {},
    );
  }

  #endTurn(reason: string): void {
    const messages = [`a hook ended the turn: ${reason}`];
    this.state.emit({ type: "session_notice", notice: { code: "hook", messages } });
    this.#stop.abort(new DOMException(reason, "AbortError"));
  }
}

/** The maximum length of a refusal for the user, in characters. */
const MAX_SUMMARY_CHARS = 200;

function refusedByHook(why: string): Decision {
  const explanation = `a hook refused it: ${why}`;
  const summary = shortened(oneLine(explanation), MAX_SUMMARY_CHARS);
  return { allow: false, reason: `Refused by a hook: ${why}`, summary, explanation };
}
