/** The local backend: a server on the user's machine, by its native or compatible endpoint. @module */

import { type LocalConfig, localConfig } from "../../config.ts";
import { BackendError } from "../../errors.ts";
import type { Message } from "../../types/message.ts";
import type { Tool } from "../../types/tool.ts";
import { excerpt } from "../../wire/excerpt.ts";
import {
  type Adjustment,
  exchange,
  NO_SYSTEM_ROLE,
  type Protocol,
  SCHEMA_IN_WORDS,
  TEXT_TOOLS,
} from "../adjust.ts";
import type { Backend, CallOptions } from "../backend.ts";
import { chatCompletions } from "../openai/mod.ts";
import type { Fields } from "../fields.ts";
import { configuredBackend } from "../reply.ts";
import { keyHeader } from "../wire_values.ts";
import { listLocalModels, onFailure } from "./connection.ts";
import { defaultOf, withDefaultTemperature } from "../sampling.ts";
import { localBody } from "./request.ts";
import { localParts } from "./response.ts";
import { LocalReader } from "./stream.ts";

/**
 * Sends `messages` to `{host}/api/chat` (with `useCompat` to `{host}/v1/chat/completions`) and returns the raw
 * response, folded if it is streamed. For a model without tool support, the system prompt describes the tools,
 * and the calls are in the answer's text. This and a refused `think` are remembered for this `config` and
 * reported to `onNotice`.
 *
 * @param config Missing settings have their defaults.
 * @throws like {@linkcode callCompat}; for an unknown model, the error lists the installed ones.
 */
export async function callLocal(
  config: LocalConfig,
  messages: readonly Message[],
  tools: readonly Tool[] = [],
  options: CallOptions = {},
): Promise<Fields> {
  const settings = localConfig(config);
  const protocol = settings.useCompat
    ? chatCompletions({
      ...withDefaultTemperature(settings),
      baseUrl: `${settings.host}/v1`,
      frequencyPenalty: settings.frequencyPenalty ?? defaultOf(settings, "frequencyPenalty"),
    })
    : nativeChat(settings);
  try {
    return await exchange(config, settings, protocol, messages, tools, options);
  } catch (error) {
    if (!(error instanceof BackendError) || error.kind !== "model_not_found") throw error;
    throw await withInstalledModels(error, settings, options);
  }
}

export function localBackend(config: LocalConfig): Backend {
  return configuredBackend(config, callLocal, localParts);
}

const LOCAL_ADJUSTMENTS: readonly Adjustment[] = [
  NO_SYSTEM_ROLE,
  TEXT_TOOLS,
  {
    name: "think",
    refusal: /does not support thinking|think value .* not supported/i,
    instead: "from now on, the model decides about thinking",
  },
  { name: "format", refusal: /\bformat\b|json.schema/i, ...SCHEMA_IN_WORDS },
];

function nativeChat(config: LocalConfig): Protocol {
  return {
    url: `${config.host}/api/chat`,
    headers: keyHeader(config),
    adjustments: LOCAL_ADJUSTMENTS,
    streamsCalls: false,
    body: localBody.bind(null, config),
    reader: (_contentType, stream, onDelta) => new LocalReader(stream ? onDelta : undefined),
  };
}

async function withInstalledModels(
  error: BackendError,
  config: LocalConfig,
  { fetch = config.fetch, signal }: CallOptions,
): Promise<BackendError> {
  const { host, apiKey, headers, model } = config;
  // Without the list, the error is still correct.
  const names = await listLocalModels({ host, apiKey, headers, fetch, signal })
    .catch(onFailure(() => undefined));
  const list = names?.length
    ? `installed are ${excerpt(names.join(", "))}`
    : "no model is installed";
  const installed = names ? `; ${list}` : "";
  const { origin } = new URL(host);
  const message = `The server at ${origin} has no model "${model}"${installed}`;
  return new BackendError(message, { ...error, models: names, cause: error });
}
