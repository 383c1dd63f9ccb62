/** Requests that find out what runs at a local server's address, and which models it has. @module */

import { LOCAL_DEFAULT_MODEL, localConfig } from "../../config.ts";
import { BackendError } from "../../errors.ts";
import { isObject } from "../../text/json.ts";
import { requestJson } from "../../wire/http.ts";
import { isLoading, LOADING_DELAY_MS } from "../../wire/retry.ts";
import { wait } from "../../wire/wait.ts";
import { type Fields, fieldsOf, listOf, stringOf } from "../fields.ts";
import { keyHeader } from "../wire_values.ts";

/** A server, and how it is asked. */
export interface LocalServerOptions {
  /** The server's address: `http://localhost:11434`. */
  host?: string | undefined;
  /** Sent as a bearer token where a proxy in front of the server wants one. */
  apiKey?: string | undefined;
  /** Replaces the built-in `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Ends the request; its `reason` is what is thrown. */
  signal?: AbortSignal | undefined;
  /** Called while the server loads its model; `nextLookMs`: milliseconds until it is asked again. */
  onLoading?: ((nextLookMs?: number) => void) | undefined;
}

/** A model on a local server, and what it can do (`tools`); `null` where the server says nothing. */
interface LocalModel {
  name: string;
  abilities: string[] | null;
}

/** The most times that a server which is loading is asked: 10 minutes. */
const MAX_LOOKS = 300;
/** The longest wait for an answer, in milliseconds. */
export const ASK_TIMEOUT_MS = 5000;
/** The longest wait, in milliseconds, for what a request does as well without. */
const LIST_TIMEOUT_MS = 2000;
const PROPS_TIMEOUT_MS = 1000;
/** The most bytes of an answer: lists of thousands of models are smaller. */
const MAX_TOLD_BYTES = 8 * 2 ** 20;
/** The longest wait for an answer of a server that loads a model first, in milliseconds. */
const LOAD_TIMEOUT_MS = 600_000;

/**
 * True when a local server is reachable: it answers `GET {host}/api/version`, or else `GET {host}/`
 * (a server that is no Ollama may know neither, and still be there).
 *
 * @throws {TypeError} when `host` is no URL.
 * @throws whatever `options.signal` was aborted with.
 */
export async function checkLocalConnection(options: LocalServerOptions = {}): Promise<boolean> {
  for (const path of ["/api/version", "/"]) {
    try {
      await askServer(path, options);
      return true;
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      if (isUnreachable(error)) return false;
      if (isLoading(error)) return true;
      // "Ollama is running" is no JSON; a page that is missing or locked was still served.
      if (path === "/" && error.kind !== "server" && error.kind !== "redirect") return true;
    }
  }
  return false;
}

/**
 * The names of the models on a local server, from `GET {host}/api/tags`, or else `GET {host}/v1/models`.
 *
 * @throws {BackendError} when the server can not be reached or answers neither.
 * @throws like {@linkcode checkLocalConnection}.
 */
export async function listLocalModels(options: LocalServerOptions = {}): Promise<string[]> {
  const names = async (path: string, list: string, key: string) => {
    const models = listOf((await askFields(path, options))[list], list);
    return models.map((model) => stringOf(fieldsOf(model, "model")[key], key));
  };
  try {
    return await names("/api/tags", "models", "name");
  } catch (error) {
    if (!(error instanceof BackendError) || isUnreachable(error)) throw error;
    return await names("/v1/models", "data", "id");
  }
}

function isUnreachable({ kind }: BackendError): boolean {
  return kind === "connection" || kind === "timeout";
}

/** The models on a local server with what they can do; throws like {@linkcode listLocalModels}. */
export async function listLocalModelAbilities(
  options: LocalServerOptions = {},
): Promise<LocalModel[]> {
  return Promise.all((await listLocalModels(options)).map(async (name) => {
    const { abilities = null } = await localModelInfo(name, options);
    return { name, abilities };
  }));
}

