/** The configured model server: its name, and requests outside of turns. @module */

import { hostedHeaders } from "./anthropic/mod.ts";
import { entriesAt, listLocalModels, type LocalServerOptions } from "./ollama/connection.ts";
import type { ListedModel } from "./ollama/model_list.ts";
import type { CopilotConfig } from "../config.ts";
import { type ModelTarget, targetOf } from "./target.ts";
import { oneLine } from "../text/one_line.ts";
import { isLoopback } from "../wire/connect.ts";

export function serverOf(config: CopilotConfig): string {
  return oneLine(new URL(targetOf(config).url).host);
}

/** Returns the name of `SERVER#MODEL` for users, such as `qwen3:8b at gpu:8080`, without a password. */
export function specName(spec: string): string {
  const [model, server] = spec.split("#").toReversed();
  return oneLine(server === undefined ? spec : `${model} at ${URL.parse(server)?.host ?? server}`);
}

export function addressOf(
  { url, apiKey, fetch, headers }: ModelTarget,
): Pick<LocalServerOptions, "apiKey" | "fetch" | "headers"> & { host: string } {
  return { host: url, apiKey, fetch, headers };
}

/** True if the server may have another model than the default one, as local servers do. */
export function choosesModel(config: CopilotConfig): boolean {
  const { kind, url } = targetOf(config);
  return kind === "local" || kind === "compat" && isLoopback(url);
}

export async function modelNames(config: CopilotConfig): Promise<string[]> {
  const { hosted } = config;
  if (!hosted) return await listLocalModels(addressOf(targetOf(config)));
  const headers = { ...hostedHeaders(hosted), ...hosted.headers };
  const at = { host: hosted.baseUrl, fetch: hosted.fetch, headers };
  const listed = await entriesAt("/v1/models?limit=1000", "data", at);
  if (listed.length === 0) throw new Error("choose one with /model NAME");
  return listed.map(({ id }) => String(id));
}

/** Describes a model in columns, which may be empty: its size, its context, its abilities, and if it is loaded. */
export function modelColumns(
  { size, quantization, contextLength, abilities = [], isLoaded }: ListedModel,
): string[] {
  return [
    [size, quantization].filter((one) => one !== undefined).join(" "),
    contextLength === undefined ? "" : `${Math.round(contextLength / 1024)}k context`,
    ["tools", "vision"].filter((ability) => abilities.includes(ability)).join(" · "),
    isLoaded === true ? "loaded" : "",
  ].map(oneLine);
}

/** Describes a model, such as `8.2B Q4_K_M · 40k context · tools · loaded`. */
export const modelFacts = (model: ListedModel): string =>
  modelColumns(model).filter(Boolean).join(" · ");
