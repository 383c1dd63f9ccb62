/** Finds out what runs at a local server's address, and which models it has. @module */

import { LOCAL_DEFAULT_MODEL, localConfig } from "../../config.ts";
import { BackendError } from "../../errors.ts";
import { isObject, objectOr } from "../../text/json.ts";
import { requestJson } from "../../wire/http.ts";
import { isLoading, LOADING_DELAY_MS } from "../../wire/retry.ts";
import { wait } from "../../wire/wait.ts";
import {
  countOf,
  type Fields,
  fieldsOf,
  listOf,
  MIN_CONTEXT,
  shapeError,
  stringOf,
  wholeNumber,
} from "../fields.ts";
import { keyHeader } from "../wire_values.ts";

/** A server, and how to reach it. */
export interface LocalServerOptions {
  /** The server's address: `http://localhost:11434`. */
  host?: string | undefined;
  /** Sent as a bearer token, for a proxy in front of the server. */
  apiKey?: string | undefined;
  /** Replaces the built-in `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Sent with every request. The names are in lower case. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Ends the request. Its `reason` is thrown. */
  signal?: AbortSignal | undefined;
  /** Called while the server loads its model. `nextLookMs`: milliseconds until the next request. */
  onLoading?: ((nextLookMs?: number) => void) | undefined;
}

/** A model on a local server, and its abilities (`tools`); `null` if the server does not list them. */
interface LocalModel {
  name: string;
  abilities: string[] | null;
}

/** The maximum requests to a server that is loading: 10 minutes. */
const MAX_LOOKS = 300;
/** The maximum wait for an answer in milliseconds. */
export const ASK_TIMEOUT_MS = 5000;
/** The time in milliseconds without further requests to a path that timed out twice, if its answer is optional. */
const UNASKED_MS = 60_000;
/** Addresses of optional answers that timed out: the time in milliseconds, and the consecutive failures. */
const unanswered = new Map<string, { at: number; times: number }>();
/** The maximum bytes of an answer: lists of thousands of models are smaller. */
const MAX_TOLD_BYTES = 8 * 2 ** 20;
/** The maximum wait in milliseconds for a server that loads a model first. */
export const LOAD_TIMEOUT_MS = 600_000;

/**
 * True if a local server is reachable: it answers `GET {host}/api/version` or `GET {host}/`. A server other than
 * Ollama may know neither, and still be reachable.
 *
 * @throws {TypeError} if `host` is not a URL.
 * @throws the reason of `options.signal`.
 */
export async function checkLocalConnection(options: LocalServerOptions = {}): Promise<boolean> {
  return await connectionFailure(options) === undefined;
}

/** Returns why a local server is not reachable, if so. Throws like {@linkcode checkLocalConnection}. */
export async function connectionFailure(
  options: LocalServerOptions,
): Promise<BackendError | undefined> {
  for (const path of ["/api/version", "/"]) {
    try {
      await askServer(path, options);
      return undefined;
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      const isHttp = error.kind !== "protocol" || error.status !== undefined;
      if (isUnreachable(error) || !isHttp) return error;
      if (isLoading(error)) return undefined;
      // "Ollama is running" is not JSON. A missing or locked page still shows a server.
      if (path === "/") {
        return error.kind === "server" || error.kind === "redirect" ? error : undefined;
      }
    }
  }
}

/**
 * Returns the names of the models on a local server, from `GET {host}/api/tags` or `GET {host}/v1/models`.
 *
 * @param timeoutMs the maximum wait for each of the two in milliseconds
 * @throws {BackendError} if the server cannot be reached or answers neither.
 * @throws like {@linkcode checkLocalConnection}.
 */
