/** The settings of an agent and its backends with their defaults (spec 2.1, 2.2 and 8). @module */

import { takesEnvKey, withoutEndpoint } from "./server_address.ts";

/** The program's version. A test compares it with `deno.json`. */
export const VERSION = "0.1.0";
/** The environment variable for the compat backend's key. */
export const COMPAT_API_KEY_ENV = "OPENAI_API_KEY";
/** The environment variable for the hosted backend's key. */
export const HOSTED_API_KEY_ENV = "ANTHROPIC_API_KEY";
/** The environment variables for keys of model servers. */
export const API_KEY_ENVS: readonly string[] = [COMPAT_API_KEY_ENV, HOSTED_API_KEY_ENV];
/** The default server addresses of the backends. */
export const DEFAULT_ADDRESSES: Readonly<Record<"compat" | "local" | "hosted", string>> = {
  compat: "https://api.openai.com/v1",
  local: "http://localhost:11434",
  hosted: "https://api.anthropic.com",
};
/** The local backend's default model. */
export const LOCAL_DEFAULT_MODEL = "qwen3";
/** The default of `keepAlive`: longer than most pauses between two messages. */
export const LOCAL_KEEP_ALIVE = "30m";

/** Connection limits for every backend. Durations are in milliseconds. */
export interface ConnectionSettings {
  /** The maximum retries of a request that may succeed later. Default: 4. */
  maxRetries: number;
  /** The maximum time until the server accepts the connection. Default: 10 s. */
  connectTimeoutMs: number;
  /** The maximum time until the first piece of the answer, including loading the model. Default: 10 min. */
  firstTokenTimeoutMs: number;
  /** The maximum silence within an answer, unless an unstreamed call may be written. Default: 2 min. */
  idleTimeoutMs: number;
  /** Replaces the built-in `fetch`, which uses the environment's proxies except for this machine. */
  fetch?: typeof fetch;
  /** Sent with every request, also in place of other headers. The names are in lower case. */
  headers?: Readonly<Record<string, string>>;
}

/** Settings for an OpenAI-style chat completions server. */
export interface CompatConfig extends ConnectionSettings {
  /** Sent to any server as a bearer token (hosted: as `x-api-key`); empty if the server requires no key. */
  apiKey: string;
  /** The model's name, such as `qwen3:8b`. */
  model: string;
  /** The address up to and including `/v1`. `user:password@` in it is sent as Basic authorization. */
  baseUrl: string;
  /**
   * The maximum tokens of an answer (local: 32768, hosted: 8192). If unset, the rest of the model's window or, if
   * that is unknown, the server's limit.
   */
  maxTokens?: number;
  /** The maximum tokens of thinking, if the server supports a limit. Default: a quarter of the room for the answer. */
  thinkBudget?: number;
  /** Sampling temperature, 0 to 2 (hosted: 0 to 1). If unset, the server decides (local, hosted: 0.1). */
  temperature?: number;
  /** The share of the likeliest tokens to sample from, 0 to 1. If unset, the server decides. */
  topP?: number;
  /** The number of the likeliest tokens to sample from. If unset, the server decides. */
  topK?: number;
  /** The minimum probability of a token, relative to the likeliest one. Self-hosted servers support it. */
  minP?: number;
  /** Repetition penalty, supported by self-hosted servers (native local endpoint: 1.2). */
  repeatPenalty?: number;
  /** The source of unset sampling settings: see {@linkcode Sampling}. */
  sampling?: Sampling;
  /** The size of the model's window in tokens, if known. The conversation always fits it. */
  contextLength?: number;
  /**
   * Turns a reasoning model's thinking on or off (`chat_template_kwargs` of llama.cpp and vLLM), or sets its
   * amount (also by `reasoning_effort`). If unset, the server decides.
   */
  think?: Thinking;
  /**
   * Describes the tools in the system prompt and reads the calls from the answer's text. For a model whose
   * template has no tools, and a server that silently drops them.
   */
  textTools?: boolean;
}

/** Settings for a local, Ollama-style server (spec 2.2). */
export interface LocalConfig extends Omit<CompatConfig, "baseUrl"> {
  /** The maximum tokens of an answer. Default: 32768. */
  maxTokens: number;
  /** The server's address. `user:password@` in it is sent as Basic authorization. */
  host: string;
  /** Frequency penalty on the compatible endpoint, -2 to 2. Default: 0. */
  frequencyPenalty?: number;
  /** True for `/v1/chat/completions`, false for `/api/chat`. */
  useCompat: boolean;
  /**
   * How long the native endpoint keeps the model loaded after a request; `-1m` for ever. Default: `30m`. If
   * empty, the server decides.
   */
  keepAlive?: string;
  /**
   * The context in tokens that the native endpoint gives the model (`num_ctx`). If unset, the server decides,
   * whose default is small. A change makes it reload the model. The conversation always fits it, also on the
   * compatible endpoint, which cannot set it.
   */
  contextLength?: number;
}

