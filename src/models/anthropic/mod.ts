/** The hosted backend: Anthropic's messages API, and servers that support it. @module */

import { type HostedConfig, hostedConfig, isDefaultServer } from "../../config.ts";
import type { Message } from "../../types/message.ts";
import type { Tool } from "../../types/tool.ts";
import {
  type Adjustment,
  exchange,
  OWN_TEMPERATURE,
  SCHEMA_IN_WORDS,
  TEXT_TOOLS,
  unsupported,
} from "../adjust.ts";
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
  // Claude 4.7 and later.
  {
    name: "enabled",
    refusal: /thinking\.type\.adaptive/,
    instead: "from now on, the model decides how long it thinks",
  },
  // Claude 5.1 and later: its thoughts belong to the model, and to the messages before them.
  {
    name: "thoughts",
    refusal: /invalid `?signature`? in `?thinking/i,
    instead: "from now on, thoughts are not sent back",
  },
  { name: "tool_choice", refusal: /tool_choice|forced tool/i, ...SCHEMA_IN_WORDS },
  unsupported("thinking", "from now on, thinking is not asked for"),
  TEXT_TOOLS,
  OWN_TEMPERATURE,
  ...["top_p", "top_k"].map((name) => unsupported(name, `from now on, ${name} is not sent`)),
  unsupported("cache_control", "from now on, the end of the conversation is not cached"),
  unsupported("cache_control", "from now on, nothing is cached", "system.cache_control"),
];
