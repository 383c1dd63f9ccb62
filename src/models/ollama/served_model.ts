/** Queries a server with a compatible endpoint about its models. @module */

import { isObject, objectOr } from "../../text/json.ts";
import { type Fields, MIN_CONTEXT, wholeNumber } from "../fields.ts";
import {
  askFields,
  entriesAt,
  isSameModel,
  lacks,
  LOAD_TIMEOUT_MS,
  loadedModel,
  type LocalModelInfo,
  localModelInfo,
  type LocalServerOptions,
  orEmpty,
} from "./connection.ts";

export const LIST_TIMEOUT_MS = 2000;
const PROPS_TIMEOUT_MS = 1000;
const COUNT_TIMEOUT_MS = 2000;

/** A model as described by the server that was started with it. `contextLength` is what the server gives it. */
export interface ServedModel extends LocalModelInfo {
  /** False if the model's template silently drops tools. */
  takesTools?: boolean;
  /** True if the model supports images; missing if the server does not say. */
  seesImages?: boolean;
  /** The owner in the list, which names the kind of server: `llamacpp`, `vllm`. */
  owner?: string;
  /** True if the server is Ollama, whose own paths have more details. */
  isOllama?: boolean;
  names: string[];
}

/**
 * Returns the description of `model` by a server that was started with it: from `GET /v1/models` (vLLM's
 * `max_model_len`, others' `context_length`, llama.cpp's `meta`) and `GET /props` (llama.cpp's `n_ctx` and
 * template abilities), or from Ollama's own paths.
 */
export async function servedModel(
  model: string,
  options: LocalServerOptions = {},
): Promise<ServedModel> {
  const asked = (path: string, timeoutMs?: number) =>
    askFields(path, options, { timeoutMs, isOptional: true }).catch(orEmpty);
  const models = await entriesAt("/v1/models", "data", options, LIST_TIMEOUT_MS);
  const entry =
    models.find((one) => namesAndAliases(one).some((name) => isSameModel(name, model))) ??
      (models.length === 1 ? models[0] : undefined) ?? {};
  const names = servedNames(models);
  // Ollama lists every model with its tag, and llama.cpp names itself.
  if (entry.owned_by !== "llamacpp" && String(entry.id ?? "").includes(":")) {
    const facts = await ollamaModel(String(entry.id), options);
    if (facts !== undefined) return { names, ...facts };
  }
  // A router of llama.cpp loads its models on demand, and the turn will do so.
  const state = loadState(entry);
  if (state !== undefined && state !== "loaded") options.onLoading?.();
  // llama-swap has the server of a running model below a path. A request for another one would load it.
  if (entry.owned_by === "llama-swap" && state === undefined) {
    const id = String(entry.id);
    const isRunning = (await runningModels(options)).has(id);
    const props = isRunning ? await asked(`/upstream/${id}/props`, PROPS_TIMEOUT_MS) : {};
    return { names, ...propsInfo(entry, props) };
  }
  // vLLM has no more details, and a server without a list of models does not know /props.
  let props: Fields = {};
  if (models.length > 0 && entry.max_model_len === undefined) {
    props = state === undefined
      ? await asked("/props", PROPS_TIMEOUT_MS)
      : await asked(`/props?model=${encodeURIComponent(String(entry.id))}`, LOAD_TIMEOUT_MS);
  }
  return { names, ...propsInfo(entry, props) };
}

/** Returns the description of a model from its list entry and llama.cpp's `/props`. */
function propsInfo(entry: Fields, props: Fields): Omit<ServedModel, "names"> {
  const settings = objectOr(props.default_generation_settings);
  const caps = objectOr(props.chat_template_caps);
  return {
    ...servedInfo(entry, settings.n_ctx),
    ...(isOwnSampling(settings.params) && { statesSampling: true }),
    ...(caps.supports_tools === false && { takesTools: false }),
    ...seesImages(entry, props),
    ...(typeof entry.owned_by === "string" && { owner: entry.owned_by }),
  };
}

/** Returns the running models of llama-swap, by `GET /running`. */
export async function runningModels(options: LocalServerOptions): Promise<Set<string>> {
  const running = await entriesAt("/running", "running", options, PROPS_TIMEOUT_MS);
  return new Set(
    running.filter(({ state }) => state === "ready").map(({ model }) => String(model)),
  );
}

