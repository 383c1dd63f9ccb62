/** The settings of an agent and its backends, and their defaults (spec 2.1, 2.2 and 8). @module */

import { takesEnvKey, withoutEndpoint } from "./server_address.ts";

/** The program's version; the tests hold it against `deno.json`. */
export const VERSION = "0.1.0";
/** The environment variable that holds the compat backend's key. */
export const COMPAT_API_KEY_ENV = "OPENAI_API_KEY";
/** The environment variable that holds the hosted backend's key. */
export const HOSTED_API_KEY_ENV = "ANTHROPIC_API_KEY";
/** The environment variables that hold keys of model servers. */
export const API_KEY_ENVS: readonly string[] = [COMPAT_API_KEY_ENV, HOSTED_API_KEY_ENV];
/** Where the servers of the backends are by default. */
export const DEFAULT_ADDRESSES: Readonly<Record<"compat" | "local" | "hosted", string>> = {
  compat: "https://api.openai.com/v1",
  local: "http://localhost:11434",
  hosted: "https://api.anthropic.com",
};
/** The local backend's default model. */
export const LOCAL_DEFAULT_MODEL = "qwen3";
/** The default of `keepAlive`: longer than most pauses between two messages. */
export const LOCAL_KEEP_ALIVE = "30m";

/** Limits on the connection, the same for every backend. Durations in milliseconds. */
export interface ConnectionSettings {
  /** How often a request that may succeed later is repeated: 4. */
  maxRetries: number;
  /** The longest until the server accepts the connection: 10 s. */
  connectTimeoutMs: number;
  /** The longest until the first piece of the answer; loading a model falls in here: 10 min. */
  firstTokenTimeoutMs: number;
  /** The longest silence within an answer: 2 min; while a call may be written that comes whole, that of the first piece. */
  idleTimeoutMs: number;
  /** Replaces the built-in `fetch`, which takes the environment's proxies but for this machine. */
  fetch?: typeof fetch;
}

/** Settings for an OpenAI-style chat-completions server. */
export interface CompatConfig extends ConnectionSettings {
  /** Sent as a bearer token (hosted: as `x-api-key`), wherever the server is; empty for one that wants none. */
  apiKey: string;
  /** The model's name, such as `qwen3:8b`. */
  model: string;
  /** The address up to and with `/v1`. `user:password@` in it goes as Basic authorization. */
  baseUrl: string;
  /**
   * The most tokens of an answer (local: 32768, hosted: 8192). Unset, it is the room that the model's window
   * leaves, or the server's own limit where no window is known.
   */
  maxTokens?: number;
  /** The most tokens of thinking, where the server takes a limit: a quarter of the room of the answer. */
  thinkBudget?: number;
  /** Sampling temperature, 0 to 2 (hosted: 0 to 1); unset leaves it to the server (local, hosted: 0.1). */
  temperature?: number;
  /** The share of the likeliest tokens that are sampled from, 0 to 1; unset leaves it to the server. */
  topP?: number;
  /** The number of the likeliest tokens that are sampled from; unset leaves it to the server. */
  topK?: number;
  /** The least probability of a token, relative to the likeliest one; servers of one's own know it. */
  minP?: number;
  /** Penalty for repetition, which servers of one's own know (native local endpoint: 1.2). */
  repeatPenalty?: number;
  /** Where the sampling settings that are not set come from: see {@linkcode Sampling}. */
  sampling?: Sampling;
  /** Tokens that the model has room for, where known: the conversation is kept within it. */
  contextLength?: number;
  /**
   * Switches a reasoning model's thinking on or off, by `chat_template_kwargs` (llama.cpp, vLLM), or says
   * how much, by `reasoning_effort` too; unset leaves it alone.
   */
  think?: Thinking;
  /**
   * Describes the tools in the system prompt and reads the calls from the answer's text: for a model
   * whose template takes no tools, and a server that drops them without a word.
   */
  textTools?: boolean;
}

/** Settings for a local, Ollama-style server (spec 2.2). */
export interface LocalConfig extends Omit<CompatConfig, "baseUrl"> {
  /** The most tokens of an answer: 32768. */
  maxTokens: number;
  /** The server's address. `user:password@` in it goes as Basic authorization. */
  host: string;
  /** Penalty for frequency on the compatible endpoint, -2 to 2: 0. */
  frequencyPenalty?: number;
  /** True for `/v1/chat/completions`, false for `/api/chat`. */
  useCompat: boolean;
  /**
   * How long the native endpoint keeps the model loaded after a request, such as `-1m` for ever:
   * `30m` where it is unset; empty leaves it to the server.
   */
  keepAlive?: string;
  /**
   * Tokens of context that the native endpoint is to give the model (`num_ctx`); unset leaves it to
   * the server, whose own default is small. Changing it makes the server load the model anew. The
   * conversation is kept within it, on the compatible endpoint too, which cannot set it.
   */
  contextLength?: number;
}

