/**
 * A turn with the help that a local server may need: a model that is installed, and room for its
 * context.
 *
 * @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import { processTurn, type TurnOptions } from "../agent/turn.ts";
import { BackendError } from "../errors.ts";
import type { TurnResult } from "../types.ts";
import { excerpt } from "../wire/excerpt.ts";

/**
 * Processes a turn. Where the local server has not got the default model, and the person named
 * none, it goes on with an installed one and says so.
 *
 * @throws {BackendError} like `processTurn`.
 */
export async function processTurnHelpfully(
  agent: CopilotAgent,
  text: string,
  options: TurnOptions & { modelNamed: boolean; served?: boolean },
): Promise<TurnResult> {
  const { local } = agent.config;
  try {
    await chooseContext(agent, options.signal, options.served === true);
    return await processTurn(agent, text, options);
  } catch (error) {
    if (!local || !(error instanceof BackendError)) throw error;
    if (error.kind !== "model_not_found" || options.modelNamed) throw error;
    const { chooseLocalModel, listLocalModelAbilities } = await import(
      "../backends/local/connection.ts"
    );
    const { host, apiKey, fetch } = local;
    const models = await listLocalModelAbilities({ host, apiKey, fetch, signal: options.signal })
      .catch((failure) => {
        if (options.signal?.aborted) return [];
        throw failure;
      });
    // Stopped meanwhile: a turn that is aborted from its start says so.
    if (options.signal?.aborted) return await processTurn(agent, text, options);
    const model = chooseLocalModel(models);
    if (model === null || model === local.model) throw error;
    agent.setModel(model);
    const message = `${local.model} is not installed, ${
      excerpt(model)
    } is: going on with that (--model names another)`;
    options.onEvent?.({ type: "notice", level: "info", message });
    await chooseContext(agent, options.signal, options.served === true);
    return await processTurn(agent, text, options);
  }
}

/** More context costs more memory than many machines have. */
const MAX_CONTEXT = 32_768;
/** What was asked for last: once for a model, as a change would load it anew. */
const asked = new WeakMap<CopilotAgent, { model: string; contextLength?: number }>();

/**
 * Gives a model on the native endpoint as much context as it was made for, up to a limit; of any other
 * server, where `served`, asks how much it was started with.
 */
export async function chooseContext(
  agent: CopilotAgent,
  signal: AbortSignal | undefined,
  served: boolean,
): Promise<void> {
  const { local, compat, hosted: _, ...settings } = agent.config;
  const target = local ?? compat;
  const isServed = compat !== undefined || local?.useCompat === true;
  if (!target || signal?.aborted || isServed && !served) return;
  if (compat && new URL(compat.baseUrl).hostname === "api.openai.com") return;
  const before = asked.get(agent);
  const { apiKey, fetch, model, contextLength } = target;
  const host = local?.host ?? compat!.baseUrl.replace(/\/v1$/, "");
  const isOwn = contextLength !== undefined && contextLength !== before?.contextLength;
  if (isOwn || before?.model === `${host} ${model}`) return;
  const { localModelInfo, servedContextLength } = await import("../backends/local/connection.ts");
  const at = { host, apiKey, fetch, signal };
  const most = isServed
    ? await servedContextLength(model, at).catch(() => undefined)
    : await localModelInfo(model, at).then((info) => info.contextLength, () => undefined);
  const chosen = most === undefined
    ? {}
    : { contextLength: isServed ? most : Math.min(most, MAX_CONTEXT) };
  asked.set(agent, { model: `${host} ${model}`, ...chosen });
  // A window that another model had is none of this one's.
  const having = <T extends object>(config: T): T => ({
    ...config,
    contextLength: undefined,
    ...chosen,
  });
  agent.configure({
    ...settings,
    ...(local ? { local: having(local) } : { compat: having(compat!) }),
  });
}
