/**
 * A turn with the help that a local server may need: a model that is installed, and room for its
 * context.
 *
 * @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import { processTurn, type TurnOptions } from "../agent/turn.ts";
import type { LocalServerOptions, ServedModel } from "../backends/local/connection.ts";
import type { CompatConfig, LocalConfig } from "../config.ts";
import { BackendError } from "../errors.ts";
import type { TurnEvent, TurnResult } from "../types.ts";
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
  options: TurnOptions & Preparation,
): Promise<TurnResult> {
  const { local } = agent.config;
  try {
    await prepare(agent, options);
    return await processTurn(agent, text, options);
  } catch (error) {
    if (!local || !(error instanceof BackendError)) throw error;
    if (error.kind === "request" && error.status === 404 && await isCompatOnly(agent, options)) {
      const message =
        "The server is no Ollama: going on with its compatible endpoint (--use-compat)";
      options.onEvent?.({ type: "notice", level: "info", message });
      await prepare(agent, options);
      return await processTurn(agent, text, options);
    }
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
    const message = goingOn(local.model, model);
    options.onEvent?.({ type: "notice", level: "info", message });
    await prepare(agent, options);
    return await processTurn(agent, text, options);
  }
}

/**
 * Whether the agent's local server has not got the native endpoint but lists its models where compatible
 * ones do, such as llama.cpp; the agent uses that then.
 */
export async function isCompatOnly(
  agent: CopilotAgent,
  { signal, onLoading }: Pick<LocalServerOptions, "signal" | "onLoading">,
): Promise<boolean> {
  const { local, compat: _, hosted: __, ...settings } = agent.config;
  if (!local || local.useCompat) return false;
  const { isNative, servedModel } = await import("../backends/local/connection.ts");
  const { host, apiKey, fetch, model } = local;
  const at = { host, apiKey, fetch, signal, onLoading };
  if (await isNative(at) || (await servedModel(model, at)).names.length === 0) return false;
  agent.configure({ ...settings, local: { ...local, useCompat: true } });
  return true;
}

/** More context costs more memory than many machines have. */
const MAX_CONTEXT = 32_768;
/** What was asked for last: once for a model, as a change would load it anew. */
const asked = new WeakMap<CopilotAgent, { model: string; contextLength?: number }>();

/** What {@linkcode prepare} works with. */
export interface Preparation {
  modelNamed: boolean;
  /** Asks a server with a compatible endpoint wherever it is, not only on this machine. */
  served?: boolean;
  signal?: AbortSignal | undefined;
  onEvent?: ((event: TurnEvent) => void) | undefined;
}

/**
 * Fits the settings to the model's server, once for a model. A model on the native endpoint gets as much
 * context as it was made for, up to a limit. Any other server is asked what it was started with: the
 * context, the model where the person named none, and whether its template takes tools.
 */
export async function prepare(agent: CopilotAgent, options: Preparation): Promise<void> {
  const { local, compat } = agent.config;
  const { signal, onEvent } = options;
  const target = local ?? compat;
  if (!target || signal?.aborted) return;
  const { apiKey, fetch, model, contextLength } = target;
  const host = local?.host ?? compat!.baseUrl.replace(/\/v1$/, "");
  const isServed = compat !== undefined || local?.useCompat === true;
  const { isLoopback } = await import("../wire/connect.ts");
  if (isServed && !options.served && !isLoopback(host)) return;
  if (new URL(host).hostname === "api.openai.com") return;
  const before = asked.get(agent);
  const served = isServed ? "served" : "native";
  if (before?.model === `${served} ${host} ${model}`) return;
  const { localModelInfo, isLoaded, servedModel } = await import(
    "../backends/local/connection.ts"
  );
  const onLoading = (nextLookMs?: number) =>
    onEvent?.({ type: "loading", model, ...(nextLookMs !== undefined && { nextLookMs }) });
  const at = { host, apiKey, fetch, signal, onLoading };
  let info: Partial<ServedModel> = {};
  try {
    if (isServed) info = await servedModel(model, at);
    else {
      const [found, loaded] = await Promise.all([
        localModelInfo(model, at),
        onEvent ? isLoaded(model, at) : true,
      ]);
      if (loaded === false) onEvent?.({ type: "loading", model });
      info = {
        ...found,
        ...(found.contextLength && {
          contextLength: Math.min(found.contextLength, MAX_CONTEXT),
        }),
      };
    }
  } catch { /* The turn that follows says what is wrong. */ }
  const tell = (message: string) => onEvent?.({ type: "notice", level: "info", message });
  const other = options.modelNamed
    ? undefined
    : servedInstead(model, info.names ?? [], isLoopback(host));
  if (other !== undefined) {
    tell(goingOn(model, other));
    if (info.names!.length > 1) info = await servedModel(other, at);
  }
  const textTools = target.textTools ?? (info.takesTools === false ? true : undefined);
  if (textTools && !target.textTools) {
    tell(
      "The model's template takes no tools: they are described in the prompt, and calls are read from " +
        "the answer's text",
    );
  }
  const isOwn = contextLength !== undefined && contextLength !== before?.contextLength;
  const chosen = isOwn || info.contextLength === undefined
    ? {}
    : { contextLength: info.contextLength };
  asked.set(agent, { model: `${served} ${host} ${other ?? model}`, ...chosen });
  // A window that another model had is none of this one's.
  const having = <T extends LocalConfig | CompatConfig>(config: T): T => ({
    ...config,
    contextLength: isOwn ? contextLength : undefined,
    ...chosen,
    textTools,
    model: other ?? model,
  });
  const { compat: _, local: __, hosted: ___, ...settings } = agent.config;
  agent.configure({
    ...settings,
    ...(local ? { local: having(local) } : { compat: having(compat!) }),
  });
}

/** The model that a server has in place of the default one, where it is clear which; else undefined. */
export function servedInstead(
  wanted: string,
  names: readonly string[],
  isOnThisMachine: boolean,
): string | undefined {
  const able = names.filter((name) => !/embed|rerank/i.test(name));
  if (names.includes(wanted) || (able.length > 1 && !isOnThisMachine)) return undefined;
  return able[0];
}

const goingOn = (wanted: string, other: string): string =>
  `${wanted} is not installed, ${excerpt(other)} is: going on with that (--model names another)`;
