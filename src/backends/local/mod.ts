/**
 * The local backend: a server on the user's own machine, through its native endpoint or its
 * compatible one.
 *
 * @module
 */

import { type LocalConfig, localConfig } from "../../config.ts";
import { BackendError } from "../../errors.ts";
import type { Message } from "../../types/message.ts";
import type { Tool } from "../../types/tool.ts";
import { excerpt } from "../../wire/excerpt.ts";
import type { Backend, CallOptions } from "../backend.ts";
import { type Adjustment, exchange, TEXT_TOOLS } from "../adjust.ts";
import type { Fields } from "../fields.ts";
import { splitReply } from "../reply.ts";
import { completeChat } from "../compat/mod.ts";
import { listLocalModels } from "./connection.ts";
import { localBody } from "./request.ts";
import { localParts } from "./response.ts";
import { LocalReader } from "./stream.ts";
import { keyHeader } from "../wire_values.ts";

/**
 * Sends `messages` to `{host}/api/chat` (with `useCompat` to `{host}/v1/chat/completions`) and
 * returns the raw response: streamed, and folded into what a call without streaming returns.
 *
 * For a model that takes no tools, they are described in the system prompt, and the calls are in the
 * answer's text; this and a refused `think` are remembered for this `config`, and `onNotice` is told.
 *
 * @param config What it leaves out has its default.
 * @throws {BackendError} when the server can not be reached, refuses, or its answer breaks off; for
 * an unknown model it names those that are installed.
 * @throws {TypeError} {RangeError} when a setting is bad.
 * @throws whatever `options.signal` was aborted with.
 */
export async function callLocal(
  config: LocalConfig,
  messages: readonly Message[],
  tools: readonly Tool[] = [],
  options: CallOptions = {},
): Promise<Record<string, unknown>> {
  const settings = localConfig(config);
  try {
    return await (settings.useCompat
      ? completeChat(
        config,
        { ...settings, baseUrl: `${settings.host}/v1` },
        messages,
        tools,
        options,
      )
      : chatNatively(config, settings, messages, tools, options));
  } catch (error) {
    if (!(error instanceof BackendError) || error.kind !== "model_not_found") throw error;
    throw await withInstalledModels(error, settings, options);
  }
}

/** A {@linkcode Backend} for `config`. */
export function localBackend(config: LocalConfig): Backend {
  return {
    model: config.model,
    isTyped: false,
    send: (messages, tools, options) =>
      splitReply((more) => callLocal(config, messages, tools, more), localParts, options),
  };
}

const LOCAL_ADJUSTMENTS: readonly Adjustment[] = [
  TEXT_TOOLS,
  {
    name: "think",
    refusal: /does not support thinking|think value .* not supported/i,
    instead: "thinking is left to the model from now on",
  },
];

function chatNatively(
  key: object,
  config: LocalConfig,
  messages: readonly Message[],
  tools: readonly Tool[],
  options: CallOptions,
): Promise<Fields> {
  return exchange(
    key,
    config,
    {
      url: `${config.host}/api/chat`,
      headers: keyHeader(config),
      adjustments: LOCAL_ADJUSTMENTS,
      body: localBody.bind(null, config),
      reader: (_contentType, stream, onDelta) => new LocalReader(stream ? onDelta : undefined),
    },
    messages,
    tools,
    options,
  );
}

/** `error` with the names of the installed models, where the server tells them. */
async function withInstalledModels(
  error: BackendError,
  config: LocalConfig,
  { fetch = config.fetch, signal }: CallOptions,
): Promise<BackendError> {
  const { host, apiKey, model } = config;
  let installed = "";
  try {
    const names = await listLocalModels({ host, apiKey, fetch, signal });
    installed = names.length === 0
      ? "; no model is installed"
      : `; installed are ${names.slice(0, 20).map(excerpt).join(", ")}${
        names.length > 20 ? ", ..." : ""
      }`;
  } catch (failure) {
    // Without the list the error is still the right one.
    if (!(failure instanceof BackendError)) throw failure;
  }
  return new BackendError(
    `The server at ${
      new URL(host).origin
    } has no model "${model}"${installed}. Get it with \`ollama pull ${model}\``,
    { ...error, cause: error },
  );
}