/** Settings for the hosted messages API (spec 2.1). */
export interface HostedConfig extends Omit<CompatConfig, "textTools" | "minP" | "repeatPenalty"> {
  /** The most tokens of an answer: 8192. */
  maxTokens: number;
  /** The address without `/v1`. */
  baseUrl: string;
  /** Sent as `anthropic-version`: `2023-06-01`. */
  apiVersion: string;
  /** Has the model think, with a budget beside `maxTokens`: 8192 tokens, 2048 or 24576; unset: no. */
  think?: Thinking;
}

/** Limits of an agent, whatever its backend. */
export interface AgentSettings {
  /** The most rounds of tool calls in one turn: 50. */
  maxToolRounds?: number;
  /** The most characters of one tool result: 100 000. */
  maxOutputChars?: number;
  /** The length of the system prompt and the tools' descriptions: `lean` for small models; `auto` chooses by the model. */
  promptTier?: PromptTier;
}

/** A reasoning model's thinking: on, off, or how much of it. */
export type Thinking = boolean | "low" | "medium" | "high";
/** The values of {@linkcode Thinking} beside on and off. */
export const THINK_LEVELS: readonly Thinking[] = ["low", "medium", "high"];
/**
 * Sampling settings that are not set: unset, they are the defaults here; `auto`, the temperature alone, and
 * none where the server states the model's own; `server`, none is sent. The compat backend has no defaults.
 */
export type Sampling = "auto" | "server";
/** All values of {@linkcode Sampling}. */
export const SAMPLINGS: readonly Sampling[] = ["auto", "server"];
/** The sampling settings that are sent where nobody set others (spec 2.2, 8). */
export const DEFAULT_SAMPLING = { temperature: 0.1, repeatPenalty: 1.2, frequencyPenalty: 0 };

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

/** Settings of which each may be left out, or be undefined. */
export type Some<T> = { [K in keyof T]?: T[K] | undefined };

/**
 * A complete {@linkcode CompatConfig}: `settings` over the defaults.
 * @throws {TypeError} {RangeError} when a value has the wrong type or range, is empty, or is no URL.
 */
export function compatConfig(settings: Some<CompatConfig> = {}): CompatConfig {
  return checked("compat", {
    apiKey: "",
    model: "gpt-4o",
    baseUrl: DEFAULT_ADDRESSES.compat,
    ...CONNECTION,
  }, settings);
}

/**
 * A complete {@linkcode LocalConfig}: `settings` over the defaults.
 * @throws {TypeError} {RangeError} when a value has the wrong type or range, is empty, or is no URL.
 */
export function localConfig(settings: Some<LocalConfig> = {}): LocalConfig {
  return checked("local", {
    model: LOCAL_DEFAULT_MODEL,
    host: DEFAULT_ADDRESSES.local,
    maxTokens: 32_768,
    ...sampled(settings, "temperature", "repeatPenalty", "frequencyPenalty"),
    useCompat: false,
    apiKey: "",
    ...CONNECTION,
  }, settings);
}

/**
 * A complete {@linkcode HostedConfig}: `settings` over the defaults. The default server requires a key.
 * @throws {TypeError} {RangeError} when a value has the wrong type or range, is empty, or is no URL.
 */
export function hostedConfig(settings: Some<HostedConfig> & { apiKey: string }): HostedConfig {
  const config = checked("hosted", {
    apiKey: "",
    model: "claude-sonnet-4-20250514",
    baseUrl: DEFAULT_ADDRESSES.hosted,
    maxTokens: 8192,
    ...sampled(settings, "temperature"),
    apiVersion: "2023-06-01",
    ...CONNECTION,
  }, settings);
  if (config.apiKey === "" && isDefaultServer("hosted", config.baseUrl)) {
    const only = takesEnvKey(config.baseUrl) ? "" : ", which is sent to plain https addresses only";
    const why = `it must not be empty: set ${HOSTED_API_KEY_ENV}${only}`;
    throw settingError(RangeError, "hosted", "apiKey", why);
  }
  return config;
}

