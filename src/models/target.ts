/** The selected model in one shape for all three backends, and changes to its settings. @module */

import {
  type CompatConfig,
  type CopilotConfig,
  type HostedConfig,
  isDefaultServer,
  type LocalConfig,
  mayBeOwnServer,
  type Optional,
} from "../config.ts";
import type { ImageLimits } from "../types/image.ts";

export interface ModelTarget {
  kind: "compat" | "local" | "hosted";
  /** The server's address from the settings: `baseUrl`, or `host` of a local server. */
  url: string;
  name: string;
  /** True if the user named the model, so that no other one may replace it. */
  isChosen: boolean;
  /** True for Ollama's native endpoint. */
  isNative: boolean;
  /** The key for the server; empty without one. */
  apiKey: string;
  /** The maximum tokens of an answer, and of thinking, if set. */
  maxTokens: number | undefined;
  thinkBudget: number | undefined;
  /** The size of the model's window in tokens, if known. */
  contextLength: number | undefined;
  /** True if the system prompt describes the tools, and calls are read from the answer's text. */
  textTools: boolean | undefined;
  fetch: typeof fetch | undefined;
  headers: Readonly<Record<string, string>> | undefined;
}

/** Returns the model in `config`. `isChosen`: the user named it. */
export function targetOf(config: CopilotConfig, isChosen = true): ModelTarget {
  const { local, hosted, compat } = config;
  const settings: LocalConfig | HostedConfig | CompatConfig = local ?? hosted ?? compat!;
  return {
    kind: local ? "local" : hosted ? "hosted" : "compat",
    url: "host" in settings ? settings.host : settings.baseUrl,
    name: settings.model,
    isChosen,
    isNative: local !== undefined && !local.useCompat,
    apiKey: settings.apiKey,
    maxTokens: settings.maxTokens,
    thinkBudget: settings.thinkBudget,
    contextLength: settings.contextLength,
    textTools: (local ?? compat)?.textTools,
    fetch: settings.fetch,
    headers: settings.headers,
  };
}

/** True if the target may be llama.cpp's compatible endpoint, which reports more than others. */
export function mayBeLlamaCpp({ kind, url, isNative }: ModelTarget): boolean {
  return kind !== "hosted" && !isNative && mayBeOwnServer(url);
}

/** The limits of images. The hosted API counts 5 MB in base64. */
export const IMAGE_LIMITS: Readonly<Record<ModelTarget["kind"], ImageLimits>> = {
  hosted: { maxBytes: 3_750_000, maxSide: 8000 },
  compat: { maxBytes: 20_000_000, maxSide: 16_000 },
  local: { maxBytes: 20_000_000, maxSide: 16_000 },
};

/** False for a model whose name shows that it does not generate text. */
export const isChatName = (name: string): boolean => !/embed|rerank/i.test(name);

/** Returns whether a hosted model supports images if its name shows that; undefined for others. */
export function seesByName({ kind, url, name }: ModelTarget): boolean | undefined {
  if (kind === "hosted") return /^claude-(?!2|instant)/.test(name) || undefined;
  if (!isDefaultServer("compat", url)) return undefined;
  if (/^(gpt-3\.5|o1-mini|o3-mini)/.test(name)) return false;
  return /^(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-5|o[134])/.test(name) || undefined;
}

/** Replacements for {@linkcode withModel}. Missing fields stay, and `undefined` removes one. */
type ModelChange = Optional<
  & Pick<CompatConfig, "model" | "maxTokens" | "contextLength" | "textTools" | "think">
  & Pick<LocalConfig, "sampling" | "thinkBudget" | "useCompat">
>;

/** Returns `config` with the settings of its backend replaced by those of `change`. */
export function withModel<Config extends CopilotConfig>(
  config: Config,
  change: ModelChange,
): Config {
  const { kind } = targetOf(config);
  return { ...config, [kind]: { ...config[kind], ...change } };
}
