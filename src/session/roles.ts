/** Roles: models that plan, explore or summarize in place of the session's model. @module */

import { CopilotAgent } from "../agent/agent.ts";
import type { CompactOptions } from "../agent/compact.ts";
import { transcript } from "../agent/summary.ts";
import { addTokens, inheritCounts, type TokenSum } from "../agent/tokens.ts";
import type { TurnOptions } from "../agent/turn.ts";
import { type CopilotConfig, mayBeOwnServer, MODEL_ROLES } from "../config.ts";
import { BackendError, UsageError } from "../errors.ts";
import { addressOf, serverOf, specName } from "../models/model_server.ts";
import { connectionFailure } from "../models/ollama/connection.ts";
import { targetOf } from "../models/target.ts";
import { oneLine } from "../text/one_line.ts";
import { newMessageId, notePart, textOfParts, userMessage } from "../text/parts.ts";
import { reasonOf } from "../text/reason.ts";
import { truncateMiddle } from "../text/truncate.ts";
import type { TurnEvent, TurnResult, Usage } from "../types/event.ts";
import type { Part } from "../types/message.ts";
import { isNear } from "../wire/connect.ts";
import type { Lent, SessionState } from "./extension.ts";
import { type FitOptions, ModelFit, targetKey, useCompatible } from "./fit_model.ts";
import { processFittedTurn } from "./fitted_turn.ts";
import { isPlanning } from "./plan_mode.ts";

/** How long a role's server is not asked again after a failure, in milliseconds. */
const RETRY_MS = 60_000;
/** The maximum characters that a planner reads of a conversation; at most about a quarter of its window. */
const MAX_CONVERSATION_CHARS = 60_000;
const PLAN_NOW = "Refused: you only plan. Answer with the plan; another model carries it out.";

const isHostedApi = (url: string) => !mayBeOwnServer(url) && !isNear(url);

/** False for a failure that is about one request, or about what the model wrote. */
const isAway = (error: unknown) =>
  error instanceof UsageError || // without a key
  error instanceof BackendError && (error.status === 404 || (error.kind === "protocol"
      ? (error.status ?? error.cause) !== undefined
      : !/request|context|incomplete/.test(error.kind)));

const keyOfModel = (config: CopilotConfig) => targetKey(targetOf(config));

/**
 * Runs `work` with the model of a role. If the role has no model, or its server is away, `work` gets no `lent` and uses
 * the session's model.
 * @throws {Error} if that would send to a hosted API what is meant for a server of the user's own.
 */
export async function withRole<T>(
  session: SessionState,
  role: string,
  spec: string | undefined,
  signal: AbortSignal,
  work: (lent?: Lent) => Promise<T>,
): Promise<T> {
  if (spec === undefined) return await work();
  let isOwn = false;
  try {
    const lent = await lentFor(session, role, spec, signal);
    isOwn = lent === undefined;
    return await work(lent);
  } catch (error) {
    if (signal.aborted || isOwn) throw error;
    if (!isAway(error)) {
      if (error instanceof BackendError) {
        error.message = `${specName(spec)}${sourceOf(session, role)}: ${error.message}`;
      }
      throw error;
    }
    avoid(session, role, spec, error);
    return await work();
  }
}

/** Returns the model of a role once its server answers. @throws {unknown} the reason why it does not, or did not lately */
async function lentFor(session: SessionState, role: string, spec: string, signal: AbortSignal) {
  const { agent, emit, fit, notify, options, roles } = session;
  const { until = 0, error } = roles.away.get(role) ?? {};
  if (until > Date.now()) throw error;
  const config = options.modelFlags?.at(spec, fit.unfitted(agent));
  if (!config || keyOfModel(config) === keyOfModel(agent.config)) return undefined;
  const key = `${role} ${keyOfModel(config)}`;
  const lent = roles.lent.get(key) ?? {
    role,
    agent: new CopilotAgent(config, agent.state.workingDir),
    fit: new ModelFit({ isChosen: true, asksRemote: true, reportsOthers: true }),
  };
  roles.lent.set(key, lent);
  const at = addressOf(targetOf(config));
  const failure = !isHostedApi(at.host) && await connectionFailure({ ...at, signal });
  if (failure) throw failure;
  await useCompatible(lent.agent, targetOf(lent.agent.config), { signal });
  await lent.fit.prepare(lent.agent, { signal, onNotice: notify, onEvent: emit });
  return lent;
}

