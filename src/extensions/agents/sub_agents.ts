/** Sub-agents: agents with their own messages, which return only their last one. @module */

import { applyChanges, makeWorktree, type Worktree } from "./worktree.ts";
import type { CopilotAgent } from "../../agent/agent.ts";
import { inheritCounts } from "../../agent/tokens.ts";
import { processTurn } from "../../agent/turn.ts";
import { targetOf, withModel } from "../../models/target.ts";
import { didYouMean } from "../../text/nearest.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { notePart } from "../../text/parts.ts";
import { truncateMiddle } from "../../text/truncate.ts";
import type { ToolExecution, TurnEvent, TurnResult } from "../../types/event.ts";
import type { Policy } from "../../types/policy.ts";
import type { SubCall, SubProgress, ToolContext, ToolOutcome } from "../../types/tool.ts";
import { modelNames } from "../../models/model_server.ts";
import type { SkillsExtension } from "../skills/skills_extension.ts";
import type { PromptFile } from "../skills/load.ts";
import type { Lent, SessionState } from "../../session/extension.ts";
import { countUsage, lendTo, withRole } from "../../session/roles.ts";
import { MODEL_ROLES } from "../../config.ts";
import { type AgentLimits, mayCall } from "./agent_file.ts";
import { EXPLORE } from "../../tools/explore.ts";
import { closeLanes, type Lanes, openLanes } from "./lanes.ts";
import { isSameModel } from "../../models/ollama/connection.ts";

const MAX_SUB_ROUNDS = 30;
/** The words that are requested, and the maximum characters of an answer. */
const ANSWER_WORDS = 300;
const MAX_HANDED_CHARS = 12_000;
/** The characters of an answer and of a file's prompt per token of context: about an eighth of the context. */
const TEXT_SHARE = 0.5;
const NEWEST_CALLS = 2;

const EXPLORER: AgentLimits = { without: [], isReader: true };

export class SubAgents {
  /** The lanes while some are in use. The server may have others the next time. */
  #lanes: { at: string; open: Promise<Lanes> } | undefined;
  #working = 0;
  /** Worktrees are applied one by one. */
  #applying = Promise.resolve("");
  /** Sub-agents whose missing model was already reported. */
  readonly #reported = new Set<string>();

  constructor(private readonly session: SessionState, private readonly skills: SkillsExtension) {}

  /** Runs a task. @throws {Error} with a message for the model, or the reason of an abort. */
  async run(
    { task, agent: name }: { task: string; agent?: string },
    context: ToolContext,
  ): Promise<ToolOutcome> {
    const file = name === undefined ? undefined : this.#named(name);
    const { agent } = this.session;
    const { signal } = context;
    const limits = file?.limits ?? EXPLORER;
    const isWriter = agent.tools.some((tool) => tool.access !== "read" && mayCall(limits, tool));
    const isIsolated = limits.isIsolated === true && isWriter;
    const [role, spec] = this.#roleOf(file, context);
    return await withRole(this.session, role, spec, signal, async (lent) => {
      const { config } = lent?.agent ?? agent;
      const { url } = targetOf(config);
      const { at, open } = this.#lanes ??= { at: url, open: openLanes(config, signal) };
      this.#working++;
      try {
        using lane = await (await open).enter(isWriter && !isIsolated, signal);
        const definition = { name: file?.name ?? EXPLORE, limits };
        using worktree = isIsolated ? await makeWorktree(this.session, signal) : undefined;
        const work = new SubAgentWork(this.session, definition, context, lent, worktree);
        if (at === url) work.agent.slot = lane.slot;
        if (file && limits.model && !spec) await this.#useModel(work.agent, file, limits.model);
        const outcome = await work.run(task, file?.body);
        if (!worktree) return outcome;
        const apply = () => applyChanges(this.session, worktree, definition.name, context);
        const applied = this.#applying = this.#applying.catch(() => "").then(apply);
        const content = worktree.asOrigin(outcome.content);
        return { ...outcome, content: `${content}\n\n[${await applied}]` };
      } finally {
        if (--this.#working === 0) {
          this.#lanes = undefined;
          if (at === targetOf(agent.config).url) await closeLanes(agent.config);
        }
      }
    });
  }

