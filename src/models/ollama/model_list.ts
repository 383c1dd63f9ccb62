/** The models of a server with their descriptions. The server's answers are not trusted. @module */

import { isChatName } from "../target.ts";
import { type Fields, wholeNumber } from "../fields.ts";
import {
  entriesAt,
  isSameModel,
  listLocalModels,
  type LocalModelInfo,
  localModelInfo,
  type LocalServerOptions,
  ollamaDetails,
} from "./connection.ts";
import { loadState, runningModels, servedInfo } from "./served_model.ts";

/** A model as its server describes it. `abilities` may include `tools` and `vision`. */
export interface ListedModel extends LocalModelInfo {
  name: string;
  /** The program of the server, if its list shows it, such as `llama.cpp`. */
  server?: string;
  /** Missing if the server does not say. */
  isLoaded?: boolean;
}

/** The maximum number of models for which Ollama is queried one by one. */
const MAX_ASKED = 60;

/**
 * Returns the models that answer messages. `isNative`: the server has Ollama's own paths. `asksEach`: queries
 * Ollama for each model; without it, only GET requests for lists are sent.
 *
 * @throws {BackendError} if the server lists no models.
 */
export async function listModels(
  isNative: boolean,
  options: LocalServerOptions,
  asksEach: boolean,
): Promise<ListedModel[]> {
  const models = isNative ? await ollamaModels(options, asksEach) : await servedModels(options);
  return models.filter(isChatModel);
}

async function ollamaModels(
  options: LocalServerOptions,
  asksEach: boolean,
): Promise<ListedModel[]> {
  const [names, tags, running] = await Promise.all([
    listLocalModels(options),
    entriesAt("/api/tags", "models", options),
    entriesAt("/api/ps", "models", options),
  ]);
  const tagsByName = new Map(tags.map((one) => [one.name, one]));
  return await Promise.all(
    names.filter(isName).map(async (name, at) => {
      const facts = asksEach && at < MAX_ASKED ? await localModelInfo(name, options) : {};
      const details = tagsByName.get(name)?.details;
      const loaded = running.find((one) => isSameModel(String(one.name), name));
      const contextLength = wholeNumber(loaded?.context_length);
      return {
        name,
        ...ollamaDetails(details),
        ...contextLength !== undefined && { contextLength },
        ...facts,
        isLoaded: loaded !== undefined,
      };
    }),
  );
}

/** The names of servers, by what they write as the owner of their models. */
const SERVERS = new Map([
  ["llamacpp", "llama.cpp"],
  ["llama-swap", "llama-swap"],
  ["vllm", "vLLM"],
  ["sglang", "SGLang"],
]);

async function servedModels(options: LocalServerOptions): Promise<ListedModel[]> {
  const [names, served, studio] = await Promise.all([
    listLocalModels(options),
    entriesAt("/v1/models", "data", options),
    // LM Studio's own list has more details.
    entriesAt("/api/v0/models", "data", options),
  ]);
  const isSwap = served.some((one) => one.owned_by === "llama-swap" && one.status === undefined);
  const running = isSwap ? await runningModels(options) : undefined;
  const servedById = new Map(served.map((one) => [one.id, one]));
  const studioById = new Map(studio.map((one) => [one.id, one]));
  return names.filter(isName).map((name) => {
    const entry: Fields = { ...servedById.get(name), ...studioById.get(name) };
    const state = loadState(entry) ?? entry.state;
    const abilities = abilitiesOf(entry);
    const server = studio.length > 0 ? "LM Studio" : SERVERS.get(String(entry.owned_by));
    return {
      name,
      ...server !== undefined && { server },
      ...servedInfo(entry),
      ...abilities && { abilities },
      ...typeof state === "string" && { isLoaded: state === "loaded" },
      ...running && { isLoaded: running.has(name) },
    };
  });
}

/** Converts the abilities of llama.cpp and LM Studio to Ollama's words. */
function abilitiesOf({ type, capabilities }: Fields): string[] | undefined {
  if (type === "embeddings") return ["embedding"];
  const words: Record<string, string> = { tool_use: "tools", multimodal: "vision" };
  const found = Array.isArray(capabilities) ? capabilities.map(String) : [];
  const abilities = [...found.map((one) => words[one] ?? one), ...type === "vlm" ? ["vision"] : []];
  return abilities.length > 0 ? ["completion", ...abilities] : undefined;
}

/** True for a name that fits a command line and a row: printable, not a flag. */
function isName(name: string): boolean {
  return /^[^\s\p{C}-][^\p{C}]*$/u.test(name);
}

function isChatModel({ name, abilities }: ListedModel): boolean {
  if (abilities !== undefined && abilities.length > 0) return abilities.includes("completion");
  return isChatName(name);
}
