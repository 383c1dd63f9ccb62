/** A server's own count of the next request, where it counts without answering. @module */

import { compatBody } from "../backends/compat/request.ts";
import { countedPrompt } from "../backends/local/served_model.ts";
import { compatConfig } from "../config.ts";
import { mayBeLlamaCpp, targetOf } from "../model_target.ts";
import { withoutImages } from "../text/parts.ts";
import type { Message } from "../types/message.ts";
import type { CopilotAgent } from "./agent.ts";

/** The servers that do not count, by address. */
const silent = new WeakMap<CopilotAgent, Set<string>>();

/**
 * The tokens of the next request as a compatible server of one's own counts them, such as llama.cpp's;
 * undefined where it does not, which is asked once.
 */
export async function exactTokens(
  agent: CopilotAgent,
  signal: AbortSignal,
): Promise<number | undefined> {
  const target = targetOf(agent.config);
  const { url, apiKey, fetch } = target;
  const others = silent.get(agent) ?? new Set();
  silent.set(agent, others);
  // The template that tools are described by in the text is not the server's.
  if (!mayBeLlamaCpp(target) || target.textTools || others.has(url)) return undefined;
  const system: Message = { role: "system", content: agent.systemPrompt };
  const all = [system, ...agent.state.messages];
  const messages = agent.seesImages === false ? all.map(withoutImages) : all;
  const { local, compat } = agent.config;
  const settings = compatConfig({
    model: (local ?? compat)!.model,
    think: (local ?? compat)!.think,
  });
  const body = compatBody(settings, messages, agent.offered, false);
  const host = url.replace(/\/v1$/, "");
  const counted = await countedPrompt(JSON.parse(body), { host, apiKey, fetch, signal });
  if (counted === undefined) others.add(url);
  return counted;
}