/** The defaults of sampling settings, which count only where `sampling` says nothing. */
function sampled<K extends keyof typeof DEFAULT_SAMPLING>(
  { sampling }: { sampling?: Sampling | undefined },
  ...names: K[]
): Partial<Pick<typeof DEFAULT_SAMPLING, K>> {
  if (sampling !== undefined) return {};
  return Object.fromEntries(
    names.map((name) => [name, DEFAULT_SAMPLING[name]]),
  ) as Pick<typeof DEFAULT_SAMPLING, K>;
}

/** The allowed range of each number, ends included; `true` for whole numbers only. */
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
  // A timer's delay is a signed 32-bit number of milliseconds: more would fire at once.
  connectTimeoutMs: [1, 2 ** 31 - 1],
  firstTokenTimeoutMs: [1, 2 ** 31 - 1],
  idleTimeoutMs: [1, 2 ** 31 - 1],
  maxToolRounds: [1, Number.MAX_SAFE_INTEGER, true],
  maxOutputChars: [200, Number.MAX_SAFE_INTEGER, true],
};

/** An error about a value: the setting's name, such as `maxTokens`, and the end of its message. */
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

/** The types of settings that have no default. */
const OPTIONAL: Readonly<Record<string, string>> = {
  fetch: "function",
  think: "boolean",
  textTools: "boolean",
  keepAlive: "string",
  contextLength: "number",
  maxTokens: "number",
  thinkBudget: "number",
  temperature: "number",
  topP: "number",
  topK: "number",
  minP: "number",
  repeatPenalty: "number",
  frequencyPenalty: "number",
  sampling: "string",
};

/** Lays `given` over `defaults` (an `undefined` leaves the default) and checks every value. */
function checked<T extends object>(where: string, defaults: T, given: Some<T>): T {
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
  // A header value is printable ASCII: anything else would fail later inside fetch, naming no cause.
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

/** True for an address on the host of the backend's default one, which wants a key from everybody. */
export function isDefaultServer(kind: "compat" | "hosted", address: string): boolean {
  return new URL(address).hostname === new URL(DEFAULT_ADDRESSES[kind]).hostname;
}

/** True for an address at which a server of the person's own may be; services on the web are asked over https. */
export function mayBeOwnServer(address: string): boolean {
  return address.startsWith("http:");
}

/**
 * The URL without a slash or the path of an endpoint at its end; `localhost` and `host:port` are taken for
 * http. `where`: the backend.
 * @throws {TypeError} about the setting `key` when it is no URL of a server.
 */
export function checkedUrl(where: string, key: string, value: string): string {
  const text = value.trim();
  const short = /^(localhost|[\w.-]+:\d+|\[[\da-f:]+\]:\d+)(\/|$)/i.test(text);
  const url = URL.parse(short ? `http://${text}` : text);
  let wrong: string | undefined;
  if (url === null) wrong = "it must be a URL such as http://localhost:11434";
  else if (!/^https?:$/.test(url.protocol)) wrong = "it must start with http:// or https://";
  else if (url.search || url.hash) wrong = "it must have no query and no fragment";
  if (wrong !== undefined || url === null) {
    // A password may lie before an @, a key in a query.
    const shown = /[@?#]/.test(value) ? "hidden" : settingText(value);
    throw settingError(TypeError, where, key, `${wrong}: current value is ${shown}`);
  }
  const address = withoutEndpoint(url.href.replace(/\/+$/, ""));
  // People paste the address of the compatible endpoint; here the path is ours to add.
  if (where === "compat") return address;
  return address.replace(where === "local" ? /\/(?:v1|api)$/ : /\/v1$/, "");
}

/**
 * Checks that `config` names exactly one backend with good values, and fills the agent's defaults.
 * @throws {TypeError} {RangeError} when it does not.
 */
export function copilotConfig(config: CopilotConfig): CopilotConfig & Required<AgentSettings> {
  const named = [config.compat, config.local, config.hosted].filter((c) => c !== undefined);
  if (named.length !== 1) {
    throw new TypeError(
      `Cannot create an agent as exactly one of compat, local and hosted must be set: ${named.length} are`,
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

/** A value as a person would type it, short enough for an error line. */
function settingText(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** The palettes that a person may choose; `auto` takes that of the terminal's background. */
export const THEMES = ["auto", "dark", "light", "none"] as const;
export type Theme = typeof THEMES[number];
