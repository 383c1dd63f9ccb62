/** `/model`: lists the models of the server, goes on with another one. @module */

import type { CopilotConfig } from "../../config.ts";
import { targetOf } from "../../model_target.ts";
import { oneLine } from "../../text/one_line.ts";
import { addressOf, modelFacts, modelNames, serverOf } from "../model_server.ts";
import type { ToldFailure } from "../hints.ts";
import type { ArgumentChoice, Notice, Report } from "../report.ts";
import type { Command, SessionState } from "../state.ts";
import { unknownReport } from "./unknown.ts";

export const modelCommand: Command = {
  name: "model",
  argument: "[NAME]",
  help: "list the models, or switch to one; with flags, to another server",
  isSlow: true,
  run: (session, argument, signal) =>
    argument === "" ? reportModels(session) : setModel(session, argument, signal),
  choices: modelChoices,
  values: ({ agent, modelFlags }, begun) =>
    begun.startsWith("-")
      ? (modelFlags?.names ?? []).map((name) => `${name} `)
      : modelNames(agent.config),
};

export const setupCommand: Command = {
  name: "setup",
  help: "choose a server and its model again; the choice is kept",
  isSlow: true,
  takesFlags: true,
  // Who chose a server was told whether it answers.
  run: (session, flags, signal) =>
    flags === "" ? { type: "setup" } : setModel(session, flags, signal, true),
};

/** The models of the server with what it tells of each; none where it lists none. */
async function modelChoices(
  { agent: { config }, looked }: SessionState,
  signal?: AbortSignal,
): Promise<ArgumentChoice[]> {
  await looked;
  const target = targetOf(config);
  if (target.kind === "hosted") return [];
  const [{ listModels }, { isSameModel, onFailure }] = await Promise.all([
    import("../../backends/local/model_list.ts"),
    import("../../backends/local/connection.ts"),
  ]);
  const models = await listModels(target.isNative, { ...addressOf(target), signal }, true)
    .catch(onFailure(() => []));
  return models.map((model) => ({
    argument: model.name,
    label: oneLine(model.name),
    detail: modelFacts(model),
    isCurrent: isSameModel(model.name, target.name),
  }));
}

async function reportModels(
  { agent: { config } }: SessionState,
): Promise<Extract<Report, { type: "models" }>> {
  const { name: model } = targetOf(config);
  const now = { type: "models", model, server: serverOf(config) } as const;
  try {
    const names = await modelNames(config);
    const { isSameModel } = await import("../../backends/local/connection.ts");
    return { ...now, models: names.map((name) => ({ name, isCurrent: isSameModel(name, model) })) };
  } catch (error) {
    const { toldFailure } = await import("../hints.ts");
    return { ...now, models: [], failure: toldFailure(error, config) };
  }
}

/** True where the server lists a model under another name, too, as llama-swap does. */
async function isAliasOf(config: CopilotConfig, name: string): Promise<boolean> {
  const target = targetOf(config);
  if (target.isNative) return false;
  const { servedModel } = await import("../../backends/local/served_model.ts");
  return (await servedModel(name, addressOf(target))).names.includes(name);
}

/** The report on a model that the server does not list, with the nearest name; undefined where it lists no models. */
async function unlistedName(
  config: CopilotConfig,
  name: string,
): Promise<Extract<Report, { type: "unknown" }> | undefined> {
  const names = await modelNames(config).catch(() => []);
  const { isSameModel } = await import("../../backends/local/connection.ts");
  if (names.length === 0 || names.some((one) => isSameModel(one, name))) return undefined;
  if (await isAliasOf(config, name)) return undefined;
  return { ...unknownReport("model", name, names), server: serverOf(config) };
}

/** True where a server may have models that it does not list: Ollama's own list is whole. */
const mayHave = (config: CopilotConfig, name: string): boolean =>
  !targetOf(config).isNative && !/\s/.test(name);

/** Where nobody named a model, the agent goes on with one that its server has, if it is clear which. */
async function takeServedModel({ agent, fit }: SessionState): Promise<void> {
  const target = fit.targetOf(agent);
  if (fit.isChosen || target.kind === "hosted") return;
  const [{ modelInstead }, { onFailure }] = await Promise.all([
    import("../fit_model.ts"),
    import("../../backends/local/connection.ts"),
  ]);
  const model = await modelInstead(target, {}).catch(onFailure(() => undefined));
  if (model !== undefined) agent.setModel(model);
}

/** The failure of a server that cannot be reached; undefined where it can, or is not asked for its models. */
async function failureToReach(
  config: CopilotConfig,
  signal: AbortSignal,
): Promise<ToldFailure | undefined> {
  const target = targetOf(config);
  if (target.kind === "hosted") return undefined;
  const { connectionFailure } = await import("../../backends/local/connection.ts");
  const error = await connectionFailure({ ...addressOf(target), signal });
  // Any other failure is an answer.
  if (error?.kind !== "connection" && error?.kind !== "timeout") return undefined;
  const { toldFailure } = await import("../hints.ts");
  return toldFailure(error, config);
}

/**
 * Goes on with another model of the same server or, by flags, with one of another server. Where no model is
 * named and the other server cannot be reached, it stays, unless `isSure`.
 */
async function setModel(
  session: SessionState,
  argument: string,
  signal: AbortSignal,
  isSure = false,
): Promise<Report> {
  const { agent, modelFlags, fit } = session;
  await session.looked;
  let unlisted: Awaited<ReturnType<typeof unlistedName>>;
  try {
    if (modelFlags !== undefined && argument.startsWith("-")) {
      const { config, isChosen, notice } = modelFlags.parse(argument.split(/\s+/));
      const failure = isSure || isChosen ? undefined : await failureToReach(config, signal);
      if (failure !== undefined) {
        const { name } = fit.targetOf(agent);
        return { type: "model_stays", model: name, server: serverOf(agent.config), failure };
      }
      const { maxToolRounds, maxOutputChars, promptTier } = agent.config;
      agent.configure({ maxToolRounds, maxOutputChars, promptTier, ...config });
      fit.isChosen = isChosen;
      await takeServedModel(session);
      const onNotice = (notice: Notice) => session.emit({ type: "session_notice", notice });
      if (notice !== undefined) onNotice(notice);
      await fit.prepare(agent, { signal, onNotice });
    } else {
      unlisted = await unlistedName(agent.config, argument);
      if (unlisted && !mayHave(agent.config, argument)) return unlisted;
      if (modelFlags === undefined) agent.setModel(argument);
      else agent.configure(modelFlags.named(agent.config, argument));
      fit.isChosen = true;
      fit.reset(agent);
    }
  } catch (error) {
    const { toldFailure } = await import("../hints.ts");
    return { type: "failed", ...toldFailure(error, agent.config) };
  }
  session.usage = undefined;
  const { models, failure, ...now } = await reportModels(session);
  if (unlisted) return { ...now, type: "model", isListed: false, nearest: unlisted.nearest };
  // Where nobody named a model, the next message goes to one that the server has.
  const isListed = failure !== undefined || !fit.isChosen || models.some((one) => one.isCurrent);
  const isUnlisted = failure === undefined || targetOf(agent.config).kind === "hosted";
  return { ...now, type: "model", isListed, ...(!isUnlisted && { failure }) };
}