/** Says in brackets what names a role's model, or takes it away. */
function sourceOf({ surface: { kind } }: SessionState, role: string): string {
  if (!MODEL_ROLES.some((one) => one === role)) return ` (the file of the sub-agent names it)`;
  return kind === "flags" ? ` ("roles" in config.json names it)` : ` (/model ${role} off)`;
}

/** Reports once that the session's model does the work. @throws {Error} if it is of a hosted API. */
function avoid(session: SessionState, role: string, spec: string, error: unknown) {
  const { agent, tell, roles } = session;
  const { until } = roles.away.get(role) ?? {};
  if ((until ?? 0) < Date.now()) roles.away.set(role, { until: Date.now() + RETRY_MS, error });
  const [model, why] = [specName(spec), oneLine(reasonOf(error))];
  if (spec.includes("#") && isHostedApi(targetOf(agent.config).url)) {
    const instead = `nothing is sent to ${serverOf(agent.config)} in its place`;
    const source = sourceOf(session, role);
    throw new Error(`${model} is unavailable, and ${instead}${source}: ${why}`);
  }
  if (until !== undefined) return;
  const instead = `the session's model is used for "${role}" for a minute`;
  tell("role_away", `${model} is unavailable, so ${instead}: ${why}`);
}

export const summarizerOf =
  (session: SessionState): CompactOptions["summarizer"] => (ask, signal) =>
    withRole(session, "summary", session.roles.models.summary, signal, (lent) => ask(lent?.agent));

/** Runs a turn of plan mode. The planner reads in its own conversation; that of the session gets the plan alone. */
export async function planTurn(
  session: SessionState,
  parts: readonly Part[],
  options: TurnOptions & FitOptions & { signal: AbortSignal },
): Promise<TurnResult> {
  const { agent, fit, roles } = session;
  return await withRole(session, "plan", roles.models.plan, options.signal, async (lent) => {
    if (lent === undefined) return await processFittedTurn(agent, fit, parts, options);
    // After /undo, /resume or work on the plan, the old planner's conversation is stale.
    const isSame = roles.planner?.lent === lent &&
      roles.planner.last === agent.state.messages.at(-1);
    const planner = isSame ? roles.planner!.agent : newPlanner(session, lent);
    const sent = isSame ? parts : [...conversationPart(agent, planner), ...parts];
    const onEvent = (event: TurnEvent) => {
      session.emit(event);
      if (event.type === "usage") countUsage(session, event.usage, lent.agent.state);
    };
    const result = await processFittedTurn(planner, lent.fit, sent, { ...options, onEvent });
    const plan = planner.state.messages.at(-1)!;
    const words = parts.filter((one) =>
      one.type === "text" || "kind" in one && one.kind === "note"
    );
    const request = userMessage(textOfParts(words).trim() === "" ? "[Make a plan.]" : words);
    agent.state.messages.push({ ...request, id: newMessageId() }, plan);
    roles.planner = { lent, agent: planner, last: plan };
    return result;
  });
}

/** Counts tokens of another conversation for the session, and in `sums`. */
export function countUsage(session: SessionState, usage: Usage, ...sums: TokenSum[]): void {
  addTokens(usage, session.agent.state, ...sums);
  if (usage.cost !== undefined) session.cost = (session.cost ?? 0) + usage.cost;
  session.emitStatus();
}

function newPlanner(session: SessionState, lent: Lent): CopilotAgent {
  const planner = session.agent.fork({
    policy: {
      // The user may end plan mode meanwhile.
      decide: async (tool, ...call) =>
        tool.access === "read" || await isPlanning(session)
          ? await session.policy.decide(tool, ...call)
          : { allow: false, reason: PLAN_NOW, summary: "it only plans" },
    },
    afterCall: (execution, signal) => session.afterCall(execution, planner, signal),
    subAgent: "plan",
  });
  lendTo(planner, lent);
  return planner;
}

export function lendTo(agent: CopilotAgent, lent: Lent): void {
  agent.configure(lent.agent.config);
  agent.seesImages = lent.agent.seesImages;
  inheritCounts(lent.agent, agent);
}

function conversationPart({ state: { messages } }: CopilotAgent, planner: CopilotAgent): Part[] {
  if (messages.length === 0) return [];
  const { contextLength = Infinity } = targetOf(planner.config);
  const most = Math.min(contextLength, MAX_CONVERSATION_CHARS);
  const conversation = truncateMiddle(messages.map(transcript).join("\n\n"), most);
  return [
    notePart(`[The conversation so far. Another model carries out the plan]\n${conversation}`),
  ];
}
