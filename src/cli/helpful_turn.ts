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
  options: TurnOptions & { modelNamed: boolean },
): Promise<TurnResult> {
  const { local } = agent.config;
  try {
    await chooseContext(agent, options.signal);
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
    await chooseContext(agent, options.signal);
    return await processTurn(agent, text, options);
  }
}

/** More context costs more memory than many machines have. */
const MAX_CONTEXT = 32_768;
/** What was asked for last: once for a model, as a change would load it anew. */
const asked = new WeakMap<CopilotAgent, { model: string; contextLength?: number }>();

/** Gives a model on the native endpoint as much context as it was made for, up to a limit. */
export async function chooseContext(
  agent: CopilotAgent,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { local, compat: _c, hosted: _h, ...settings } = agent.config;
  if (!local || local.useCompat || signal?.aborted) return;
  const before = asked.get(agent);
  const { host, apiKey, fetch, model } = local;
  const isOwn = local.contextLength !== undefined && local.contextLength !== before?.contextLength;
  if (isOwn || before?.model === `${host} ${model}`) return;
  const { localModelInfo } = await import("../backends/local/connection.ts");
  const { contextLength: most = null } = await localModelInfo(model, {
    host,
    apiKey,
    fetch,
    signal,
  })
    .catch((): { contextLength?: number } => ({}));
  const { contextLength: _, ...others } = local;
  const chosen = most === null ? {} : { contextLength: Math.min(most, MAX_CONTEXT) };
  asked.set(agent, { model: `${host} ${model}`, ...chosen });
  agent.configure({ ...settings, local: { ...others, ...chosen } });
}