/** Settings for the hosted messages API (spec 2.1). */
export interface HostedConfig extends Omit<CompatConfig, "textTools" | "minP" | "repeatPenalty"> {
  /** The maximum tokens of an answer. Default: 8192. */
  maxTokens: number;
  /** The address without `/v1`. */
  baseUrl: string;
  /** Sent as `anthropic-version`. Default: `2023-06-01`. */
  apiVersion: string;
  /** Makes the model think, in addition to `maxTokens`: 8192, 2048 or 24576 tokens. Default: off. */
  think?: Thinking;
}

/** Limits of an agent with any backend. */
export interface AgentSettings {
  /** The maximum rounds of tool calls in one turn. Default: 50. */
  maxToolRounds?: number;
  /** The maximum characters of one tool result. Default: 100 000. */
  maxOutputChars?: number;
  /** The length of the system prompt and the tools' descriptions; `auto` is `lean` for small models. */
  promptTier?: PromptTier;
}

/** A reasoning model's thinking: on, off, or its amount. */
export type Thinking = boolean | "low" | "medium" | "high";
/** The values of {@linkcode Thinking} other than on and off. */
export const THINK_LEVELS: readonly Thinking[] = ["low", "medium", "high"];
/**
 * The source of unset sampling settings. Unset: the defaults here (not for compat). `auto`: the default
 * temperature, unless the server has its own settings for the model. `server`: the server's.
 */
export type Sampling = "auto" | "server";
/** All values of {@linkcode Sampling}. */
export const SAMPLINGS: readonly Sampling[] = ["auto", "server"];
/** The default sampling settings (spec 2.2, 8). */
export const DEFAULT_SAMPLING = { temperature: 0.1, repeatPenalty: 1.2, frequencyPenalty: 0 };

/** The parts of the work that another model than the session's may do. */
export const MODEL_ROLES = ["plan", "explore", "summary"] as const;
/** Their models, as `SERVER#MODEL` or as a model of the session's server. */
export type ModelRoles = { [K in typeof MODEL_ROLES[number]]?: string };

/** A value of {@linkcode AgentSettings.promptTier}. */
export type PromptTier = "auto" | "lean" | "full";
/** All values of {@linkcode AgentSettings.promptTier}. */
export const PROMPT_TIERS: readonly PromptTier[] = ["auto", "lean", "full"];

/** An agent's settings: exactly one backend, and limits (spec 2.3). */
export type CopilotConfig =
  & AgentSettings
  & (
    | { compat: CompatConfig; local?: never; hosted?: never }
    | { local: LocalConfig; compat?: never; hosted?: never }
    | { hosted: HostedConfig; compat?: never; local?: never }
  );

const CONNECTION: ConnectionSettings = {
  maxRetries: 4,
  connectTimeoutMs: 10_000,
  firstTokenTimeoutMs: 600_000,
  idleTimeoutMs: 120_000,
};

/** Settings that may be missing or undefined. */
export type Optional<T> = { [K in keyof T]?: T[K] | undefined };

/**
 * Returns a complete {@linkcode CompatConfig}: `settings` over the defaults.
 * @throws {TypeError} {RangeError} if a value has the wrong type or range, is empty, or is not a URL.
 */
export function compatConfig(settings: Optional<CompatConfig> = {}): CompatConfig {
  return checked("compat", {
    apiKey: "",
    model: "gpt-4o",
    baseUrl: DEFAULT_ADDRESSES.compat,
    ...CONNECTION,
  }, settings);
}

/**
 * Returns a complete {@linkcode LocalConfig}: `settings` over the defaults.
 * @throws {TypeError} {RangeError} if a value has the wrong type or range, is empty, or is not a URL.
 */
export function localConfig(settings: Optional<LocalConfig> = {}): LocalConfig {
  return checked("local", {
    model: LOCAL_DEFAULT_MODEL,
    host: DEFAULT_ADDRESSES.local,
    maxTokens: 32_768,
    ...settings.sampling === undefined && DEFAULT_SAMPLING,
    useCompat: false,
    apiKey: "",
    ...CONNECTION,
  }, settings);
}

