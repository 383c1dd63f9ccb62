/**
 * The server that the settings name: what it is called, and what it is asked beside turns.
 *
 * @module
 */

import type { LocalServerOptions } from "../backends/local/connection.ts";
import type { CopilotConfig } from "../config.ts";
import { isLoopback } from "../wire/connect.ts";
import { oneLine } from "../text/one_line.ts";

/** Where the model is, for a person. */
export function serverOf({ local, hosted, compat }: CopilotConfig): string {
  return oneLine(new URL(local?.host ?? (hosted ?? compat)!.baseUrl).host);
}

/** How a server is asked what it has; not for the hosted one, which does not say. */
export function addressOf(
  { local, compat }: CopilotConfig,
): Pick<LocalServerOptions, "apiKey" | "fetch"> & { host: string } {
  const { apiKey, fetch } = (local ?? compat)!;
  return { host: local?.host ?? compat!.baseUrl.replace(/\/v1$/, ""), apiKey, fetch };
}

/** Whether the server, as one on this machine, may have another model than the default one. */
export function choosesModel({ local, compat }: CopilotConfig): boolean {
  return local !== undefined || compat !== undefined && isLoopback(compat.baseUrl);
}

/** The models that the server has. */
export async function modelNames(config: CopilotConfig): Promise<string[]> {
  if (config.hosted) throw new Error("name one with /model NAME");
  const { listLocalModels } = await import("../backends/local/connection.ts");
  return await listLocalModels(addressOf(config));
}
