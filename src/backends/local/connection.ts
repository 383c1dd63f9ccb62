/**
 * What runs at a local server's address, and which models it has.
 *
 * @module
 */

import { LOCAL_DEFAULT_MODEL, type LocalConfig, localConfig } from "../../config.ts";
import { BackendError } from "../../errors.ts";
import { requestJson } from "../../wire/http.ts";
import { fieldsOf, listOf, textOf } from "../fields.ts";
import { isObject } from "../../text/json.ts";
import { keyHeader } from "../wire_values.ts";

/** Which server to ask. */
export interface LocalServerOptions {
  /** The server's address: `http://localhost:11434`. */
  host?: string | undefined;
  /** Sent as a bearer token where a proxy in front of the server wants one. */
  apiKey?: string | undefined;
  /** Replaces the built-in `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Ends the request; its `reason` is what is thrown. */
  signal?: AbortSignal | undefined;
}

/** A model on a local server. */
export interface LocalModel {
  /** Its name, such as `qwen3:8b`. */
  name: string;
  /** What it can do, such as `completion`, `tools`, `thinking`; `null` where the server says nothing. */
  abilities: string[] | null;
}

/** How long to wait for a server that is asked what it is, in milliseconds. */
const ASK_TIMEOUT_MS = 5000;

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
      await ask(path, options);
      return true;
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      if (error.kind === "connection" || error.kind === "timeout") return false;
      // "Ollama is running" is no JSON; a page that is missing or locked was still served.
      if (path === "/" && error.kind !== "server" && error.kind !== "redirect") return true;
    }
  }
  return false;
}

/**
 * The names of the models on a local server, from `GET {host}/api/tags`, or else from
 * `GET {host}/v1/models`.
 *
 * @throws {BackendError} when the server can not be reached or answers neither.
 * @throws {TypeError} when `host` is no URL.
 * @throws whatever `options.signal` was aborted with.
 */
export async function listLocalModels(options: LocalServerOptions = {}): Promise<string[]> {
  try {
    const { models } = fieldsOf(await ask("/api/tags", options), "answer to /api/tags");
    return listOf(models, "models").map((model) => textOf(fieldsOf(model, "model").name, "name"));
  } catch (error) {
    const answered = error instanceof BackendError && error.kind !== "connection" &&
      error.kind !== "timeout";
    if (!answered) throw error;
    const { data } = fieldsOf(await ask("/v1/models", options), "answer to /v1/models");
    return listOf(data, "data").map((model) => textOf(fieldsOf(model, "model").id, "id"));
  }
}

/**
 * The models on a local server with what they can do (`POST {host}/api/show`, `capabilities`).
 *
 * @throws {BackendError} {TypeError} like {@linkcode listLocalModels}; a model that the server does
 * not describe has `abilities: null`.
 */
export async function listLocalModelAbilities(
  options: LocalServerOptions = {},
): Promise<LocalModel[]> {
  const names = await listLocalModels(options);
  return Promise.all(names.map(async (name) => {
    try {
      const shown = fieldsOf(await ask("/api/show", options, { model: name }), "answer");
      if (shown.capabilities === undefined) return { name, abilities: null };
      const abilities = listOf(shown.capabilities, "capabilities");
      return { name, abilities: abilities.map((ability) => textOf(ability, "capability")) };
    } catch (error) {
      if (error instanceof BackendError) return { name, abilities: null };
      throw error;
    }
  }));
}

/** What a local server says of a model. */
export interface LocalModelInfo {
  /** The most tokens of context that it was made for. */
  contextLength?: number;
  /** What it can do; see {@linkcode LocalModel}. */
  abilities?: string[];
  /** Its parameters, such as `8.2B`. */
  size?: string;
  /** Such as `Q4_K_M`. */
  quantization?: string;
}

/**
 * What the server says of `model` (`POST {host}/api/show`); nothing where it has no such model, or
 * cannot be asked.
 *
 * @throws whatever `options.signal` was aborted with.
 */
export async function localModelInfo(
  model: string,
  options: LocalServerOptions = {},
): Promise<LocalModelInfo> {
  try {
    const shown = fieldsOf(await ask("/api/show", options, { model }), "answer");
    const info = Object.entries(fieldsOf(shown.model_info ?? {}, "model_info"));
    const [, length] = info.find(([key]) => key.endsWith(".context_length")) ?? [];
    const details = fieldsOf(shown.details ?? {}, "details");
    const size = textOf(details.parameter_size, "size");
    const quantization = textOf(details.quantization_level, "quantization");
    return {
      ...(typeof length === "number" && length >= 256 && { contextLength: Math.floor(length) }),
      ...(Array.isArray(shown.capabilities) && { abilities: shown.capabilities.map(String) }),
      ...(size !== "" && { size }),
      ...(quantization !== "" && { quantization }),
    };
  } catch (error) {
    if (error instanceof BackendError) return {};
    throw error;
  }
}

/**
 * The tokens of context that a server gives `model`, where it was told when it started: `GET /v1/models`
 * (vLLM's `max_model_len`, others' `context_length`) or `GET /props` (llama.cpp's `n_ctx`). Undefined where
 * it says nothing.
 *
 * @throws whatever `options.signal` was aborted with.
 */
export async function servedContextLength(
  model: string,
  options: LocalServerOptions = {},
): Promise<number | undefined> {
  const asked = async (path: string) => {
    try {
      return fieldsOf(await ask(path, options), `answer to ${path}`);
    } catch (error) {
      if (error instanceof BackendError) return {};
      throw error;
    }
  };
  const { data } = await asked("/v1/models");
  const models = Array.isArray(data) ? data.filter(isObject) : [];
  const own = models.find(({ id }) => id === model) ??
    (models.length === 1 ? models[0] : undefined);
  const { default_generation_settings: settings } = await asked("/props");
  return [own?.max_model_len, own?.context_length, isObject(settings) && settings.n_ctx]
    .find((length): length is number => Number.isInteger(length) && Number(length) >= 256);
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

/** Asks once, with a JSON body where there is one. */
function ask(path: string, options: LocalServerOptions, body?: unknown): Promise<unknown> {
  const { host, apiKey, fetch, signal } = options;
  const config: LocalConfig = localConfig({
    host,
    apiKey,
    fetch,
    maxRetries: 0,
    connectTimeoutMs: ASK_TIMEOUT_MS,
    firstTokenTimeoutMs: ASK_TIMEOUT_MS,
    idleTimeoutMs: ASK_TIMEOUT_MS,
  });
  return requestJson({
    url: `${config.host}${path}`,
    headers: keyHeader(config),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }, { ...config, signal });
}