/**
 * Returns a complete {@linkcode HostedConfig}: `settings` over the defaults. The default server requires a key.
 * @throws {TypeError} {RangeError} if a value has the wrong type or range, is empty, or is not a URL.
 */
export function hostedConfig(settings: Optional<HostedConfig> & { apiKey: string }): HostedConfig {
  const config = checked("hosted", {
    apiKey: "",
    model: "claude-sonnet-4-20250514",
    baseUrl: DEFAULT_ADDRESSES.hosted,
    maxTokens: 8192,
    ...settings.sampling === undefined && { temperature: DEFAULT_SAMPLING.temperature },
    apiVersion: "2023-06-01",
    ...CONNECTION,
  }, settings);
  if (config.apiKey === "" && isDefaultServer("hosted", config.baseUrl)) {
    const only = takesEnvKey(config.baseUrl) ? "" : ", which is sent only to plain https addresses";
    const why = `it must not be empty: set ${HOSTED_API_KEY_ENV}${only}`;
    throw settingError(RangeError, "hosted", "apiKey", why);
  }
  return config;
}

/** The allowed range of each number, inclusive; `true` for whole numbers only. */
const RANGES: Readonly<Record<string, readonly [min: number, max: number, whole?: true]>> = {
  maxTokens: [1, Number.MAX_SAFE_INTEGER, true],
  thinkBudget: [1, Number.MAX_SAFE_INTEGER, true],
  temperature: [0, 2],
  "hosted.temperature": [0, 1],
  repeatPenalty: [0, 10],
  topP: [0, 1],
  topK: [0, 2 ** 31 - 1, true],
  minP: [0, 1],
  contextLength: [256, 2 ** 31 - 1, true],
  frequencyPenalty: [-2, 2],
  maxRetries: [0, 100, true],
  // A timer's delay is a signed 32-bit number of milliseconds. A larger one would fire at once.
  connectTimeoutMs: [1, 2 ** 31 - 1],
  firstTokenTimeoutMs: [1, 2 ** 31 - 1],
  idleTimeoutMs: [1, 2 ** 31 - 1],
  maxToolRounds: [1, Number.MAX_SAFE_INTEGER, true],
  maxOutputChars: [200, Number.MAX_SAFE_INTEGER, true],
};

/** An error about a setting, such as `maxTokens`. `why` is the end of its message. */
type SettingError = TypeError & { setting: string; why: string };

function settingError(
  Type: typeof TypeError | typeof RangeError,
  where: string,
  setting: string,
  why: string,
): SettingError {
  return Object.assign(new Type(`Cannot use ${where}.${setting} as ${why}`), { setting, why });
}

/** True for an error about the value of a setting. */
export function isSettingError(error: unknown): error is SettingError {
  return error instanceof Error && "setting" in error;
}

/** The types of settings without a default. */
const OPTIONAL: Readonly<Record<string, string>> = {
  fetch: "function",
  headers: "object",
  think: "boolean",
  textTools: "boolean",
  keepAlive: "string",
  sampling: "string",
  ...Object.fromEntries(
    "contextLength maxTokens thinkBudget temperature topP topK minP repeatPenalty frequencyPenalty"
      .split(" ").map((name) => [name, "number"]),
  ),
};

/** Lays `given` over `defaults` (`undefined` keeps the default) and checks every value. */
function checked<T extends object>(where: string, defaults: T, given: Optional<T>): T {
  const config = { ...defaults } as Record<string, unknown>;
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!(key in config) && !(key in OPTIONAL)) {
      const why = `there is no such setting: use one of ${Object.keys(config).join(", ")}`;
      throw settingError(TypeError, where, key, why);
    }
    const type = OPTIONAL[key] ?? typeof config[key];
    const isLevel = key === "think" && THINK_LEVELS.includes(value as Thinking);
    if (typeof value !== type && !isLevel) {
      const why = `it must be a ${type}: current value is ${settingText(value)}`;
      throw settingError(TypeError, where, key, why);
    }
    config[key] = value;
  }
  for (const [key, value] of Object.entries(config)) {
    if (key === "baseUrl" || key === "host") config[key] = checkedUrl(where, key, value as string);
    checkTextSetting(where, key, value as string);
    checkNumber(where, key, value);
  }
  return config as T;
}

