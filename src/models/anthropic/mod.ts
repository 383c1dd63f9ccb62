/** The hosted backend: Anthropic's messages API, and servers that support it. @module */

import { type HostedConfig, hostedConfig, isDefaultServer } from "../../config.ts";
import type { Message } from "../../types/message.ts";
import type { Tool } from "../../types/tool.ts";
import { type Adjustment, exchange, OWN_TEMPERATURE, TEXT_TOOLS, unsupported } from "../adjust.ts";
import type { Backend, CallOptions } from "../backend.ts";
import type { Fields } from "../fields.ts";
import { configuredBackend } from "../reply.ts";
import { hostedBody } from "./request.ts";
import { hostedParts } from "./response.ts";
import { hostedReader } from "./stream.ts";

/**
 * Sends `messages` to `{baseUrl}/v1/messages` and returns the raw response, folded if it is streamed. If the
 * input of a call is not a JSON object, it is the model's text. Parameters that a server refuses by name
 * (`temperature`, `cache_control`) are dropped, once, which is remembered for this `config`.
 *
 * @param config Missing settings have their defaults.
 * @throws like {@linkcode callCompat}.
 */
export async function callHosted(
  config: HostedConfig,
  messages: readonly Message[],
  tools: readonly Tool[] = [],
  options: CallOptions = {},
): Promise<Fields> {
  const settings = hostedConfig(config);
  const protocol = {
    url: `${settings.baseUrl}/v1/messages`,
    headers: hostedHeaders(settings),
    adjustments: HOSTED_ADJUSTMENTS,
    streamsCalls: isDefaultServer("hosted", settings.baseUrl),
    body: hostedBody.bind(null, settings),
    reader: hostedReader,
  };
  return await exchange(config, settings, protocol, messages, tools, options);
}

export function hostedHeaders({ apiKey, apiVersion }: HostedConfig): Record<string, string> {
  return { ...(apiKey !== "" && { "x-api-key": apiKey }), "anthropic-version": apiVersion };
}

export function hostedBackend(config: HostedConfig): Backend {
  return configuredBackend(config, callHosted, hostedParts, true);
}

const HOSTED_ADJUSTMENTS: readonly Adjustment[] = [
  unsupported("thinking", "from now on, the model does not think"),
  TEXT_TOOLS,
  OWN_TEMPERATURE,
  unsupported("cache_control", "from now on, the end of the conversation is not cached"),
  unsupported("cache_control", "from now on, nothing is cached", "system.cache_control"),
];
