/** The settings that choose a model server, and how one is started that can be chosen. @module */

import type { ListedModel } from "../backends/local/model_list.ts";
import type { FoundServer } from "../session/servers.ts";
import { oneLine } from "../text/one_line.ts";

/** A server and its model, by the names of the flags that choose them; `demo` is for one run. */
export interface ServerSettings {
  local?: true;
  hosted?: true;
  host?: string;
  "base-url"?: string;
  model?: string;
  "use-compat"?: true;
  demo?: true;
}

/** How a server is started that is found afterwards. */
export const HOW_TO_START = `  Ollama (ollama.com): ollama serve, then ollama pull qwen3:8b
  llama.cpp: llama-server -hf Qwen/Qwen3-8B-GGUF --jinja
  LM Studio (lmstudio.ai): load a model, start its server`;

/** The settings that choose a model of a server that was found. */
export function settingsOf(
  { url, isNative, models }: FoundServer,
  { name }: ListedModel,
): ServerSettings {
  if (isNative) return { local: true, host: url, model: name };
  // A server that was started with its model may have another one the next time.
  return { "base-url": `${url}/v1`, ...models.length > 1 && { model: name } };
}

/** Addresses on one machine in few words: `127.0.0.1:11434, :8080`. */
export function placesText(addresses: readonly string[]): string {
  const urls = addresses.map((address) => new URL(address));
  const isSame = (at: number) => urls[at]?.hostname === urls[at - 1]?.hostname;
  return oneLine(urls.map(({ host, port }, at) => isSame(at) ? `:${port}` : host).join(", "));
}