function checkTextSetting(where: string, key: string, value: string): void {
  const shown = () => `: current value is ${settingText(value)}`;
  let why: string | undefined;
  if (key === "model" && value.trim() === "") why = `it must not be empty${shown()}`;
  // A header value is printable ASCII. Anything else would fail later in fetch with an unclear message.
  if ((key === "apiKey" || key === "apiVersion") && /[^\x21-\x7e]/.test(value)) {
    why = "it must be printable ASCII without spaces: the current value is not";
  }
  if (key === "sampling" && value !== undefined && !SAMPLINGS.includes(value as Sampling)) {
    why = `it must be one of ${SAMPLINGS.join(", ")}${shown()}`;
  }
  if (key === "keepAlive" && !/^(-?\d+(\.\d+)?(ms|s|m|h)|0|)$/.test(value)) {
    why = `it must be a time such as 30m${shown()}`;
  }
  if (why !== undefined) throw settingError(RangeError, where, key, why);
}

function checkNumber(where: string, key: string, value: unknown): void {
  const [min, max, whole] = RANGES[`${where}.${key}`] ?? RANGES[key] ?? [];
  if (min === undefined || max === undefined) return;
  const isNumber = whole ? Number.isInteger(value) : typeof value === "number";
  if (isNumber && (value as number) >= min && (value as number) <= max) return;
  const kind = whole ? "a whole number" : "a number";
  const range = max >= 2 ** 31 - 1 ? `of at least ${min}` : `from ${min} to ${max}`;
  const why = `it must be ${kind} ${range}: current value is ${settingText(value)}`;
  throw settingError(RangeError, where, key, why);
}

/** True for an address on the host of the backend's default server, which requires a key. */
export function isDefaultServer(kind: "compat" | "hosted", address: string): boolean {
  return new URL(address).hostname === new URL(DEFAULT_ADDRESSES[kind]).hostname;
}

/** True for a possible address of the user's own server. Services on the web use https. */
export function mayBeOwnServer(address: string): boolean {
  return address.startsWith("http:");
}

/**
 * Returns the URL without a slash or the path of an endpoint at its end. `localhost` and `host:port` become http.
 * `where`: the backend.
 * @throws {TypeError} about the setting `key` if it is not the URL of a server.
 */
export function checkedUrl(where: string, key: string, value: string): string {
  const text = value.trim();
  const short = /^(localhost|[\w.-]+:\d+|\[[\da-f:]+\]:\d+)(\/|$)/i.test(text);
  const url = URL.parse(short ? `http://${text}` : text);
  let wrong: string | undefined;
  if (url === null) wrong = "it must be a URL such as http://localhost:11434";
  else if (!/^https?:$/.test(url.protocol)) wrong = "it must start with http:// or https://";
  else if (url.search || url.hash) wrong = "it must not have a query or a fragment";
  if (wrong !== undefined || url === null) {
    // A password may come before an @, and a key in a query.
    const shown = /[@?#]/.test(value) ? "hidden" : settingText(value);
    throw settingError(TypeError, where, key, `${wrong}: current value is ${shown}`);
  }
  const address = withoutEndpoint(url.href.replace(/\/+$/, ""));
  // Users paste the address of the compatible endpoint, but this code adds the path.
  if (where === "compat") return address;
  return address.replace(where === "local" ? /\/(?:v1|api)$/ : /\/v1$/, "");
}

/**
 * Checks that `config` has exactly one backend with valid values, and adds the agent's defaults.
 * @throws {TypeError} {RangeError} if it does not.
 */
export function copilotConfig(config: CopilotConfig): CopilotConfig & Required<AgentSettings> {
  const chosen = [config.compat, config.local, config.hosted].filter((c) => c !== undefined);
  if (chosen.length !== 1) {
    throw new TypeError(
      `Cannot create an agent as exactly one of compat, local and hosted must be set: ${chosen.length} are`,
    );
  }
  const settings = {
    maxToolRounds: config.maxToolRounds ?? 50,
    maxOutputChars: config.maxOutputChars ?? 100_000,
    promptTier: config.promptTier ?? "auto",
  };
  for (const [key, value] of Object.entries(settings)) checkNumber("config", key, value);
  if (!PROMPT_TIERS.includes(settings.promptTier)) {
    const shown = settingText(settings.promptTier);
    const why = `it must be one of ${PROMPT_TIERS.join(", ")}: current value is ${shown}`;
    throw settingError(RangeError, "config", "promptTier", why);
  }
  if (config.compat) return { ...settings, compat: compatConfig(config.compat) };
  if (config.local) return { ...settings, local: localConfig(config.local) };
  return { ...settings, hosted: hostedConfig(config.hosted!) };
}

/** Returns a value as typed, short enough for an error line. */
function settingText(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** The palettes to choose from; `auto` follows the terminal's background. */
export const THEMES = ["auto", "dark", "light", "none"] as const;
export type Theme = typeof THEMES[number];
