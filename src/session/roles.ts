/** Roles: models that plan, explore or summarize in place of the session's model. @module */

import { CopilotAgent } from "../agent/agent.ts";
import type { CompactOptions } from "../agent/compact.ts";
import { transcript } from "../agent/summary.ts";
import { addTokens, inheritCounts } from "../agent/tokens.ts";
import type { TurnOptions } from "../agent/turn.ts";
import { type CopilotConfig, mayBeOwnServer, MODEL_ROLES } from "../config.ts";
import { BackendError } from "../errors.ts";
import { addressOf, serverOf, specName } from "../models/model_server.ts";
import { connectionFailure } from "../models/ollama/connection.ts";
import { targetOf } from "../models/target.ts";
import { oneLine } from "../text/one_line.ts";
import { newMessageId, notePart, userMessage } from "../text/parts.ts";
import { reasonOf } from "../text/reason.ts";
import { truncateMiddle } from "../text/truncate.ts";
import type { TurnEvent, TurnResult } from "../types/event.ts";
import type { Message, Part } from "../types/message.ts";
import { isNear } from "../wire/connect.ts";
import type { Notice } from "./data.ts";
import type { Lent, Roles, SessionState } from "./extension.ts";
import { ModelFit, type Progress, targetKey } from "./fit_model.ts";
import { processFittedTurn } from "./fitted_turn.ts";
import { isPlanning, withPlanNote } from "./plan_mode.ts";

/** The time without further requests to a server that was away, in milliseconds. */
const RETRY_MS = 60_000;
/** The maximum characters that a planner reads of a conversation; at most about a quarter of its window. */
const MAX_TOLD_CHARS = 60_000;

/** A conversation in plan mode. `last`: the newest message of the session's conversation when it paused. */
interface Planner {
  lent: Lent;
  agent: CopilotAgent;
  last: Message | undefined;
}

export class SessionRoles implements Roles {
  readonly lent = new Map<string, Lent>();
  readonly #away = new Map<string, { until: number; why: string }>();
  readonly #told = new Set<string>();
  #planner: Planner | undefined;

  constructor(
    private readonly session: SessionState,
    readonly models: Roles["models"] = {},
  ) {}

  readonly summarizer: CompactOptions["summarizer"] = (ask, signal) =>
    this.run("summary", this.models.summary, signal, (lent) => ask(lent?.agent));

  async run<T>(
    role: string,
    spec: string | undefined,
    signal: AbortSignal,
    work: (lent?: Lent) => Promise<T>,
  ): Promise<T> {
    const lent = spec === undefined ? undefined : await this.#lend(role, spec, signal);
    if (spec === undefined || lent === undefined) return await work();
    try {
      return await work(lent);
    } catch (error) {
      if (signal.aborted || !isAway(error)) throw error;
      this.#fallBack(role, spec, reasonOf(error));
      return await work();
    }
  }

  async planTurn(
    parts: readonly Part[],
    options: TurnOptions & Progress & { signal: AbortSignal },
  ): Promise<TurnResult> {
    const { agent, fit } = this.session;
    return await this.run("plan", this.models.plan, options.signal, async (lent) => {
      if (lent === undefined) return await processFittedTurn(agent, fit, parts, options);
      const planner = this.#plannerOf(lent);
      const isNew = planner.state.messages.length === 0;
      const sent = isNew ? [...this.#toldParts(planner), ...withPlanNote(parts)] : parts;
      const onEvent = (event: TurnEvent) => this.#onPlannerEvent(event, lent);
      const result = await processFittedTurn(planner, lent.fit, sent, { ...options, onEvent });
      this.#handOver(planner, parts);
      this.#planner!.last = agent.state.messages.at(-1);
      return result;
    });
  }

  whyAway(spec: string): string | undefined {
    const { until = 0, why } = this.#away.get(spec) ?? {};
    return until > Date.now() ? why : undefined;
  }

  async #lend(role: string, spec: string, signal: AbortSignal): Promise<Lent | undefined> {
    const { agent, emit, fit, modelFlags } = this.session;
    const why = this.whyAway(spec);
    if (why !== undefined) return this.#fallBack(role, spec, why);
    try {
      const config = modelFlags?.at(spec, fit.unfitted(agent));
      if (!config || keyOfModel(config) === keyOfModel(agent.config)) return undefined;
      const key = `${role} ${keyOfModel(config)}`;
      const lent = this.lent.get(key) ?? {
        role,
        agent: new CopilotAgent(config, agent.state.workingDir),
        fit: new ModelFit({ isChosen: true, asksRemote: true, tellsOther: true }),
      };
      this.lent.set(key, lent);
      const target = targetOf(config);
      const failure = !isHostedApi(target.url) &&
        await connectionFailure({ ...addressOf(target), signal });
      if (failure && isAway(failure)) throw failure;
      const onNotice = (notice: Notice) => emit({ type: "session_notice", notice });
      await lent.fit.prepare(lent.agent, { signal, onNotice });
      return lent;
    } catch (error) {
      signal.throwIfAborted();
      return this.#fallBack(role, spec, reasonOf(error));
    }
  }

