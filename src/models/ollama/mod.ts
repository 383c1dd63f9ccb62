/** The local backend: a server on the user's machine, by its native or compatible endpoint. @module */

import { type LocalConfig, localConfig } from "../../config.ts";
import { BackendError } from "../../errors.ts";
import type { Message } from "../../types/message.ts";
import type { Tool } from "../../types/tool.ts";
import { excerpt } from "../../wire/excerpt.ts";
import {
  type Adjustment,
  exchange,
  FORM_IN_WORDS,
  NO_SYSTEM_ROLE,
  type Protocol,
  TEXT_TOOLS,
} from "../adjust.ts";
import type { Backend, CallOptions } from "../backend.ts";
import { chatCompletions } from "../openai/mod.ts";
import { type Fields, fieldsOf, listOf, stringOf } from "../fields.ts";
import { configuredBackend } from "../reply.ts";
import { argumentsText, keyHeader } from "../wire_values.ts";
import { listLocalModels, onFailure } from "./connection.ts";
import { defaultOf, withDefaultTemperature } from "../sampling.ts";
import { localBody } from "./request.ts";
import { localParts } from "./response.ts";
import { GrowingText } from "../../text/growing_text.ts";
import { throwErrorObject } from "../../wire/failure.ts";
import { NdjsonDecoder } from "../../wire/ndjson.ts";
import { rawCall } from "../openai/response.ts";
import { brokeOff, DeltaReader } from "../delta_reader.ts";

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
  { name: "format", refusal: /\bformat\b|json.schema/i, ...FORM_IN_WORDS },
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
  const { host, apiKey, model } = config;
  // Without the list, the error is still correct.
  const names = await listLocalModels({ host, apiKey, fetch, signal })
    .catch(onFailure(() => undefined));
  const shown = names?.slice(0, 20).map(excerpt) ?? [];
  if (names && names.length > 20) shown.push("...");
  const none = names ? "; no model is installed" : "";
  const installed = shown.length > 0 ? `; installed are ${shown.join(", ")}` : none;
  const { origin } = new URL(host);
  const message = `The server at ${origin} has no model "${model}"${installed}`;
  return new BackendError(message, { ...error, models: names, cause: error });
}

/** Reads an answer of `/api/chat`, streamed or in one line. */
export class LocalReader extends DeltaReader {
  /** The line that ends the answer. */
  #last: Fields | undefined;
  readonly #content = new GrowingText();
  readonly #thinking = new GrowingText();
  readonly #calls: unknown[] = [];
  /** The keys of the calls on earlier lines. */
  readonly #keys = new Set<string>();
  protected readonly decoder = new NdjsonDecoder((value) => this.#take(value));

  get done(): boolean {
    return this.#last !== undefined;
  }

  end(): Fields {
    if (!this.#last) this.decoder.end();
    if (!this.#last) throw brokeOff();
    const thinking = this.#thinking.whole;
    const message = {
      role: "assistant",
      content: this.#content.whole,
      ...(thinking !== "" && { thinking }),
      ...(this.#calls.length > 0 && { tool_calls: this.#calls }),
    };
    return { ...this.#last, message };
  }

  #take(value: unknown): void {
    if (this.#last) return;
    const line = fieldsOf(value, "line");
    if (line.message === undefined || line.error) throwErrorObject(line);
    const isLast = line.done === true;
    // Old servers end with a line of counts alone.
    const isBare = isLast && (line.message ?? null) === null;
    if (!isBare) this.#takeMessage(fieldsOf(line.message, "message"), isLast);
    if (!isLast) return;
    this.progress++;
    this.#last = line;
  }

  #takeMessage(message: Fields, isLast: boolean): void {
    const thought = stringOf(message.thinking, "thinking");
    this.#thinking.add(thought);
    if (thought !== "") this.emit({ type: "reasoning", text: thought });
    const text = stringOf(message.content, "content");
    this.#content.add(text);
    if (text !== "") this.emit({ type: "text", text });
    if (message.tool_calls) this.#takeCalls(listOf(message.tool_calls, "tool_calls"), isLast);
  }

  /** Adds calls, which are complete. Some servers repeat them in the last line. */
  #takeCalls(calls: readonly unknown[], isLast: boolean): void {
    const keys: string[] = [];
    for (const call of calls) {
      const { id, name, args } = rawCall(call);
      const { index } = (call as { function: Fields }).function;
      const key = `${id || JSON.stringify(index)} ${name} ${argumentsText(args)}`;
      if ((id !== "" || isLast) && this.#keys.has(key)) continue;
      keys.push(key);
      this.#calls.push(call);
      this.emit({ type: "tool_call", name });
    }
    for (const key of keys) this.#keys.add(key);
  }
}
