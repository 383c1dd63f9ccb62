/** The compat backend: any server that supports OpenAI's chat completions. @module */

import { type CompatConfig, compatConfig, isDefaultServer } from "../../config.ts";
import { BackendError } from "../../errors.ts";
import type { Message } from "../../types/message.ts";
import type { Tool } from "../../types/tool.ts";
import {
  type Adjustment,
  exchange,
  NO_SYSTEM_ROLE,
  OWN_TEMPERATURE,
  type Protocol,
  SCHEMA_IN_WORDS,
  TEXT_TOOLS,
  unsupported,
} from "../adjust.ts";
import type { Backend, CallOptions } from "../backend.ts";
import type { Fields } from "../fields.ts";
import { configuredBackend } from "../reply.ts";
import { keyHeader } from "../wire_values.ts";
import { compatBody, THINK_BUDGET } from "./request.ts";
import { compatParts } from "./response.ts";
import { compatReader } from "./stream.ts";

/**
 * Sends `messages` to `{baseUrl}/chat/completions` and returns the raw chat completion, folded if it is streamed.
 *
 * If a server refuses a parameter by name, such as `max_tokens`, `stream` or `tools`, it is sent in another form
 * or dropped. This happens once, is remembered for this `config`, and is reported to `onNotice`. Without `tools`,
 * the system prompt describes them, and the calls are in the answer's text.
 *
 * @param config Missing settings have their defaults.
 * @throws {BackendError} if the server cannot be reached, refuses, or its answer breaks off.
 * @throws {TypeError} {RangeError} if a setting is invalid.
 * @throws the reason of `options.signal`.
 */
export async function callCompat(
  config: CompatConfig,
  messages: readonly Message[],
  tools: readonly Tool[] = [],
  options: CallOptions = {},
): Promise<Fields> {
  const settings = compatConfig(config);
  if (settings.apiKey === "" && isDefaultServer("compat", settings.baseUrl)) {
    const { hostname } = new URL(settings.baseUrl);
    const message = `Cannot call ${hostname} as it wants a key: the current value is empty`;
    throw new BackendError(message, { kind: "auth" });
  }
  return await exchange(config, settings, chatCompletions(settings), messages, tools, options);
}

export function compatBackend(config: CompatConfig): Backend {
  return configuredBackend(config, callCompat, compatParts);
}

/** Parameters that only some servers know. */
const OPTIONAL_PARAMETERS =
  "top_p top_k min_p repeat_penalty frequency_penalty stream_options return_progress"
    .split(" ");

const COMPAT_ADJUSTMENTS: readonly Adjustment[] = [
  unsupported("max_tokens", "from now on, the limit is sent as max_completion_tokens"),
  {
    name: "limit",
    refusal:
      /max_(?:completion_)?tokens.*(?:too large|at most|less than|must be|maximum|supports)|maximum tokens you requested/is,
    instead: "from now on, the server sets the limit of an answer",
  },
  OWN_TEMPERATURE,
  ...OPTIONAL_PARAMETERS.map((name) => unsupported(name, `from now on, ${name} is not sent`)),
  unsupported("reasoning_effort", "from now on, the model decides how much it thinks"),
  unsupported("chat_template_kwargs", "from now on, the model decides about thinking"),
  {
    name: "thinking",
    refusal: /does not support thinking|thinking_budget parameter/i,
    instead: "from now on, the model decides about thinking",
  },
  unsupported("stream", "from now on, answers are not streamed"),
  unsupported("reasoning_content|content and thinking", "from now on, reasoning is not sent back"),
  unsupported(`${THINK_BUDGET}|thinking_budget_tokens`, "from now on, the server limits thinking"),
  {
    name: "reasoning",
    refusal: /reasoning_content.{0,60}(?:must be (?:passed|sent|provided)|is missing)/is,
    instead: "from now on, each call is sent back with its reasoning, even if it is empty",
  },
  {
    name: "content",
    refusal:
      /content.*(?:valid string|expected a string|must be a string|none is not|not be null|is required|missing)|(?:valid string|string_type).*content/is,
    instead: 'from now on, an empty text beside calls is sent as ""',
  },
  {
    name: "response_format",
    refusal: /response_format|json.?schema|grammar|structured.?output|guided/i,
    ...SCHEMA_IN_WORDS,
  },
  NO_SYSTEM_ROLE,
  TEXT_TOOLS,
];

/** The chat completions protocol, also for a local server's compatible endpoint. */
export function chatCompletions(
  config: CompatConfig & { frequencyPenalty?: number | undefined },
): Protocol {
  return {
    url: `${config.baseUrl}/chat/completions`,
    headers: keyHeader(config),
    adjustments: COMPAT_ADJUSTMENTS,
    streamsCalls: isDefaultServer("compat", config.baseUrl),
    body: compatBody.bind(null, config),
    reader: compatReader,
  };
}
