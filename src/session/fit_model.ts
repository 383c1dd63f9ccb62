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
import type { TurnEvent, TurnResult } from "../types/event.ts";
import type { Part } from "../types/message.ts";
import { excerpt } from "../wire/excerpt.ts";
import { addressOf } from "./model_server.ts";

/**
 * Processes a turn. Where the local server has not got the default model, and the person named
 * none, it goes on with an installed one and says so.
 *
 * @throws {BackendError} like `processTurn`.
 */
export async function processTurnHelpfully(
  agent: CopilotAgent,
  text: string | readonly Part[],
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
    const at = { ...addressOf(agent.config), signal: options.signal };
    const models = await listLocalModelAbilities(at)
      .catch((failure) => {
        if (options.signal?.aborted) return [];
        throw failure;
      });
    // Stopped meanwhile: a turn that is aborted from its start says so.
    if (options.signal?.aborted) return await processTurn(agent, text, options);
    const model = chooseLocalModel(models);
    if (model === null || model === local.model) throw error;
    agent.setModel(model);
    const message = serversOwn(excerpt(model));
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
  const at = { ...addressOf(agent.config), signal, onLoading };
  if (await isNative(at) || (await servedModel(local.model, at)).names.length === 0) return false;
  agent.configure({ ...settings, local: { ...local, useCompat: true } });
  return true;
}

/** More context costs more memory than many machines have. */
const MAX_CONTEXT = 32_768;
/** What was chosen last: once for a model, as a change would load it anew. */
const asked = new WeakMap<CopilotAgent, {
  /** Which model on which server; undefined where that said nothing. */
  key: string | undefined;
  contextLength?: number | undefined;
  textTools?: boolean | undefined;
}>();

/** What {@linkcode prepare} works with. */
export interface Preparation {
  modelNamed: boolean;
  /** Asks a server with a compatible endpoint wherever it is, not only on this machine. */
  anywhere?: boolean;
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
  const { signal, onEvent = () => {} } = options;
  const target = local ?? compat;
  if (!target || signal?.aborted) return;
  const { model, contextLength, textTools } = target;
  const address = addressOf(agent.config);
  const { host } = address;
  const isServed = compat !== undefined || local?.useCompat === true;
  const { isLoopback } = await import("../wire/connect.ts");
  if (isServed && !options.anywhere && !isLoopback(host)) return;
  if (new URL(host).hostname === "api.openai.com") return;
  const before = asked.get(agent);
  const key = (name: string) => [isServed, host, name].join(" ");
  if (before?.key === key(model)) return;
  const ask = (name: string) => learn(name, address, isServed, options);
  let info = await ask(model);
  // What was chosen for another model is none of this one's; what the person chose stays.
  const own = {
    ...(contextLength !== undefined && contextLength !== before?.contextLength &&
      { contextLength }),
    ...(textTools !== undefined && textTools !== before?.textTools && { textTools }),
  };
  // A server that was not there is asked again.
  const isNew = info !== undefined || before?.contextLength !== undefined || before?.textTools;
  if (!isNew) return;
  const { names = [] } = info ?? {};
  const tell = (message: string) => onEvent({ type: "notice", level: "info", message });
  const other = options.modelNamed ? undefined : servedInstead(model, names, isLoopback(host));
  if (other !== undefined) {
    tell(serversOwn(excerpt(other)));
    if (names.length > 1) info = await ask(other);
  }
  const chosen = {
    contextLength: info?.contextLength,
    textTools: info?.takesTools === false ? true : undefined,
    ...own,
  };
  if (chosen.textTools && !own.textTools) tell(TEXT_TOOLS);
  asked.set(agent, {
    key: info && key(other ?? model),
    ...("contextLength" in own ? {} : { contextLength: chosen.contextLength }),
    ...("textTools" in own ? {} : { textTools: chosen.textTools }),
  });
  const { compat: _, local: __, hosted: ___, ...settings } = agent.config;
  const fitted = { model: other ?? model, ...chosen } as Partial<LocalConfig & CompatConfig>;
  agent.configure({
    ...settings,
    ...(local ? { local: { ...local, ...fitted } } : { compat: { ...compat!, ...fitted } }),
  });
}

const TEXT_TOOLS =
  "The model's template takes no tools: they are described in the prompt, and calls are read from " +
  "the answer's text";

/** What the server says of the model; undefined where it says nothing. */
async function learn(
  model: string,
  address: ReturnType<typeof addressOf>,
  isServed: boolean,
  { modelNamed, signal, onEvent }: Preparation,
): Promise<Partial<ServedModel> | undefined> {
  const { localModelInfo, isLoaded, servedModel } = await import(
    "../backends/local/connection.ts"
  );
  // Which one it has is not known yet.
  const shown = isServed && !modelNamed ? "its model" : model;
  const onLoading = (nextLookMs?: number) =>
    onEvent?.({ type: "loading", model: shown, ...(nextLookMs !== undefined && { nextLookMs }) });
  const at = { ...address, signal, onLoading };
  try {
    if (isServed) {
      const info = await servedModel(model, at);
      return info.names.length > 0 || info.contextLength !== undefined ? info : undefined;
    }
    const [{ contextLength, ...info }, loaded] = await Promise.all([
      localModelInfo(model, at),
      onEvent ? isLoaded(model, at) : true,
    ]);
    const isInstalled = contextLength !== undefined || Object.keys(info).length > 0;
    if (loaded === false && isInstalled) onLoading();
    if (contextLength === undefined) return isInstalled ? info : undefined;
    return { ...info, contextLength: Math.min(contextLength, MAX_CONTEXT) };
  } catch {
    return undefined; // The turn that follows says what is wrong.
  }
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

/** Says that the server's model is used, where the person named none. */
export const serversOwn = (model: string, other = "--model"): string =>
  `model: ${model} (the server's own; ${other} names another)`;
