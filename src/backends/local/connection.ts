/** Requests that find out what runs at a local server's address, and which models it has. @module */

import { LOCAL_DEFAULT_MODEL, localConfig } from "../../config.ts";
import { BackendError } from "../../errors.ts";
import { isObject } from "../../text/json.ts";
import { requestJson } from "../../wire/http.ts";
import { isLoading, LOADING_DELAY_MS } from "../../wire/retry.ts";
import { wait } from "../../wire/wait.ts";
import {
  countOf,
  type Fields,
  fieldsOf,
  listOf,
  MIN_CONTEXT,
  stringOf,
  wholeNumber,
} from "../fields.ts";
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
/** A path that did not answer in time is not asked again for this time, in ms, where its answer is optional. */
const UNASKED_MS = 60_000;
/** Addresses of optional answers that did not come in time: when, in ms, and how many times in a row. */
const unanswered = new Map<string, { at: number; times: number }>();
/** The most bytes of an answer: lists of thousands of models are smaller. */
const MAX_TOLD_BYTES = 8 * 2 ** 20;
/** The longest wait for an answer of a server that loads a model first, in milliseconds. */
export const LOAD_TIMEOUT_MS = 600_000;

/**
 * True when a local server is reachable: it answers `GET {host}/api/version`, or else `GET {host}/`
 * (a server that is no Ollama may know neither, and still be there).
 *
 * @throws {TypeError} when `host` is no URL.
 * @throws whatever `options.signal` was aborted with.
 */
export async function checkLocalConnection(options: LocalServerOptions = {}): Promise<boolean> {
  return await connectionFailure(options) === undefined;
}

/** The reason why a local server is not reachable; undefined where it is. Throws like {@linkcode checkLocalConnection}. */
export async function connectionFailure(
  options: LocalServerOptions,
): Promise<BackendError | undefined> {
  for (const path of ["/api/version", "/"]) {
    try {
      await askServer(path, options);
      return undefined;
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      if (isUnreachable(error)) return error;
      if (isLoading(error)) return undefined;
      // "Ollama is running" is no JSON; a page that is missing or locked was still served.
      if (path === "/") {
        return error.kind === "server" || error.kind === "redirect" ? error : undefined;
      }
    }
  }
}

/**
 * The names of the models on a local server, from `GET {host}/api/tags`, or else `GET {host}/v1/models`.
 *
 * @param timeoutMs the longest wait for each of the two, in milliseconds
 * @throws {BackendError} when the server can not be reached or answers neither.
 * @throws like {@linkcode checkLocalConnection}.
 */
export async function listLocalModels(
  options: LocalServerOptions = {},
  timeoutMs: number = ASK_TIMEOUT_MS,
): Promise<string[]> {
  const names = async (path: string, list: string, key: string) => {
    const models = listOf((await askFields(path, options, { timeoutMs }))[list], list);
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
    const contextLength = wholeNumber(
      typeof length === "number" && Math.floor(length),
      MIN_CONTEXT,
    );
    const details = fieldsOf(shown.details ?? {}, "details");
    const size = stringOf(details.parameter_size, "size");
    const quantization = stringOf(details.quantization_level, "quantization");
    const own = stringOf(shown.parameters, "parameters");
    const ownContext = wholeNumber(Number(OWN_CONTEXT.exec(own)?.[1]), MIN_CONTEXT);
    return {
      ...countedParameters(shown.model_info),
      ...(OWN_SAMPLING.test(own) && { statesSampling: true }),
      ...(ownContext !== undefined && { ownContext }),
      ...(contextLength !== undefined && { contextLength }),
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
  const parameters = countOf(objectOr(info)["general.parameter_count"]);
  return parameters === 0 ? {} : { parameters };
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
  const contextLength = wholeNumber(own?.context_length, MIN_CONTEXT);
  return {
    isLoaded: own !== undefined,
    ...(contextLength !== undefined && { contextLength }),
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

export const objectOr = (value: unknown): Fields => isObject(value) ? value : {};

export const orEmpty = onFailure((): Fields => ({}));

export async function askFields(...request: Parameters<typeof askServer>): Promise<Fields> {
  return fieldsOf(await askServer(...request), `answer to ${request[0]}`);
}

function isUnasked(url: string): boolean {
  return performance.now() - (unanswered.get(url)?.at ?? -Infinity) < UNASKED_MS;
}

/** Notes that the server at `host` answered at `url`, so that other paths are asked again, too. */
function noteAnswer(host: string, url: string): void {
  unanswered.delete(url);
  for (const [other, silence] of unanswered) {
    // After the first time-out the server may have been busy; after a second one it is the path that hangs.
    if (other.startsWith(`${host}/`) && silence.times === 1) silence.at = -Infinity;
  }
}

/** Asks once, or with `onLoading` until the model is loaded; a POST where there is a body. */
export async function askServer(
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
  if (isOptional && isUnasked(request.url)) {
    throw new BackendError(`No answer from ${path}`, { kind: "timeout" });
  }
  for (let looks = 0;; looks++) {
    try {
      const answer = await requestJson(request, { ...config, signal, maxBytes: MAX_TOLD_BYTES });
      noteAnswer(config.host, request.url);
      return answer;
    } catch (error) {
      if (error instanceof BackendError) {
        if (error.status !== undefined) noteAnswer(config.host, request.url);
        else if (isOptional && error.kind === "timeout") {
          const { times } = unanswered.get(request.url) ?? { times: 0 };
          unanswered.set(request.url, { at: performance.now(), times: times + 1 });
        }
      }
      const isWaited = onLoading && looks < MAX_LOOKS && error instanceof BackendError &&
        isLoading(error);
      if (!isWaited) throw error;
      onLoading(LOADING_DELAY_MS);
      await wait(LOADING_DELAY_MS, signal);
    }
  }
}
