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

async function listModels({ agent: { config } }: SessionState): Promise<Report> {
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

/** Another model of the same server, or, by flags, one of another. */
async function setModel(session: SessionState, argument: string): Promise<Report> {
  const { agent, modelFlags } = session;
  await session.looked;
  try {
    if (modelFlags !== undefined && argument.startsWith("-")) {
      const { config, isChosen } = modelFlags.parse(argument.split(/\s+/));
      const { maxToolRounds, maxOutputChars, promptTier } = agent.config;
      agent.configure({ maxToolRounds, maxOutputChars, promptTier, ...config });
      session.fit.isChosen = isChosen;
    } else {
      agent.setModel(argument);
      session.fit.isChosen = true;
    }
  } catch (error) {
    return sentence(oneLine((error as Error).message));
  }
  session.usage = undefined;
  const { model } = await agent.backend();
  const now = { type: "model", model, server: serverOf(agent.config) } as const;
  try {
    const names = await modelNames(agent.config);
    const { isSameModel } = await import("../../backends/local/connection.ts");
    // Where nobody named a model, the next message goes to one that the server has.
    const isListed = !session.fit.isChosen || names.some((name) => isSameModel(name, model));
    return { ...now, isListed };
  } catch (error) {
    const isUnlisted = targetOf(agent.config).kind === "hosted";
    const failure = oneLine((error as Error).message);
    return { ...now, isListed: true, ...(!isUnlisted && { failure }) };
  }
}
