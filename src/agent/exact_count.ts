/** The server's own count of the next request, from servers that count without answering. @module */

import { compatBody } from "../models/openai/request.ts";
import { addressOf } from "../models/model_server.ts";
import { countedPrompt } from "../models/ollama/served_model.ts";
import { compatConfig } from "../config.ts";
import { mayBeLlamaCpp, targetOf } from "../models/target.ts";
import { type CopilotAgent, memoryOf, requestMessages } from "./agent.ts";

/** Returns the tokens of the next request as a private server counts them; undefined if it does not. Asks once. */
export async function exactTokens(
  agent: CopilotAgent,
  signal: AbortSignal,
): Promise<number | undefined> {
  const target = targetOf(agent.config);
  const { url } = target;
  const { silentServers } = memoryOf(agent);
  // Tools that are described in the text are not in the server's template.
  if (!mayBeLlamaCpp(target) || target.textTools || silentServers.has(url)) return undefined;
  const { local, compat } = agent.config;
  const { model, think } = (local ?? compat)!;
  const settings = compatConfig({ model, think });
  const body = compatBody(settings, requestMessages(agent), agent.offered, false);
  const counted = await countedPrompt(JSON.parse(body), { ...addressOf(target), signal });
  if (counted === undefined) silentServers.add(url);
  return counted;
}