  /** Returns the role of a sub-agent, and its model if that may be of another server. */
  #roleOf(file: PromptFile | undefined, { subAgent }: ToolContext) {
    const { models } = this.session.roles;
    const model = file?.limits?.model ?? EXPLORE;
    const role = MODEL_ROLES.find((one) => one === model);
    // Without a role of its own, the search of a planner is a part of the plan.
    const usual = role === EXPLORE && subAgent === "plan" ? models.plan : undefined;
    if (role) return [role, models[role] ?? usual] as const;
    // A folder must not name a server, which would get the user's files.
    const mayName = file!.scope === "user" && model.includes("#");
    return [file!.name, mayName ? model : undefined] as const;
  }

  #named(name: string): PromptFile {
    const found = this.skills.subAgent(name);
    if (found) return found;
    const { agents } = this.skills;
    const list = agents.map((one) => `${one.name}: ${shortened(one.description, 80)}`);
    const others = list.length === 0 ? "leave agent out" : `there are ${list.join("; ")}`;
    const hint = didYouMean(name, agents.map((one) => one.name), others);
    throw new Error(`There is no sub-agent ${oneLine(name)}: ${hint}`);
  }

  async #useModel(agent: CopilotAgent, { name, path }: PromptFile, model: string): Promise<void> {
    if (model === "inherit" || MODEL_ROLES.some((role) => role === model)) return;
    const names = await modelNames(agent.config).catch(() => []);
    const found = names.find((one) => isSameModel(one, model));
    if (found !== undefined) {
      agent.slot = undefined;
      return agent.configure(withModel(agent.config, { model: found }));
    }
    if (this.#reported.has(path)) return;
    this.#reported.add(path);
    const why = model.includes("#")
      ? "a folder names no server"
      : `the server does not list ${model}`;
    this.session.tell("agent_model", `the sub-agent ${name} uses the session's model: ${why}`);
  }
}

class SubAgentWork {
  readonly agent: CopilotAgent;
  readonly #calls: SubCall[] = [];
  readonly #usage = { inputTokens: 0, outputTokens: 0 };
  #running: SubProgress["running"];
  readonly #steering: ReturnType<SessionState["steering"]>;
  /** True once it has to answer without further calls. */
  #isOver = false;