  /** Reports once that the session's model replaces that of `role`. @throws {Error} if it is of a hosted API. */
  #fallBack(role: string, spec: string, why: string): undefined {
    const { agent, emit } = this.session;
    if (this.whyAway(spec) === undefined) {
      this.#away.set(spec, { until: Date.now() + RETRY_MS, why });
    }
    const model = specName(spec);
    if (spec.includes("#") && isHostedApi(targetOf(agent.config).url)) {
      const how = MODEL_ROLES.some((one) => one === role) ? ` (/model ${role} off allows it)` : "";
      const instead = `nothing is sent to ${serverOf(agent.config)} in its place${how}`;
      throw new Error(`${model} is away, and ${instead}: ${oneLine(why)}`);
    }
    if (this.#told.has(role)) return;
    this.#told.add(role);
    emit({ type: "session_notice", notice: { code: "role_away", role, model, why } });
  }

  #plannerOf(lent: Lent): CopilotAgent {
    const { session } = this;
    // After an undone message, a resumed session or work on the plan, it would remember what is not so any more.
    const last = session.agent.state.messages.at(-1);
    if (this.#planner?.lent === lent && this.#planner.last === last) {
      return this.#planner.agent;
    }
    const agent = session.agent.fork({
      policy: {
        decide: async (tool, ...call) =>
          tool.access === "read" || await isPlanning(session)
            ? await session.policy.decide(tool, ...call)
            : { allow: false, reason: PLAN_NOW, summary: "it only plans" },
      },
      afterTool: (execution, signal, later) => session.afterCall(execution, agent, signal, later),
      subAgent: "plan",
    });
    agent.configure(lent.agent.config);
    agent.seesImages = lent.agent.seesImages;
    inheritCounts(lent.agent, agent);
    this.#planner = { lent, agent, last };
    return agent;
  }

  /** Returns what was said in the session, for a planner without a conversation. */
  #toldParts(planner: CopilotAgent): Part[] {
    const { messages } = this.session.agent.state;
    if (messages.length === 0) return [];
    const { contextLength = Infinity } = targetOf(planner.config);
    const most = Math.min(contextLength, MAX_TOLD_CHARS);
    const told = truncateMiddle(messages.map(transcript).join("\n\n"), most);
    return [notePart(`[The conversation so far, with the model that works on the plan]\n${told}`)];
  }

  #onPlannerEvent(event: TurnEvent, lent: Lent): void {
    const { session } = this;
    session.emit(event);
    if (event.type !== "usage") return;
    addTokens(event.usage, session.agent.state, lent.agent.state);
    const { cost } = event.usage;
    if (cost !== undefined) session.cost = (session.cost ?? 0) + cost;
    session.onCounted();
  }

  /** Adds the request without its files, and the plan, to the session's conversation. */
  #handOver({ state: { messages } }: CopilotAgent, parts: readonly Part[]): void {
    const { content, standsFor } = messages.at(-1)!;
    const words = parts.filter((part) =>
      part.type === "text" || part.type === "resource" && part.kind === "note"
    );
    this.session.agent.state.messages.push(
      { ...userMessage(words), id: newMessageId() },
      { role: "assistant", content, id: newMessageId(), ...standsFor && { standsFor } },
    );
  }
}

const PLAN_NOW = "Refused: you only plan. Answer with the plan; another model carries it out.";

/** True for an address on the web. */
const isHostedApi = (url: string) => !mayBeOwnServer(url) && !isNear(url);

/** False for a failure that is about one request. */
const isAway = (error: unknown) =>
  error instanceof BackendError && !/request|context|protocol|incomplete/.test(error.kind);

const keyOfModel = (config: CopilotConfig) => targetKey(targetOf(config));