/** A local server's description of a model. */
export interface LocalModelInfo {
  /** The most tokens of context that it was made for. */
  contextLength?: number;
  abilities?: string[];
  /** Its parameters, such as `8.2B`. */
  size?: string;
  /** For example `Q4_K_M`. */
  quantization?: string;
  /** The number of its parameters. */
  parameters?: number;
  /** True where it comes with sampling settings of its own, which the server applies. */
  statesSampling?: boolean;
  /** Tokens of context that its own settings ask for. */
  ownContext?: number;
}

/** True where the server says what the model can do, and `ability` is not among it. */
export function lacks({ abilities = [] }: LocalModelInfo, ability: string): boolean {
  return abilities.length > 0 && !abilities.includes(ability);
}

/** The settings in a model's parameters as Ollama lists them, one a line. */
const OWN_SAMPLING = /^\s*(temperature|top_[kp]|min_p|repeat_penalty)\s/m;
const OWN_CONTEXT = /^\s*num_ctx\s+(\d{3,8})\s*$/m;

/** The server's description of `model` (`POST {host}/api/show`); empty where it has none. */
export function localModelInfo(
  model: string,
  options: LocalServerOptions = {},
): Promise<LocalModelInfo> {
  return askFields("/api/show", options, { body: { model } }).then((shown) => {
    const info = Object.entries(fieldsOf(shown.model_info ?? {}, "model_info"));
    const [, length] = info.find(([key]) => key.endsWith(".context_length")) ?? [];
    const details = fieldsOf(shown.details ?? {}, "details");
    const size = stringOf(details.parameter_size, "size");
    const quantization = stringOf(details.quantization_level, "quantization");
    const own = stringOf(shown.parameters, "parameters");
    const ownContext = Number(OWN_CONTEXT.exec(own)?.[1] ?? 0);
    return {
      ...countedParameters(shown.model_info),
      ...(OWN_SAMPLING.test(own) && { statesSampling: true }),
      ...(ownContext >= 256 && { ownContext }),
      ...(typeof length === "number" && length >= 256 && { contextLength: Math.floor(length) }),
      ...(Array.isArray(shown.capabilities) && { abilities: shown.capabilities.map(String) }),
      ...(size !== "" && { size }),
      ...(quantization !== "" && { quantization }),
    };
  }).catch(onFailure(() => ({})));
}

/** True where the server has Ollama's own paths (`GET {host}/api/version`). */
export function isNative(options: LocalServerOptions = {}): Promise<boolean> {
  return askFields("/api/version", options)
    .then(({ version }) => version !== undefined)
    .catch(onFailure(({ status }) => status !== 404));
}

function countedParameters(info: unknown): Pick<LocalModelInfo, "parameters"> {
  const count = objectOr(info)["general.parameter_count"];
  return typeof count === "number" && count > 0 ? { parameters: count } : {};
}

/** A model as a server has it in its memory. */
interface LoadedModel {
  /** Undefined where the server does not say. */
  isLoaded: boolean | undefined;
  /** Tokens of context that it was loaded with. */
  contextLength?: number;
}

/** Looks up whether Ollama has `model` loaded, and with how much context (`GET {host}/api/ps`). */
export async function loadedModel(
  model: string,
  options: LocalServerOptions = {},
): Promise<LoadedModel> {
  const { models } = await askFields("/api/ps", options).catch(orEmpty);
  if (!Array.isArray(models)) return { isLoaded: undefined };
  const isOwn = ({ name }: Fields) => isSameModel(String(name), model);
  const own = models.filter(isObject).find(isOwn);
  const length = own?.context_length;
  return {
    isLoaded: own !== undefined,
    ...(Number.isInteger(length) && Number(length) >= 256 && { contextLength: Number(length) }),
  };
}

/** Has Ollama load `model` as its compatible endpoint would; false where it does not. */
export function loadModel(model: string, options: LocalServerOptions = {}): Promise<boolean> {
  const request = { body: { model }, timeoutMs: LOAD_TIMEOUT_MS };
  return askFields("/api/generate", options, request).then(() => true).catch(
    onFailure(() => false),
  );
}

/**
 * A description of a model by a server with a compatible endpoint that was started with it;
 * `contextLength` is what it gives the model.
 */
