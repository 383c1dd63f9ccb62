import {
  type AgentSettings,
  checkedUrl,
  compatConfig,
  type CopilotConfig,
  DEFAULT_ADDRESSES,
  hostedConfig,
  isDefaultServer,
  isSettingError,
  type LocalConfig,
  localConfig,
  type Optional,
} from "../config.ts";
import { takesEnvKey } from "../server_address.ts";
import { UsageError } from "../errors.ts";
import type { Permissions } from "../safety/permissions.ts";
import type { SessionOptions } from "../session/extension.ts";
import type { ModelFlags } from "../session/extension.ts";
import { allExtensions } from "../extensions/extensions.ts";
import { ChecksExtension } from "../extensions/checks/checks_extension.ts";
import { WebExtension } from "../extensions/web/web_extension.ts";
import type { CheckLimits } from "../extensions/until/check.ts";
import { DEFAULT_LIMITS, UntilExtension } from "../extensions/until/until_extension.ts";
import type { McpDefinition } from "../extensions/mcp/definition.ts";
import { type ModelTarget, targetOf } from "../models/target.ts";
import type { VariableReader } from "../user_files.ts";
import { FLAGS_OF_SERVER, headersFor, modelDefaults, SERVER_FLAGS, specFlags } from "./defaults.ts";
import { type Env, hostIn, KEY_VARIABLES, keyFor, unsentKey, variableIn } from "./keys.ts";
import {
  type Args,
  asUsage,
  type Flag,
  flagOfSetting,
  FLAGS,
  parseArgs,
  takesNumber,
  wholeFlag,
} from "./args.ts";

/** Options of {@linkcode copilot} (spec 4.1). */
export interface CopilotOptions {
  /**
   * The key. By default the key of the user's `config.json` for the address, then the environment variable
   * `OPENAI_API_KEY`, or `ANTHROPIC_API_KEY` with `hosted`: these are sent to https addresses only.
   */
  apiKey?: string | undefined;
  /** The model: `gpt-4o`, with `local` `qwen3`, with `hosted` `claude-sonnet-4-20250514`. */
  model?: string | undefined;
  /**
   * The compat (or hosted) server's address: the environment variable `OPENAI_BASE_URL`, with `hosted`
   * `ANTHROPIC_BASE_URL`, else `https://api.openai.com/v1`, with `hosted` `https://api.anthropic.com`.
   */
  baseUrl?: string | undefined;
  /** Use the local backend: false. */
  local?: boolean | undefined;
  /** Use the hosted backend: false. */
  hosted?: boolean | undefined;
  /** The local server's address: `http://localhost:11434`. */
  host?: string | undefined;
  /** The local backend uses the server's compatible endpoint: false. */
  useCompat?: boolean | undefined;
  /** The folder to work in: the current one. */
  workingDir?: string | undefined;
}

/** Settings of the command line in addition to {@linkcode CopilotOptions}. */
type ExtraSettings = Optional<
  Omit<LocalConfig, keyof CopilotOptions> & Pick<AgentSettings, "promptTier" | "maxToolRounds">
>;

/**
 * Returns the agent's settings for `options`. Keys come from `env` if no key is given. With `isInSession`, errors
 * name what a running session can do.
 * @throws {UsageError} if options contradict each other or a key is missing.
 * @throws {TypeError} {RangeError} if a value is invalid.
 */
export function toConfig(
  options: CopilotOptions & ExtraSettings,
  env: Env = Deno.env,
  isInSession = false,
): CopilotConfig {
  const {
    local,
    hosted,
    host,
    useCompat,
    workingDir: _,
    keepAlive,
    promptTier,
    maxToolRounds,
    ...rest
  } = options;
  const { apiKey, baseUrl, ...common } = rest;
  const tier = {
    ...promptTier && { promptTier },
    ...maxToolRounds !== undefined && { maxToolRounds },
  };
  const isOfOwn = (common.minP ?? common.repeatPenalty) !== undefined;
  const faults: [boolean | undefined, string][] = [
    [local && hosted, "--local and --hosted exclude each other: give one"],
    [local && baseUrl !== undefined, "--local takes --host, not --base-url"],
    [!local && host !== undefined, "--host needs --local (or use --base-url)"],
    [!local && useCompat, "--use-compat needs --local"],
    [hosted && isOfOwn, "--min-p and --repeat-penalty need a server of your own, not --hosted"],
    [hosted && common.textTools, "--text-tools needs a server of your own, not --hosted"],
    [!local && keepAlive !== undefined, "--keep-alive needs --local"],
    [apiKey === "", "--api-key is empty: give the key, or leave the flag out"],
  ];
  const fault = faults.find(([isFault]) => isFault);
  if (fault) throw new UsageError(fault[1]);
  const kind = local ? "local" : hosted ? "hosted" : "compat";
  const address = (local ? host : baseUrl) ?? addressIn(env, kind);
  const at = checkedUrl(kind, local ? "host" : "baseUrl", address ?? DEFAULT_ADDRESSES[kind]);
  const { sampling = hosted ? undefined : "auto" } = common;
  const key = apiKey ?? keyFor(kind, at, env);
  const settings = { ...common, sampling, apiKey: key, headers: headersFor(at, env) };
  if (kind === "local") {
    return { ...tier, local: localConfig({ ...settings, host: address, useCompat, keepAlive }) };
  }
  // A private server often needs no key; these two always do.
  if (settings.apiKey === "" && takesEnvKey(at) && isDefaultServer(kind, at)) {
    if (isInSession) {
      throw new UsageError(`No API key: put it under "keys" in config.json. ${OWN_MODEL}`);
    }
    if (kind === "compat" && address === undefined) throw new NoServerError();
    throw new UsageError(noKeyText(KEY_VARIABLES[kind]));
  }
  const config = { ...settings, baseUrl: address };
  return hosted
    ? { ...tier, hosted: hostedConfig(config) }
    : { ...tier, compat: compatConfig(config) };
}

