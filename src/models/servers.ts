/** Discovers model servers on this machine. Their answers are bounded and untrusted. @module */

import { compatConfig, hostedConfig, mayBeOwnServer } from "../config.ts";
import { hostedHeaders } from "./anthropic/mod.ts";
import { isNative, type LocalServerOptions } from "./ollama/connection.ts";
import { type ListedModel, listModels } from "./ollama/model_list.ts";
import { keyHeader } from "./wire_values.ts";
import { BackendError } from "../errors.ts";
import { isLoopback } from "../wire/connect.ts";
import { limitText, requestJson } from "../wire/http.ts";

export interface FoundServer {
  /** The address, without `/v1`. */
  url: string;
  /** `slow`: it did not answer in time; `skipped`: it is on another machine, and was not asked. */
  state: "answers" | "slow" | "skipped";
  /** True if the server has Ollama's own paths. */
  isNative: boolean;
  /** The chat models, loaded ones first. */
  models: readonly ListedModel[];
}

interface Limits {
  limitMs: number;
  signal: AbortSignal;
}

type Access = Pick<LocalServerOptions, "apiKey" | "headers">;

interface FindOptions extends Limits {
  /** Returns the user's key and headers for an address. */
  accessTo(url: string): Access;
  /** Servers that the user chose, which are asked on other machines, too, unless they are on the web. */
  chosen?: readonly string[];
}

/**
 * Probes the `addresses` on this machine and the chosen ones in parallel, with GET requests for models. Returns the
 * others as `skipped`.
 */
export async function findServers(
  addresses: readonly string[],
  options: FindOptions,
): Promise<FoundServer[]> {
  const all = new Set([...options.chosen ?? [], ...addresses]);
  const found = await Promise.all([...all].map((url) => lookAt(url, options)));
  options.signal.throwIfAborted();
  return found.filter((one) => one !== undefined);
}

async function lookAt(
  url: string,
  { limitMs, accessTo, signal, chosen = [] }: FindOptions,
): Promise<FoundServer | undefined> {
  const isAsked = isLoopback(url) || chosen.includes(url) && mayBeOwnServer(url);
  if (!isAsked) return { url, state: "skipped", isNative: true, models: [] };
  try {
    return await askServerAt(url, { limitMs, ...accessTo(url), signal });
  } catch (error) {
    // If nothing listens, the connection is refused at once. A server that lists no models is not a model server.
    const isSlow = error instanceof BackendError && error.kind === "timeout";
    return isSlow ? { url, state: "slow", isNative: false, models: [] } : undefined;
  }
}

/** Returns the server at `url`, on any machine, with its models. @throws {BackendError} without a list in time. */
export async function askServerAt(
  url: string,
  { limitMs, signal, ...access }: Limits & Access,
): Promise<FoundServer> {
  return await inTime(url, { limitMs, signal }, async (signal) => {
    const at = { host: url, ...access, signal };
    const isOllama = await isNative(at);
    const models = await listModels(isOllama, at, false);
    const rank = ({ isLoaded }: ListedModel) => Number(isLoaded === true);
    return {
      url,
      state: "answers",
      isNative: isOllama,
      models: models.toSorted((a, b) => rank(b) - rank(a)),
    };
  });
}

/** Checks `apiKey` at `baseUrl` by a list of models. @throws {BackendError} if it is rejected or nothing answers. */
export async function tryKey(
  kind: "compat" | "hosted",
  server: { baseUrl: string; apiKey: string } & Access,
  limits: Limits,
): Promise<void> {
  const settings = { ...server, maxRetries: 0 };
  const config = kind === "hosted" ? hostedConfig(settings) : compatConfig(settings);
  const [path, headers] = "apiVersion" in config
    ? ["/v1/models", hostedHeaders(config)]
    : ["/models", keyHeader(config)];
  const request = { url: `${config.baseUrl}${path}`, headers };
  await inTime(server.baseUrl, limits, (signal) => requestJson(request, { ...config, signal }));
}

/** Runs `ask` with a signal that enforces the timeout. @throws {BackendError} after the timeout. */
async function inTime<T>(
  url: string,
  { limitMs, signal }: Limits,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = AbortSignal.timeout(limitMs);
  try {
    return await ask(AbortSignal.any([signal, limit]));
  } catch (error) {
    if (!limit.aborted || signal.aborted) throw error;
    const message = `${new URL(url).origin} does not answer within ${limitText(limitMs)}`;
    throw new BackendError(message, { kind: "timeout" });
  }
}