export interface ServedModel extends LocalModelInfo {
  /** False where the model's template has no place for tools, and drops them without a word. */
  takesTools?: boolean;
  /** Whether the model sees images; left out where the server does not say. */
  seesImages?: boolean;
  /** The owner that the server states, which names the kind of server: `llamacpp`, `vllm`. */
  owner?: string;
  /** True where the server is Ollama, whose own paths say more of the model. */
  isOllama?: boolean;
  /** The names of all models that it serves. */
  names: string[];
}

/**
 * The description of `model` by a server that was started with it: `GET /v1/models` (vLLM's
 * `max_model_len`, others' `context_length`, llama.cpp's `meta`) and `GET /props` (llama.cpp's `n_ctx` and
 * abilities of the template), or what Ollama says on its own paths.
 */
export async function servedModel(
  model: string,
  options: LocalServerOptions = {},
): Promise<ServedModel> {
  const asked = (path: string, timeoutMs?: number) =>
    askFields(path, options, { timeoutMs, isOptional: true }).catch(orEmpty);
  const { data } = await asked("/v1/models", LIST_TIMEOUT_MS);
  const models = Array.isArray(data) ? data.filter(isObject) : [];
  const own = models.find(({ id }) => isSameModel(String(id), model)) ??
    (models.length === 1 ? models[0] : undefined) ?? {};
  const names = servedNames(models);
  // Ollama lists every model with its tag, and llama.cpp names itself.
  if (own.owned_by !== "llamacpp" && String(own.id ?? "").includes(":")) {
    const told = await ollamaModel(String(own.id), options);
    if (told !== undefined) return { names, ...told };
  }
  // A router of llama.cpp has models that it loads when they are asked for, as the turn will.
  const state = loadState(own);
  if (state !== undefined && state !== "loaded") options.onLoading?.();
  // vLLM has said everything by now, and a server that lists no models does not know /props.
  let props: Fields = {};
  if (models.length > 0 && own.max_model_len === undefined) {
    props = state === undefined
      ? await asked("/props", PROPS_TIMEOUT_MS)
      : await asked(`/props?model=${encodeURIComponent(String(own.id))}`, LOAD_TIMEOUT_MS);
  }
  const settings = objectOr(props.default_generation_settings);
  const caps = objectOr(props.chat_template_caps);
  return {
    names,
    ...servedInfo(own, settings.n_ctx),
    ...(isOwnSampling(settings.params) && { statesSampling: true }),
    ...(caps.supports_tools === false && { takesTools: false }),
    ...seesImages(own, props),
    ...(typeof own.owned_by === "string" && { owner: own.owned_by }),
  };
}

/** Whether a served model sees images: llama.cpp and others say so in different places. */
function seesImages(own: Fields, props: Fields): Pick<ServedModel, "seesImages"> {
  const { vision } = objectOr(props.modalities);
  if (typeof vision === "boolean") return { seesImages: vision };
  const { input_modalities: inputs } = objectOr(own.architecture);
  if (Array.isArray(inputs)) return { seesImages: inputs.includes("image") };
  const { capabilities: words } = own;
  const isSeeing = Array.isArray(words) &&
    ["multimodal", "vision"].some((one) => words.includes(one));
  return isSeeing ? { seesImages: true } : {};
}

/** The names of all models, loaded ones first. */
function servedNames(models: readonly Fields[]): string[] {
  const rank = (one: Fields) => Number(loadState(one) === "loaded");
  return models.toSorted((a, b) => rank(b) - rank(a)).map(({ id }) => String(id));
}

/** Ollama's description of a model on its compatible endpoint, which gives it the context it is loaded with. */
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

/** llama.cpp's sampling settings where nothing sets others: neither the model's file nor the command line. */
const LLAMACPP_SAMPLING: Readonly<Record<string, number>> = {
  temperature: 0.8,
  top_k: 40,
  top_p: 0.95,
  min_p: 0.05,
  repeat_penalty: 1,
};

function isOwnSampling(params: unknown): boolean {
  const found = objectOr(params);
  return Object.entries(LLAMACPP_SAMPLING).some(([name, usual]) =>
    typeof found[name] === "number" && Math.abs(found[name] - usual) > 1e-4
  );
}

