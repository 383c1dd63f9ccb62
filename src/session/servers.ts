/** Looking for model servers on this machine. Their answers are bounded and not trusted. @module */

import type { ListedModel } from "../backends/local/model_list.ts";
import { BackendError } from "../errors.ts";
import { isLoopback } from "../wire/connect.ts";

/** A place where a model server may be. */
export interface FoundServer {
  /** The address, without `/v1`. */
  url: string;
  /** `slow`: something is there that did not answer in time; `unasked`: it is on another machine. */
  state: "answers" | "slow" | "unasked";
  /** True where the server has Ollama's own paths. */
  isNative: boolean;
  /** The models that answer messages, loaded ones first. */
  models: readonly ListedModel[];
}

interface Limits {
  /** The longest that a server may take, in milliseconds. */
  limitMs: number;
  signal: AbortSignal;
}

interface FindOptions extends Limits {
  /** The key that the person gave for an address; empty for none. */
  keyOf(url: string): string;
}

/**
 * The model servers at `addresses`, which are looked at side by side, with GET requests for their lists.
 * Nothing is sent to another machine: an address there is returned as `unasked`.
 */
export async function findServers(
  addresses: readonly string[],
  options: FindOptions,
): Promise<FoundServer[]> {
  const found = await Promise.all([...new Set(addresses)].map((url) => lookAt(url, options)));
  options.signal.throwIfAborted();
  return found.filter((one) => one !== undefined);
}

async function lookAt(
  url: string,
  { limitMs, keyOf, signal }: FindOptions,
): Promise<FoundServer | undefined> {
  if (!isLoopback(url)) return { url, state: "unasked", isNative: true, models: [] };
  try {
    return await askServerAt(url, { limitMs, apiKey: keyOf(url), signal });
  } catch (error) {
    // Where nothing listens, the connection is refused at once; what lists no models is no model server.
    const isSlow = error instanceof BackendError && error.kind === "timeout";
    return isSlow ? { url, state: "slow", isNative: false, models: [] } : undefined;
  }
}

/**
 * The server at `url`, which may be on another machine, with its models: GET requests for its lists.
 * @throws {BackendError} when nothing answers there in time, or what answers lists no models.
 */
export async function askServerAt(
  url: string,
  { limitMs, apiKey, signal }: Limits & { apiKey: string },
): Promise<FoundServer> {
  const [{ askFields, onFailure }, { listModels }] = await Promise.all([
    import("../backends/local/connection.ts"),
    import("../backends/local/model_list.ts"),
  ]);
  return await inTime(url, { limitMs, signal }, async (signal) => {
    const at = { host: url, apiKey, signal };
    const isNative = await askFields("/api/version", at)
      .then(({ version }) => version !== undefined)
      .catch(onFailure(() => false));
    const models = await listModels(isNative, at, false);
    const rank = ({ isLoaded }: ListedModel) => Number(isLoaded === true);
    return {
      ...{ url, state: "answers", isNative },
      models: models.toSorted((a, b) => rank(b) - rank(a)),
    };
  });
}

/**
 * Asks the API of a kind at `baseUrl` for its models, to see whether it takes `apiKey`.
 * @throws {BackendError} when it refuses the key, or does not answer in time.
 */
export async function tryKey(
  kind: "compat" | "hosted",
  { baseUrl, apiKey }: { baseUrl: string; apiKey: string },
  limits: Limits,
): Promise<void> {
  const [{ compatConfig, hostedConfig }, { requestJson }, { hostedHeaders }, { keyHeader }] =
    await Promise.all([
      import("../config.ts"),
      import("../wire/http.ts"),
      import("../backends/hosted/mod.ts"),
      import("../backends/wire_values.ts"),
    ]);
  const settings = { baseUrl, apiKey, maxRetries: 0 };
  const config = kind === "hosted" ? hostedConfig(settings) : compatConfig(settings);
  const [path, headers] = "apiVersion" in config
    ? ["/v1/models", hostedHeaders(config)]
    : ["/models", keyHeader(config)];
  const request = { url: `${config.baseUrl}${path}`, headers };
  await inTime(baseUrl, limits, (signal) => requestJson(request, { ...config, signal }));
}

/** The result of `ask`, whose signal ends it in time. @throws {BackendError} when that is over. */
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
    const { limitText } = await import("../wire/http.ts");
    const message = `${new URL(url).origin} does not answer within ${limitText(limitMs)}`;
    throw new BackendError(message, { kind: "timeout" });
  }
}
