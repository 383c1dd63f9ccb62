/** The model that settings lead to, in one shape for all three backends, and the way back. @module */

import {
  type CompatConfig,
  type CopilotConfig,
  type HostedConfig,
  isDefaultServer,
  type LocalConfig,
  mayBeOwnServer,
  type Sampling,
  type Thinking,
} from "./config.ts";
import type { ImageLimits } from "./types/image.ts";

export interface ModelTarget {
  /** The backend that it is asked through. */
  kind: "compat" | "local" | "hosted";
  /** The server's address as the settings have it: `baseUrl`, or `host` of a local server. */
  url: string;
  name: string;
  /** True where a person named the model, so that no other one takes its place. */
  isChosen: boolean;
  /** True where Ollama's own endpoint is asked. */
  isNative: boolean;
  /** The key that the server gets; empty for none. */
  apiKey: string;
  /** The most tokens of an answer, and of thinking, where set. */
  maxTokens: number | undefined;
  thinkBudget: number | undefined;
  /** Tokens that the model has room for, where known. */
  contextLength: number | undefined;
  /** True where tools are described in the system prompt, and calls are read from the answer's text. */
  textTools: boolean | undefined;
  fetch: typeof fetch | undefined;
}

/** The model that `config` leads to; `isChosen`: a person named it. */
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
  };
}

/** True where the target is the compatible endpoint of what may be llama.cpp's server, which says more than others. */
export function mayBeLlamaCpp({ kind, url, isNative }: ModelTarget): boolean {
  return kind !== "hosted" && !isNative && mayBeOwnServer(url);
}

/** The limits of images; the hosted API counts 5 MB in base64. */
export const IMAGE_LIMITS: Readonly<Record<ModelTarget["kind"], ImageLimits>> = {
  hosted: { maxBytes: 3_750_000, maxSide: 8000 },
  compat: { maxBytes: 20_000_000, maxSide: 16_000 },
  local: { maxBytes: 20_000_000, maxSide: 16_000 },
};

/** False for a model that by its name computes no answers. */
export const isChatName = (name: string): boolean => !/embed|rerank/i.test(name);

/** True or false where the name of a hosted model says whether it sees images; undefined for others. */
export function seesByName({ kind, url, name }: ModelTarget): boolean | undefined {
  if (kind === "hosted") return /^claude-(?!2|instant)/.test(name) || undefined;
  if (!isDefaultServer("compat", url)) return undefined;
  if (/^(gpt-3\.5|o1-mini|o3-mini)/.test(name)) return false;
  return /^(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-5|o[134])/.test(name) || undefined;
}

/** Replacements for {@linkcode withModel}: fields that are left out stay, `undefined` removes one. */
interface ModelChange {
  model?: string;
  maxTokens?: number;
  contextLength?: number | undefined;
  /** The hosted backend has no such setting: it takes tools with every model. */
  textTools?: boolean | undefined;
  think?: Thinking | undefined;
  sampling?: Sampling;
  thinkBudget?: number | undefined;
  /** A setting of the local backend alone. */
  useCompat?: boolean;
}

/** `config` with the settings of its backend, whichever that is, replaced by those of `change`. */
export function withModel<Config extends CopilotConfig>(
  config: Config,
  change: ModelChange,
): Config {
  const { kind } = targetOf(config);
  return { ...config, [kind]: { ...config[kind], ...change } };
}