/** The facts in an entry of `/v1/models`; `given`: the context that llama.cpp says it gives the model. */
export function servedInfo(own: Fields, given?: unknown): LocalModelInfo {
  const meta = objectOr(own.meta);
  // LM Studio's are of the model as it is loaded, and as it was made. `context_length` comes last: with
  // llama.cpp it is what the model was made for, not what it is given.
  const contextLength = [
    own.loaded_context_length,
    own.max_model_len,
    meta.n_ctx,
    given,
    own.context_length,
    own.max_context_length,
  ].find((length): length is number => Number.isInteger(length) && Number(length) >= 256);
  const quantization = meta.ftype ?? own.quantization;
  return {
    ...(contextLength !== undefined && { contextLength }),
    ...(typeof meta.n_params === "number" &&
      { size: parameters(meta.n_params), parameters: meta.n_params }),
    ...(typeof quantization === "string" &&
      { quantization: quantization.replace("(guessed) ", "") }),
  };
}

const objectOr = (value: unknown): Fields => isObject(value) ? value : {};

/** `loaded`, `unloaded` or the like, of a model that a router of llama.cpp lists; else undefined. */
export function loadState({ status }: Fields): unknown {
  return isObject(status) ? status.value : undefined;
}

/** A number of parameters as text: `8.2B`, `135M`. */
function parameters(count: number): string {
  return count < 1e9 ? `${Math.ceil(count / 1e6)}M` : `${(count / 1e9).toFixed(1)}B`;
}

/**
 * The model to use where the user named none: the default one where it is installed, else the first
 * that can call tools, else the first whose abilities are not known; `null` where there is none.
 */
export function chooseLocalModel(models: readonly LocalModel[]): string | null {
  const found = models.find(({ name }) => isSameModel(name, LOCAL_DEFAULT_MODEL)) ??
    models.find(({ abilities }) => abilities?.includes("tools")) ??
    models.find(({ abilities }) => abilities === null);
  return found?.name ?? null;
}

/** True for names of the same model: a missing tag means `latest`. */
export function isSameModel(a: string, b: string): boolean {
  const full = (name: string) => name.includes(":") ? name : `${name}:latest`;
  return full(a) === full(b);
}

/** A handler for `catch`: returns `otherwise` of a BackendError, and throws any other error. */
export function onFailure<T>(otherwise: (error: BackendError) => T) {
  return (error: unknown): T => {
    if (error instanceof BackendError) return otherwise(error);
    throw error;
  };
}

const orEmpty = onFailure((): Fields => ({}));

export async function askFields(...request: Parameters<typeof askServer>): Promise<Fields> {
  return fieldsOf(await askServer(...request), `answer to ${request[0]}`);
}

/** Asks once, or with `onLoading` until the model is loaded; a POST where there is a body. */
async function askServer(
  path: string,
  { host, apiKey, fetch, signal, onLoading }: LocalServerOptions,
  { body, isOptional = false, timeoutMs = ASK_TIMEOUT_MS }: {
    body?: unknown;
    isOptional?: boolean;
    timeoutMs?: number | undefined;
  } = {},
): Promise<unknown> {
  const config = localConfig({
    host,
    apiKey,
    fetch,
    maxRetries: 0,
    connectTimeoutMs: ASK_TIMEOUT_MS,
    firstTokenTimeoutMs: timeoutMs,
    idleTimeoutMs: ASK_TIMEOUT_MS,
  });
  const request = {
    url: `${config.host}${path}`,
    isOptional,
    headers: keyHeader(config),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  for (let looks = 0;; looks++) {
    try {
      return await requestJson(request, { ...config, signal, maxBytes: MAX_TOLD_BYTES });
    } catch (error) {
      const isWaited = onLoading && looks < MAX_LOOKS && error instanceof BackendError &&
        isLoading(error);
      if (!isWaited) throw error;
      onLoading(LOADING_DELAY_MS);
      await wait(LOADING_DELAY_MS, signal);
    }
  }
}