export class NoServerError extends UsageError {
  constructor() {
    super(noKeyText(KEY_VARIABLES.compat));
  }
}

const OWN_MODEL = "For a model of your own use --local or --base-url";

function noKeyText(variable: string): string {
  return `No API key: set ${variable}, or pass --api-key. ${OWN_MODEL}; --demo needs none`;
}

/** True if no server is configured, and there is no key for the default one. @throws {UsageError} */
export function isServerOpen(args: Args, env: Env = Deno.env): boolean {
  return !args.demo && FLAGS_OF_SERVER.every((name) => args[name] === undefined) &&
    addressIn(env, "compat") === undefined &&
    keyFor("compat", DEFAULT_ADDRESSES.compat, env) === "";
}

function addressIn(env: Env, kind: ModelTarget["kind"]): string | undefined {
  if (kind === "local") return hostIn(env);
  const name = kind === "hosted" ? "ANTHROPIC_BASE_URL" : "OPENAI_BASE_URL";
  const address = variableIn(env, name);
  if (address === "") return undefined;
  try {
    return checkedUrl(kind, "baseUrl", address);
  } catch (error) {
    throw isSettingError(error) ? new UsageError(`Cannot use ${name} as ${error.why}`) : error;
  }
}

/** The settings that a flag sets, whose name {@linkcode flagOfSetting} returns. */
const FLAG_SETTINGS =
  "apiKey model baseUrl local hosted host useCompat workingDir maxTokens thinkBudget contextLength temperature topP topK minP repeatPenalty sampling think keepAlive textTools maxToolRounds promptTier connectTimeoutMs firstTokenTimeoutMs idleTimeoutMs"
    .split(" ");

/** True for a setting of config.json that the server does not take: it is for others. */
function isForOthers({ given, local, hosted }: Args, name: string): boolean {
  if (!given || Object.hasOwn(given, name)) return false;
  return !local && name === "keep-alive" ||
    hosted === true && /^(min-p|repeat-penalty|text-tools)$/.test(name);
}

export function optionsFromArgs(args: Args): CopilotOptions & ExtraSettings {
  const values: Readonly<Record<string, unknown>> = args;
  return Object.fromEntries(FLAG_SETTINGS.map((name) => {
    const flag: Flag = FLAGS.find((one) => one.name === flagOfSetting(name))!;
    const value = isForOthers(args, flag.name) ? undefined : values[flag.name];
    if (name === "think") return [name, value === "on" || value !== "off" && value];
    if (value === undefined || !takesNumber(flag)) return [name, value];
    return [name, Number(value) * (flag.value === "SECONDS" ? 1000 : 1)];
  }));
}

export function checkLimitsOf(args: Args): CheckLimits {
  if (args.until?.trim() === "") throw new UsageError("--until is empty: give the command to run");
  const flags = (["rounds", "until-timeout", "until-may-edit"] as const).filter((name) =>
    args[name]
  );
  if (args.until !== undefined && args.print !== undefined && args.approve === "plan") {
    throw new UsageError("--until and --approve plan exclude each other: a plan changes nothing");
  }
  if (args.until === undefined && flags.length > 0) {
    throw new UsageError(`--${flags[0]} needs --until`);
  }
  const { rounds, seconds } = DEFAULT_LIMITS;
  return {
    rounds: wholeFlag("rounds", args.rounds ?? `${rounds}`, 1, 100),
    seconds: wholeFlag("until-timeout", args["until-timeout"] ?? `${seconds}`, 1, 86_400),
    mayEdit: args["until-may-edit"] === true,
  };
}

