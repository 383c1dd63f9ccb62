/** The events of a session at which hooks run. @module */

import { outcomeOf } from "../../agent/run_tools.ts";
import { EXPLORE } from "../../tools/explore.ts";
import { checkArguments } from "../../tools/schema.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { notePart } from "../../text/parts.ts";
import type { ToolExecution, TurnResult } from "../../types/event.ts";
import type { Part } from "../../types/message.ts";
import type { Decision, Policy } from "../../types/policy.ts";
import type { Tool, ToolContext } from "../../types/tool.ts";
import type { Approval, ApprovalAnswer } from "../../safety/approval.ts";
import { PLUGGED } from "../../safety/rules.ts";
import { namedReads } from "../../safety/readable_folders.ts";
import { repositoryOf } from "../../safety/repositories.ts";
import { programFolders } from "../../find_program.ts";
import type { Confine } from "../../types/confine.ts";
import type { Frontend } from "../../session/frontend.ts";
import type { Extension, PendingCall, SessionState, TurnEnd } from "../../session/extension.ts";
import { type HookDefinition, type HookEvent, hookText, matchesHook } from "./definition.ts";
import { runHook } from "./run_hook.ts";
import { HookTranscript } from "./transcript.ts";
import { hookCall } from "./tool_names.ts";
import { type HookVerdict, joinedVerdicts, verdictOf } from "./verdict.ts";

type Approve = NonNullable<Frontend["approve"]>;

const PERMISSION_MODES = { ask: "default", auto: "auto", plan: "plan", never: "dontAsk" } as const;

/** The maximum number of rounds that Stop hooks add to a turn: in a row without a call, and in all. */
const MAX_CONTINUATIONS = 5;
const MAX_WORKING_CONTINUATIONS = 100;
const MAX_END_MS = 5000;

/** True if a hook's decision answers this question. A sandboxed hook may not grant what the sandbox lacks. */
const mayAnswer = (
  decision: HookVerdict["decision"],
  { isRoutine, right, networked }: Approval,
): boolean =>
  decision === "allow" || decision === "allowUsual" && isRoutine && !right && !networked;

export class SessionHooks implements Extension {
  readonly all: HookDefinition[] = [];
  readonly #id = crypto.randomUUID();
  /** The sandboxes of hooks, which those of an owner share. */
  readonly #sandboxes: Record<string, Confine> = {};
  readonly #transcript: HookTranscript;
  /** The rounds of the turn so far: all, those since a call, and the calls. */
  #continued = 0;
  #idle = 0;
  #calls = 0;

  constructor(private readonly session: SessionState) {
    this.#transcript = new HookTranscript(session.permissions.variables);
  }

  permissions() {
    return Promise.resolve(this.all.map((hook) => ["hook", hookText(hook)] as const));
  }

  /** Adds hooks, and runs those of a new or resumed session. Their text is sent with the next message. */
  async add(
    definitions: readonly HookDefinition[],
    source: "startup" | "resume",
    signal: AbortSignal,
  ): Promise<void> {
    const about = ["SessionStart", [source], { source }, signal] as const;
    const { context } = await this.#fire(...about, definitions);
    if (context !== undefined) this.session.pendingParts.push(notePart(context));
    this.all.push(...definitions);
  }

  /** Returns what hooks add to a message. @throws {Error} if one refuses it. */
  async message(prompt: string, signal: AbortSignal): Promise<Part[]> {
    const verdict = await this.#fire("UserPromptSubmit", [], { prompt }, signal);
    const { block, stop, context, shown } = verdict;
    const refusal = block === undefined ? stop : shown ?? block;
    if (refusal !== undefined) throw new Error(`The message is not sent: ${refusal}`);
    return context === undefined ? [] : [notePart(context)];
  }

  /** Decides on a call: hooks first, then `next`, for the call as hooks of the user changed it. */
  async beforeCall([tool, args, context]: PendingCall, next: Policy): Promise<Decision> {
    const { names, input } = hookCall(tool, args, context.workingDir);
    const about = {
      ...aboutCall(names, input, context.subAgent),
      tool_use_id: context.callId ?? "",
    };
    const verdict = await this.#fire("PreToolUse", names, about, context.signal);
    if (verdict.stop !== undefined) this.#endTurn(verdict.stop);
    if (verdict.block !== undefined) return refusedByHook(verdict.block, verdict.shown);
    const checked = verdict.updatedInput && checkArguments(tool, verdict.updatedInput);
    if (checked?.ok === false) {
      return refusedByHook(`it changed the call wrongly: ${checked.error}`);
    }
    const given = checked?.args ?? args;
    const decided = verdict.decision === undefined
      ? await next.decide(tool, given, context)
      : await this.#decideWith(verdict, tool, given, context);
    if (!decided.allow || decided.args || given === args) return decided;
    return { ...decided, args: given, isByHook: true };
  }