  constructor(
    private readonly session: SessionState,
    private readonly definition: { name: string; limits: AgentLimits },
    private readonly context: ToolContext,
    private readonly lent?: Lent,
    private readonly worktree?: Worktree,
  ) {
    const parent = session.agent;
    this.agent = parent.fork({
      policy: { decide: (...call) => this.#decide(...call) },
      // Edits in a worktree are checked, and pass hooks, when they are applied.
      ...!worktree && {
        afterCall: (execution, signal) => session.afterCall(execution, this, signal),
      },
      subAgent: definition.name,
      ...worktree && { copy: worktree.context },
    });
    if (lent) lendTo(this.agent, lent);
    else inheritCounts(parent, this.agent);
    this.#steering = session.steering(context.signal);
  }

  async run(task: string, prompt: string | undefined): Promise<ToolOutcome> {
    const { definition: { limits } } = this;
    const most = Math.min(this.agent.config.maxToolRounds, MAX_SUB_ROUNDS);
    const rounds = Math.min(most, limits.maxRounds ?? most);
    const said = await this.#turn([
      notePart(this.#rules()),
      ...prompt === undefined ? [] : [notePart(truncateMiddle(prompt, this.#maxChars))],
      { type: "text", text: this.worktree?.asCopy(task) ?? task },
    ], rounds);
    if (said.stopReason === "loop" && said.toolExecutions.every(({ isError }) => isError)) {
      throw new Error("The sub-agent made no call that worked. Search yourself.");
    }
    const isCut = said.stopReason === "max_rounds" || said.stopReason === "loop";
    this.#isOver = true;
    const result = isCut ? await this.#turn([notePart(ANSWER_NOW)], 1) : said;
    const answer = result.isUnanswered ? "" : result.response.trim();
    if (answer === "" && !this.worktree) {
      throw new Error(
        `The sub-agent gave no answer after ${this.#calls.length} calls. Ask for less, or search yourself.`,
      );
    }
    const end = isCut || result.stopReason === "budget"
      ? "\n\n[It was stopped before it was done: this may not be all.]"
      : "";
    const max = Math.min(MAX_HANDED_CHARS, this.#maxChars);
    return {
      content: truncateMiddle(answer || "It gave no answer.", max) + end,
      calls: this.#calls,
      usage: this.#usage,
      counts: { calls: this.#calls.length, tokens: this.#tokens },
    };
  }

  get #maxChars(): number {
    const { contextLength = Infinity } = targetOf(this.agent.config);
    return Math.min(contextLength * TEXT_SHARE, this.agent.config.maxOutputChars);
  }

  async #turn(
    parts: Parameters<typeof processTurn>[1],
    maxToolRounds: number,
  ): Promise<TurnResult> {
    const { signal } = this.context;
    const result = await processTurn(this.agent, parts, {
      signal,
      maxToolRounds,
      isReadOnly: () => this.definition.limits.isReader,
      steering: async () =>
        (await this.#steering()).map((parts) => [notePart(FOR_PARENT), ...parts]),
      onEvent: (event) => this.#onEvent(event),
    });
    signal.throwIfAborted();
    return result;
  }

  /** Returns the rules of a sub-agent, for its first message: the prompt is that of its parent. */
  #rules(): string {
    const { definition: { name, limits }, agent } = this;
    const tools = agent.offered.filter((tool) => mayCall(limits, tool)).map((tool) => tool.name);
    const who = name === EXPLORE
      ? "You are a sub-agent that only reads."
      : `You are the sub-agent ${name}.`;
    const others = limits.isReader ? "nothing is written or run" : "others are refused";
    const where = this.worktree ? IN_WORKTREE : "";
    return `[${who} Your tools: ${
      tools.join(", ") || "none"
    }; ${others}. ${where}Do the task below by yourself, as ` +
      "nobody answers questions. Your last message is all that is handed back: say in it what you " +
      `found, with places as path:line, in at most ${ANSWER_WORDS} words.]`;
  }

  /** Decides on a call: first by the sub-agent's limits, then as for its parent. */
  readonly #decide: Policy["decide"] = (tool, args, context) => {
    const { name, limits } = this.definition;
    if (this.#isOver) return { allow: false, reason: ANSWER_NOW, summary: "it is to answer now" };
    if (tool.name === EXPLORE) {
      const reason = "Refused: a sub-agent starts no other. Search yourself.";
      return { allow: false, reason, summary: "a sub-agent starts no other" };
    }
    if (!mayCall(limits, tool)) {
      const summary = `${name} does not have this tool`;
      return {
        allow: false,
        reason: `Refused: ${summary}. Go on with the tools that it has, or answer.`,
        summary,
      };
    }
    // Ids of two agents may be equal.
    const callId = `${this.context.callId ?? ""}/${context.callId ?? ""}`;
    return this.session.policy.decide(tool, args, { ...context, callId });
  };

  #onEvent(event: TurnEvent): void {
    switch (event.type) {
      case "tool_start": {
        const { name: toolName, subject } = event;
        this.#running = { toolName, ...subject && { subject } };
        return;
      }
      case "tool_done":
        return void this.#calls.push(subCall(event.exec));
      case "thinking":
        this.#running = undefined;
        // Repeated at each step, because the end of another call clears it.
        return this.context.onOutput?.(() => this.#progress());
      case "usage": {
        const lent = this.lent ? [this.lent.agent.state] : [];
        return countUsage(this.session, event.usage, this.#usage, ...lent);
      }
    }
  }

  get #tokens(): number {
    return this.#usage.inputTokens + this.#usage.outputTokens;
  }

  #progress(): SubProgress {
    const { length: made } = this.#calls;
    const running = this.#running && { running: this.#running };
    return { calls: this.#calls.slice(-NEWEST_CALLS), ...running, made, tokens: this.#tokens };
  }
}

const FOR_PARENT =
  "[The user wrote this meanwhile to the agent that gave you the task, which will read it too. Follow it as far as it concerns your task.]";
const IN_WORKTREE =
  "You work in a copy of the user's folder, at the same commit and with its uncommitted changes: change files there, without committing. The user decides at the end if your changes are applied. ";
const ANSWER_NOW =
  "[No more calls: answer the task now with what you found, and say what is missing.]";

function subCall(execution: ToolExecution): SubCall {
  const { toolName, subject, outcome, refusal, durationMs, details = {} } = execution;
  const { counts, range, exitCode } = details;
  return {
    toolName,
    outcome,
    ...refusal !== undefined && { refusal },
    durationMs,
    ...subject && { subject },
    details: {
      ...counts && { counts },
      ...range && { range },
      ...exitCode !== undefined && { exitCode },
    },
  };
}
