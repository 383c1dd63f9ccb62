/** The settings that select a model server, and how it is started. @module */

import type { ListedModel } from "../models/ollama/model_list.ts";
import type { FoundServer } from "../models/servers.ts";
import { oneLine } from "../text/one_line.ts";

/** A server and its model, keyed by flag. `demo` lasts for one run. */
export interface ServerSettings {
  local?: true;
  hosted?: true;
  host?: string;
  "base-url"?: string;
  model?: string;
  demo?: true;
}

export const HOW_TO_START = `  Ollama (ollama.com): ollama serve, then ollama pull qwen3:8b
  llama.cpp: llama-server -hf Qwen/Qwen3-8B-GGUF --jinja
  LM Studio (lmstudio.ai): load a model, start its server`;

export function settingsOf(
  { url, isNative, models }: FoundServer,
  { name }: ListedModel,
): ServerSettings {
  if (isNative) return { local: true, host: url, model: name };
  // A server that was started for one model may have another one next time.
  return { "base-url": `${url}/v1`, ...models.length > 1 && { model: name } };
}

/** Returns the argument of `/model` that selects a server. A name with a space cannot follow a flag. */
export function modelArgument(settings: ServerSettings): string {
  const { model = "" } = settings;
  if (/\s/.test(model)) return `${settings["base-url"] ?? settings.host}#${model}`;
  return Object.entries(settings)
    .map(([flag, value]) => value === true ? `--${flag}` : `--${flag} ${value}`).join(" ");
}

/** Shortens addresses on one machine: `127.0.0.1:11434, :8080`. */
export function placesText(addresses: readonly string[]): string {
  const urls = addresses.map((address) => new URL(address));
  const isSame = (at: number) => urls[at]?.hostname === urls[at - 1]?.hostname;
  return oneLine(urls.map(({ host, port }, at) => isSame(at) ? `:${port}` : host).join(", "));
}