export async function listLocalModels(
  options: LocalServerOptions = {},
  timeoutMs: number = ASK_TIMEOUT_MS,
): Promise<string[]> {
  const names = async (path: string, list: string, key: string) => {
    const fields = await askFields(path, options, { timeoutMs });
    if (!Object.hasOwn(fields, list)) throw shapeError(list, "an array", undefined);
    const models = listOf(fields[list], list);
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

/** Returns the models on a local server with their abilities. Throws like {@linkcode listLocalModels}. */
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
  /** The maximum tokens of context by design. */
  contextLength?: number;
  abilities?: string[];
  /** Its parameters, such as `8.2B`. */
  size?: string;
  /** For example `Q4_K_M`. */
  quantization?: string;
  /** The number of its parameters. */
  parameters?: number;
  /** True if it has sampling settings of its own, which the server applies. */
  statesSampling?: boolean;
  /** The tokens of context in its own settings. */
  ownContext?: number;
}

/** True if the server lists the model's abilities without `ability`. */
export function lacks({ abilities = [] }: LocalModelInfo, ability: string): boolean {
  return abilities.length > 0 && !abilities.includes(ability);
}

/** Settings in a model's parameters as Ollama lists them, one per line. */
const OWN_SAMPLING = /^\s*(temperature|top_[kp]|min_p|repeat_penalty)\s/m;
const OWN_CONTEXT = /^\s*num_ctx\s+(\d{3,8})\s*$/m;

/** Returns the server's description of `model` (`POST {host}/api/show`); empty if it has no description. */
export function localModelInfo(
  model: string,
  options: LocalServerOptions = {},
): Promise<LocalModelInfo> {
  return askFields("/api/show", options, { body: { model } }).then((shown) => {
    const info = Object.entries(fieldsOf(shown.model_info ?? {}, "model_info"));
    const [, length] = info.find(([key]) => key.endsWith(".context_length")) ?? [];
    const whole = typeof length === "number" && Math.floor(length);
    const contextLength = wholeNumber(whole, MIN_CONTEXT);
    const parameters = countOf(objectOr(shown.model_info)["general.parameter_count"]);
    const modelfile = stringOf(shown.parameters, "parameters");
    const ownContext = wholeNumber(Number(OWN_CONTEXT.exec(modelfile)?.[1]), MIN_CONTEXT);
    return {
      ...(parameters > 0 && { parameters }),
      ...(OWN_SAMPLING.test(modelfile) && { statesSampling: true }),
      ...(ownContext !== undefined && { ownContext }),
      ...(contextLength !== undefined && { contextLength }),
      ...(Array.isArray(shown.capabilities) && { abilities: shown.capabilities.map(String) }),
      ...ollamaDetails(shown.details),
    };
  }).catch(onFailure(() => ({})));
}

export function ollamaDetails(details: unknown): Pick<LocalModelInfo, "size" | "quantization"> {
  const { parameter_size: size, quantization_level: quantization } = objectOr(details);
  return {
    ...typeof size === "string" && size !== "" && { size },
    ...typeof quantization === "string" && quantization !== "" && { quantization },
  };
}

/** True if the server has Ollama's own paths (`GET {host}/api/version`). LM Studio's error there has status 200. */
export function isNative(options: LocalServerOptions = {}): Promise<boolean> {
  return askFields("/api/version", options).then(({ version }) => version !== undefined)
    .catch(onFailure(({ status }) => status !== 404 && status !== 200));
}

/** A model in a server's memory. */
interface LoadedModel {
  /** Undefined if the server does not say. */
  isLoaded: boolean | undefined;
  /** The tokens of context that it was loaded with. */
  contextLength?: number;
}

/** Returns whether Ollama has loaded `model`, and with how much context (`GET {host}/api/ps`). */
export async function loadedModel(
  model: string,
  options: LocalServerOptions = {},
): Promise<LoadedModel> {
  const { models } = await askFields("/api/ps", options).catch(orEmpty);
  if (!Array.isArray(models)) return { isLoaded: undefined };
  const isOwn = ({ name }: Fields) => isSameModel(String(name), model);
  const own = models.filter(isObject).find(isOwn);
  const contextLength = wholeNumber(own?.context_length, MIN_CONTEXT);
  return { isLoaded: own !== undefined, ...(contextLength !== undefined && { contextLength }) };
}

/** Makes Ollama load `model` like its compatible endpoint; false if it does not. */
export function loadModel(model: string, options: LocalServerOptions = {}): Promise<boolean> {
  const request = { body: { model }, timeoutMs: LOAD_TIMEOUT_MS };
  return askFields("/api/generate", options, request)
    .then(() => true).catch(onFailure(() => false));
}

/**
 * Returns the model to use if the user did not name one: the default one if it is installed, otherwise the first with
 * tools, otherwise the first with unknown abilities; `null` if no model fits.
 */
export function chooseLocalModel(models: readonly LocalModel[]): string | null {
  const found = models.find(({ name }) => isSameModel(name, LOCAL_DEFAULT_MODEL)) ??
    models.find(({ abilities }) => abilities?.includes("tools")) ??
    models.find(({ abilities }) => abilities === null);
  return found?.name ?? null;
}

/** True for names of the same model. A missing tag means `latest`. */
export function isSameModel(a: string, b: string): boolean {
  const full = (name: string) => name.includes(":") ? name : `${name}:latest`;
  return full(a) === full(b);
}

/** Returns a handler for `catch`: it returns `otherwise` for a BackendError, and rethrows other errors. */
export function onFailure<T>(otherwise: (error: BackendError) => T) {
  return (error: unknown): T => {
    if (error instanceof BackendError) return otherwise(error);
    throw error;
  };
}

export const orEmpty = onFailure((): Fields => ({}));

export async function askFields(...request: Parameters<typeof askServer>): Promise<Fields> {
  return fieldsOf(await askServer(...request), `answer to ${request[0]}`);
}

/** Returns the objects in the list `key` of an optional answer; empty without one. */
export async function entriesAt(
  path: string,
  key: string,
  options: LocalServerOptions,
  timeoutMs?: number,
): Promise<Fields[]> {
  const how = { timeoutMs, isOptional: true };
  const list = (await askFields(path, options, how).catch(orEmpty))[key];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** Sends one request, or with `onLoading` repeats it until the model is loaded. A body makes it a POST. */
export async function askServer(
  path: string,
  { host, apiKey, fetch, headers, signal, onLoading }: LocalServerOptions,
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
    headers,
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
  const { at, times } = unanswered.get(request.url) ?? { at: 0, times: 0 };
  // At the first time-out the server may be busy. At the second one, the path hangs.
  if (isOptional && times > 1 && performance.now() - at < UNASKED_MS) {
    throw new BackendError(`No answer from ${path}`, { kind: "timeout" });
  }
  for (let attempts = 0;; attempts++) {
    try {
      const answer = await requestJson(request, { ...config, signal, maxBytes: MAX_TOLD_BYTES });
      unanswered.delete(request.url);
      return answer;
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      if (isOptional && error.kind === "timeout") {
        unanswered.set(request.url, { at: performance.now(), times: times + 1 });
      }
      if (!onLoading || attempts >= MAX_LOOKS || !isLoading(error)) throw error;
      onLoading(LOADING_DELAY_MS);
      await wait(LOADING_DELAY_MS, signal);
    }
  }
}