  async #decideWith(
    { decision, reason = "wants it" }: HookVerdict,
    tool: Tool,
    args: Record<string, unknown>,
    context: ToolContext,
  ): Promise<Decision> {
    const { approve, policyWith } = this.session;
    if (decision !== "ask") {
      let answersAll = true;
      const answer: Approve = (question, signal) => {
        answersAll &&= mayAnswer(decision, question);
        if (answersAll) return Promise.resolve({ choice: "once" });
        // A yes to a question that no one may answer would grant the network for the rest of the session.
        return approve?.(question, signal) ?? Promise.resolve({ choice: "refuse", reason: "" });
      };
      const decided = await policyWith(answer).decide(tool, args, context);
      return answersAll || approve ? decided : policyWith(undefined).decide(tool, args, context);
    }
    let isAsked = false;
    const asking: Approve | undefined = approve &&
      ((...question) => (isAsked = true, approve(...question)));
    const decided = await policyWith(asking).decide(tool, args, context);
    if (!decided.allow || isAsked) return decided;
    if (approve === undefined) {
      return refusedByHook(`it needs the user's approval, and the user cannot be asked: ${reason}`);
    }
    const question: Approval = {
      call: { id: context.callId ?? "", name: tool.name, arguments: args },
      subject: tool.subject?.(args) ?? {},
      reason: `is asked about by a hook: ${reason}`,
      isRoutine: false,
      isFromUser: false,
      ...context.subAgent !== undefined && { subAgent: context.subAgent },
      choices: ["once", "refuse"],
    };
    const answer = await approve(question, context.signal);
    if (answer.choice === "once") return decided;
    const why = answer.choice === "refuse" && answer.reason !== "" ? `: ${answer.reason}` : "";
    return { allow: false, reason: `Refused by the user${why}`, explanation: "you said no" };
  }

  /** Answers a question about a call in place of the user, or notifies them of it. */
  async beforeQuestion(
    question: Approval,
    signal: AbortSignal,
  ): Promise<ApprovalAnswer | undefined> {
    const { call, subAgent } = question;
    const { names, input } = this.#callOf(call.name, call.arguments);
    const about = aboutCall(names, input, subAgent);
    const { block, decision } = await this.#fire("PermissionRequest", names, about, signal);
    if (block !== undefined) return { choice: "refuse", reason: block };
    if (mayAnswer(decision, question)) return { choice: "once" };
    const type = "permission_prompt";
    const message = `copilot needs your permission to use ${names[0]}`;
    const fields = { notification_type: type, message };
    this.#fire("Notification", [type], fields, signal).catch(() => {});
    return undefined;
  }

  async beforeCompact(
    trigger: "manual" | "auto",
    focus: string,
    signal: AbortSignal,
  ): Promise<void> {
    const fields = { trigger, custom_instructions: focus };
    await this.#fire("PreCompact", [trigger], fields, signal);
  }

  #callOf(name: string, args: Readonly<Record<string, unknown>>): ReturnType<typeof hookCall> {
    const { agent } = this.session;
    const tool = agent.tools.find((one) => one.name === name);
    const ruleName = tool?.ruleName ?? (name.includes("__") ? `${PLUGGED}${name}` : undefined);
    return hookCall({ name, ruleName }, args, agent.state.workingDir);
  }

  async afterCall(
    execution: ToolExecution,
    _: object,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { toolName: name, arguments: args, result, details, toolCallId } = execution;
    const { names, input } = this.#callOf(name, args);
    const { output, exitCode } = outcomeOf({ content: result, ...details });
    const response = {
      content: result,
      ...output && { stdout: output.stdout ?? "", stderr: output.stderr ?? "", interrupted: false },
      ...exitCode !== undefined && { exit_code: exitCode },
      ...typeof input.file_path === "string" && { filePath: input.file_path, success: true },
    };
    const about = { ...aboutCall(names, input), tool_use_id: toolCallId, tool_response: response };
    const verdicts = [
      execution.isError
        ? await this.#fire("PostToolUseFailure", names, { ...about, error: result }, signal)
        : await this.#fire("PostToolUse", names, about, signal),
    ];
    if (name === EXPLORE) {
      const agent = typeof args.agent === "string" ? args.agent : EXPLORE;
      const ended = { agent_type: agent, agent_id: toolCallId, last_assistant_message: result };
      verdicts.push(await this.#fire("SubagentStop", [agent], ended, signal));
    }
    const said: string[] = [];
    for (const { block, context, stop, shown } of verdicts) {
      if (block !== undefined) this.#tell(`a hook objects to ${name}: ${shown ?? block}`);
      if (stop !== undefined) this.#endTurn(stop);
      said.push(...[block, context].filter((text) => text !== undefined));
    }
    return said.length === 0 ? undefined : `\n\n[A hook says: ${said.join("\n")}]`;
  }

  /** Returns what continues a turn that is done, or makes it fail, if hooks want that. */
  async endOfTurn(
    { response, toolExecutions }: TurnResult,
    round: number,
    signal: AbortSignal,
  ): Promise<TurnEnd | undefined> {
    if (round === 0) this.#continued = this.#idle = this.#calls = 0;
    if (toolExecutions.length > this.#calls) this.#idle = 0;
    this.#calls = toolExecutions.length;
    const about = { stop_hook_active: this.#continued > 0, last_assistant_message: response };
    const { block, stop, shown } = await this.#fire("Stop", [], about, signal);
    if (block === undefined || stop !== undefined) {
      const passed = { command: "Stop hook", passed: true, rounds: this.#continued + 1 };
      return this.#continued > 0 ? { check: passed } : undefined;
    }
    const reason = `objects: ${shortened(oneLine(shown ?? block), MAX_SUMMARY_CHARS)}`;
    const check = { command: "Stop hook", passed: false, rounds: this.#continued + 1, reason };
    const isLast = this.#continued >= MAX_WORKING_CONTINUATIONS;
    if (isLast || this.#idle++ >= MAX_CONTINUATIONS) {
      this.#tell(`a hook still objects after ${this.#continued} rounds: ${shown ?? block}`);
      return { check };
    }
    this.#continued++;
    this.#tell(`a hook continues the turn: ${shown ?? block}`);
    return { check, parts: [notePart(`[A hook says: ${block}]`)] };
  }

  async close(): Promise<void> {
    const signal = AbortSignal.timeout(MAX_END_MS);
    await this.#fire("SessionEnd", ["other"], { reason: "other" }, signal).catch(() => {});
    this.#transcript.end();
  }

  /** Runs those of `all` that are for an event and one of `names`, in parallel. @throws the reason of `signal`. */
  async #fire(
    event: HookEvent,
    names: readonly string[],
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    all: readonly HookDefinition[] = this.all,
  ): Promise<HookVerdict> {
    const matching = all.filter((hook) => hook.event === event && matchesHook(hook, names));
    // A command with two matchers runs once.
    const keyOf = ({ plugin, scope, command }: HookDefinition) =>
      `${scope} ${plugin?.name} ${command}`;
    const hooks = [...new Map(matching.map((hook) => [keyOf(hook), hook])).values()];
    if (hooks.length === 0) return { messages: [] };
    const { agent, permissions, record, mode } = this.session;
    const { workingDir, messages } = agent.state;
    const session_id = record?.name?.replace(/\.jsonl$/, "") ?? this.#id;
    const transcript_path = this.#transcript.write(messages, session_id, workingDir);
    const input = JSON.stringify({
      session_id,
      transcript_path,
      permission_mode: permissions.approvesAll
        ? "bypassPermissions"
        : PERMISSION_MODES[mode?.approve ?? "ask"],
      cwd: workingDir,
      hook_event_name: event,
      ...fields,
    });
    const verdicts = await Promise.all(hooks.map(async (hook) => {
      const end = await runHook(hook, {
        workingDir,
        // The question about a plug-in names no variable of the user.
        env: hook.plugin ? [] : permissions.env,
        input,
        signal,
        ...!hook.isOutside && { confine: this.#confine(hook, transcript_path) },
        variables: {
          CLAUDE_PROJECT_DIR: repositoryOf(workingDir),
          ...hook.plugin && { CLAUDE_PLUGIN_ROOT: hook.plugin.root },
          // A hook of the user does not run programs that a command made.
          ...hook.scope === "user" && Deno.build.os !== "windows" &&
            { PATH: programFolders(workingDir).join(":") },
        },
      });
      return { hook, verdict: verdictOf(hook, end) };
    }));
    const verdict = joinedVerdicts(verdicts);
    if (verdict.messages.length > 0) this.session.tell("hook", ...verdict.messages);
    return verdict;
  }

  /** Returns the sandbox of a hook. One of the user can read the files, and the folders below home, that it names. */
  #confine({ scope, command, plugin }: HookDefinition, transcript: string): Confine {
    const { agent, permissions, options: { trust } } = this.session;
    const isOwn = scope === "user";
    const by = scope !== "folder" ? scope : trust ? "trusted" : "hooks";
    const name = plugin ? `plugin-${plugin.name}` : `${isOwn ? "own" : "folder"}-hooks`;
    const confine = this.#sandboxes[name] ??= permissions
      .confineServers(() => agent.state.workingDir, name, by);
    const home = permissions.variables("HOME") ?? "";
    const words = !isOwn ? [] : command.split(/["'\s;=]+/)
      .map((word) => word.replace(/^(~|\$HOME|\$\{HOME\})(?=\/)/, home));
    const reads = [...namedReads(words, agent.state.workingDir, home), transcript];
    return (program, args, right) =>
      confine(program, args, right, { reads, changesState: plugin !== undefined });
  }

  #endTurn(reason: string): void {
    this.#tell(`a hook ended the turn: ${reason}`);
    this.session.endTurn(reason);
  }

  #tell(line: string): void {
    this.session.tell("hook", shortened(oneLine(line), MAX_SUMMARY_CHARS));
  }
}

const MAX_SUMMARY_CHARS = 200;

const aboutCall = (names: readonly string[], input: object, subAgent?: string) => ({
  tool_name: names[0],
  tool_input: input,
  ...subAgent !== undefined && { agent_type: subAgent },
});

function refusedByHook(why: string, shown = why): Decision {
  const explanation = `a hook refused it: ${shown}`;
  const summary = shortened(oneLine(explanation), MAX_SUMMARY_CHARS);
  return { allow: false, reason: `Refused by a hook: ${why}`, summary, explanation };
}