/** Returns the name of a list entry and its aliases, in the forms of llama.cpp and llama-swap. */
function namesAndAliases({ id, meta, aliases: own }: Fields): string[] {
  const { aliases = own } = objectOr(objectOr(meta).llamaswap);
  return [String(id), ...(Array.isArray(aliases) ? aliases.map(String) : [])];
}

/** Returns whether a served model supports images. llama.cpp and others have different fields. */
function seesImages(entry: Fields, props: Fields): Pick<ServedModel, "seesImages"> {
  const { vision } = objectOr(props.modalities);
  if (typeof vision === "boolean") return { seesImages: vision };
  const { input_modalities: inputs } = objectOr(entry.architecture);
  if (Array.isArray(inputs)) return { seesImages: inputs.includes("image") };
  const { capabilities: words } = entry;
  const isSeeing = Array.isArray(words) &&
    ["multimodal", "vision"].some((one) => words.includes(one));
  return isSeeing ? { seesImages: true } : {};
}

function servedNames(models: readonly Fields[]): string[] {
  const rank = (one: Fields) => Number(loadState(one) === "loaded");
  const sorted = models.toSorted((a, b) => rank(b) - rank(a));
  const aliases = sorted.flatMap((one) => namesAndAliases(one).slice(1));
  return [...new Set([...sorted.map(({ id }) => String(id)), ...aliases])];
}

/** Returns Ollama's description of a model on its compatible endpoint, whose context is the loaded one. */
async function ollamaModel(
  model: string,
  options: LocalServerOptions,
): Promise<Omit<ServedModel, "names"> | undefined> {
  const [info, { isLoaded, contextLength }] = await Promise.all([
    localModelInfo(model, options),
    loadedModel(model, options),
  ]);
  if (isLoaded === undefined || Object.keys(info).length === 0) return undefined;
  const { contextLength: _made, ...others } = info;
  const given = contextLength ?? info.ownContext;
  return {
    ...others,
    isOllama: true,
    ...(given !== undefined && { contextLength: given }),
    ...(lacks(info, "tools") && { takesTools: false }),
  };
}

/** llama.cpp's sampling settings if neither the model's file nor the command line sets others. */
const LLAMACPP = { temperature: 0.8, top_k: 40, top_p: 0.95, min_p: 0.05, repeat_penalty: 1 };

function isOwnSampling(params: unknown): boolean {
  const found = objectOr(params);
  return Object.entries(LLAMACPP).some(([name, usual]) =>
    typeof found[name] === "number" && Math.abs(found[name] - usual) > 1e-4
  );
}

/** Returns the facts in an entry of `/v1/models`. `given`: the context from llama.cpp's `/props`. */
export function servedInfo(entry: Fields, given?: unknown): LocalModelInfo {
  const meta = objectOr(entry.meta);
  // LM Studio has the loaded context and the maximum. `context_length` comes last, because in llama.cpp it is the
  // design's maximum, not the loaded context.
  const contextLength = [
    entry.loaded_context_length,
    entry.max_model_len,
    meta.n_ctx,
    given,
    entry.context_length,
    entry.max_context_length,
  ].map((length) => wholeNumber(length, MIN_CONTEXT)).find((length) => length !== undefined);
  const quantization = meta.ftype ?? entry.quantization;
  return {
    ...(contextLength !== undefined && { contextLength }),
    ...(typeof meta.n_params === "number" &&
      { size: parameters(meta.n_params), parameters: meta.n_params }),
    ...(typeof quantization === "string" &&
      { quantization: quantization.replace("(guessed) ", "") }),
  };
}

/** Returns `loaded`, `unloaded` or the like for a model of a llama.cpp router; otherwise undefined. */
export function loadState({ status }: Fields): unknown {
  return isObject(status) ? status.value : undefined;
}

function parameters(count: number): string {
  return count < 1e9 ? `${Math.ceil(count / 1e6)}M` : `${(count / 1e9).toFixed(1)}B`;
}

/** Returns the tokens of a chat completions request, if the server counts them without answering. */
export async function countedPrompt(
  body: unknown,
  options: LocalServerOptions,
): Promise<number | undefined> {
  const request = { body, timeoutMs: COUNT_TIMEOUT_MS, isOptional: true };
  const asked = (path: string) => askFields(path, options, request).catch(orEmpty);
  const { input_tokens: count = (await asked("/tokenize")).count } = await asked(
    "/v1/chat/completions/input_tokens",
  );
  return wholeNumber(count);
}
