/** The server that the settings name: what it is called, and what it is asked beside turns. @module */

import type { LocalServerOptions } from "../backends/local/connection.ts";
import type { CopilotConfig } from "../config.ts";
import { type ModelTarget, targetOf } from "../model_target.ts";
import { oneLine } from "../text/one_line.ts";
import { isLoopback } from "../wire/connect.ts";

/** The host of the model's server, for a person. */
export function serverOf(config: CopilotConfig): string {
  return oneLine(new URL(targetOf(config).url).host);
}

/** The address to ask a server about its models; the hosted one does not say. */
export function addressOf(
  { url, apiKey, fetch }: ModelTarget,
): Pick<LocalServerOptions, "apiKey" | "fetch"> & { host: string } {
  return { host: url.replace(/\/v1$/, ""), apiKey, fetch };
}

/** True where the server may have another model than the default one, as those on this machine do. */
export function choosesModel(config: CopilotConfig): boolean {
  const { kind, url } = targetOf(config);
  return kind === "local" || kind === "compat" && isLoopback(url);
}

export async function modelNames(config: CopilotConfig): Promise<string[]> {
  const target = targetOf(config);
  if (target.kind === "hosted") throw new Error("name one with /model NAME");
  const { listLocalModels } = await import("../backends/local/connection.ts");
  return await listLocalModels(addressOf(target));
}
