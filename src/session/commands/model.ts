/** `/model`: lists the models of the server, goes on with another one. @module */

import { targetOf } from "../../model_target.ts";
import { oneLine } from "../../text/one_line.ts";
import { modelNames, serverOf } from "../model_server.ts";
import { type Report, sentence } from "../report.ts";
import type { Command, SessionState } from "../state.ts";

export const modelCommand: Command = {
  name: "model",
  argument: "[NAME]",
  help: "list the models, go on with another, or with another server (flags as at the start)",
  isSlow: true,
  run: (session, argument) => argument === "" ? listModels(session) : setModel(session, argument),
  values: ({ agent, modelFlags }, begun) =>
    begun.startsWith("-")
      ? (modelFlags?.names ?? []).map((name) => `${name} `)
      : modelNames(agent.config),
};

async function listModels(
  { agent: { config } }: SessionState,
): Promise<Extract<Report, { type: "models" }>> {
  const { name: model } = targetOf(config);
  const now = { type: "models", model, server: serverOf(config) } as const;
  try {
    const names = await modelNames(config);
    const { isSameModel } = await import("../../backends/local/connection.ts");
    return { ...now, models: names.map((name) => ({ name, isCurrent: isSameModel(name, model) })) };
  } catch (error) {
    return { ...now, models: [], failure: oneLine((error as Error).message) };
  }
}

/** Goes on with another model of the same server or, by flags, with one of another server. */
async function setModel(session: SessionState, argument: string): Promise<Report> {
  const { agent, modelFlags, fit } = session;
  await session.looked;
  try {
    if (modelFlags !== undefined && argument.startsWith("-")) {
      const { config, isChosen, notice } = modelFlags.parse(argument.split(/\s+/));
      const { maxToolRounds, maxOutputChars, promptTier } = agent.config;
      agent.configure({ maxToolRounds, maxOutputChars, promptTier, ...config });
      fit.isChosen = isChosen;
      if (notice !== undefined) session.emit({ type: "session_notice", notice });
    } else {
      agent.setModel(argument);
      fit.isChosen = true;
    }
  } catch (error) {
    return sentence(oneLine((error as Error).message));
  }
  session.usage = undefined;
  const { models, failure, ...now } = await listModels(session);
  // Where nobody named a model, the next message goes to one that the server has.
  const isListed = failure !== undefined || !fit.isChosen || models.some((one) => one.isCurrent);
  const isUnlisted = failure === undefined || targetOf(agent.config).kind === "hosted";
  return { ...now, type: "model", isListed, ...(!isUnlisted && { failure }) };
}