/** The flags of `/model`: those that choose a model, and how it is called. */
const namesOfModelFlags = (): string[] =>
  FLAG_SETTINGS.map(flagOfSetting).filter((name) => name !== "working-dir");

/** The flags for a session. The key is not offered, because typed text is stored. */
export const modelFlags: ModelFlags = {
  get names() {
    return namesOfModelFlags().filter((name) => name !== "api-key").map((name) => `--${name}`);
  },
  parse(words, current) {
    const args = parseArgs(words);
    if (args.message !== undefined) throw new UsageError("/model takes a name, or only flags");
    const known = namesOfModelFlags();
    const other = Object.keys(args).find((name) => !known.includes(name));
    if (other !== undefined) throw new UsageError(`/model does not take --${other}`);
    const config = asUsage(() => configWith(args, current));
    const isSame = SERVER_FLAGS.every((name) => args[name] === undefined);
    return { config, isChosen: isSame || args.model !== undefined, notice: unsentKey(config) };
  },
  at(spec, config, env = ownEnv) {
    const args = specFlags(spec);
    const kind = args.hosted ? "hosted" : "compat";
    const usual = addressIn({ get: env }, kind) ?? DEFAULT_ADDRESSES[kind];
    // A variable's key is for one server. Another one gets the key that config.json has for its address.
    const isUsual = checkedUrl(kind, "baseUrl", args["base-url"] ?? usual) === usual;
    return configWith(args, config, isUsual ? env : withoutKeys(env));
  },
  async find(signal, chose) {
    return await (await import("./setup.ts")).setupHome().find(FIND_MS, signal, chose);
  },
};

const FIND_MS = 1000;

const ownEnv: VariableReader = (name) => Deno.env.get(name);
const withoutKeys = (env: VariableReader): VariableReader => (name) =>
  Object.values<string | undefined>(KEY_VARIABLES).includes(name) ? undefined : env(name);

/** Returns `current` with what flags name: another server, or another model or settings of the same one. */
function configWith(args: Args, current: CopilotConfig, env = ownEnv): CopilotConfig {
  const { kind, name, url, apiKey } = targetOf(current);
  const { forModel, all } = modelDefaults(args.model ?? name, env);
  if (SERVER_FLAGS.some((flag) => args[flag] !== undefined)) {
    const found = toConfig(optionsFromArgs({ ...forModel, ...args }), { get: env }, true);
    const other = targetOf(found);
    if (args.model === undefined || other.kind !== kind || other.url !== url) return found;
  }
  const given = (args: Args) =>
    Object.entries(optionsFromArgs(args)).filter(([, value]) => value !== undefined);
  const { promptTier, maxToolRounds } = current;
  const options: Record<string, unknown> = { ...current[kind], promptTier, maxToolRounds };
  const usual = { sampling: "auto", promptTier: "auto", ...Object.fromEntries(given(all)) };
  // The settings of the previous model no longer apply, unless the user has changed them.
  for (const [key, value] of args.model ? given(modelDefaults(name, env).forModel) : []) {
    if (options[key] === value) options[key] = usual[key as keyof typeof usual];
  }
  const server = {
    local: kind === "local",
    hosted: kind === "hosted",
    apiKey: apiKey || undefined,
  };
  const changes = Object.fromEntries(given(args.model ? { ...forModel, ...args } : args));
  const get = withoutKeys(env);
  return {
    ...current,
    ...toConfig({ ...options, ...server, ...changes }, { get }, true),
  } as CopilotConfig;
}

export function sessionOptions(
  config: CopilotConfig,
  options: CopilotOptions,
  args: Args,
  permissions: Permissions,
  servers: readonly McpDefinition[] = [],
): SessionOptions {
  return {
    config,
    isChosen: options.model !== undefined,
    notice: unsentKey(config),
    folder: options.workingDir,
    permissions,
    trust: args.trust,
    readsFolder: !args.demo,
    isRecorded: !args["no-session"] && !args.demo,
    resumesNewest: args.continue === true,
    ...args.resumes && { resumes: args.resumes },
    systemPrompt: args["system-prompt"],
    appendedPrompt: args["append-system-prompt"],
    keepsMode: args.approve === undefined && !args.yes,
    canUndo: true,
    extensions: allExtensions(
      servers,
      undefined,
      new UntilExtension(args.until, checkLimitsOf(args)),
      new ChecksExtension(args.checks),
      new WebExtension(args.search),
    ),
    modelFlags,
    ...args.roles && !args.demo && { roles: args.roles },
    ...args.demo && { demoUrl: targetOf(config).url },
    asksAtStart: !args.demo,
  };
}
