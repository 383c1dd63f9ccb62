/** Messages for the native endpoint `/api/chat`. Pure and stable, like `openai/request.ts`. @module */

import { LOCAL_KEEP_ALIVE, type LocalConfig } from "../../config.ts";
import { imagesOf } from "../../text/parts.ts";
import type { Message } from "../../types/message.ts";
import type { Tool } from "../../types/tool.ts";
import type { AdjustmentNames, AnswerLimits } from "../adjust.ts";
import type { Fields } from "../fields.ts";
import { toolsToCompatFormat } from "../openai/request.ts";
import { defaultOf, samplingParameters, withDefaultTemperature } from "../sampling.ts";
import {
  argumentsOnWire,
  jsonText,
  nameOnWire,
  NO_OUTPUT,
  withResultImages,
} from "../wire_values.ts";

/**
 * Returns the body of a request. `messages` comes last, and `adjusted` is dropped, as in `compatBody`. `truncate`
 * and `shift` are false, because the server would otherwise silently drop old messages when the window is full,
 * instead of rejecting the request or ending the answer.
 */
export function localBody(
  config: LocalConfig,
  messages: readonly Message[],
  tools: readonly Tool[],
  stream: boolean,
  adjusted: AdjustmentNames = new Set(),
  { room = Infinity, answerSchema, thinks = true }: AnswerLimits = {},
): string {
  const { model, maxTokens, repeatPenalty, contextLength } = config;
  const think = thinks ? config.think : false;
  const { keepAlive = LOCAL_KEEP_ALIVE } = config;
  const format = adjusted.has("format") ? undefined : answerSchema;
  const thinking = think !== undefined && !adjusted.has("think") && { think };
  // A schema forbids calls, and the server would convert text that looks like one.
  const offered = answerSchema ? [] : tools;
  return jsonText({
    model,
    stream,
    // With thinking, the schema is enforced only after the thought, which may never start.
    ...(format ? { think: false, format } : thinking),
    ...(keepAlive !== "" && { keep_alive: keepAlive }),
    truncate: false,
    shift: false,
    options: {
      num_predict: Math.min(maxTokens, room),
      ...samplingParameters(withDefaultTemperature(config)),
      repeat_penalty: repeatPenalty ?? defaultOf(config, "repeatPenalty"),
      ...(contextLength !== undefined && { num_ctx: contextLength }),
    },
    ...(offered.length > 0 && { tools: toolsToCompatFormat(offered) }),
    messages: messagesToLocalFormat(messages),
  });
}

/**
 * Converts messages to the native format. The arguments of calls are objects, those of an invalid call
 * `{"invalid_json": "the model's text"}`. Reasoning goes into `thinking`. An empty message is dropped; an empty
 * tool result says so.
 */
export function messagesToLocalFormat(messages: readonly Message[]): Fields[] {
  return withResultImages(messages).flatMap(localMessages);
}

function localMessages(message: Message): Fields[] {
  const { role, content, toolCalls = [], reasoning, toolCallId } = message;
  if (role === "tool") {
    return [{
      role,
      content: content || NO_OUTPUT,
      tool_name: nameOnWire(message.toolName ?? ""),
      ...(toolCallId && { tool_call_id: toolCallId }),
    }];
  }
  const images = imagesOf(message);
  if (content === "" && toolCalls.length === 0 && images.length === 0) return [];
  return [{
    role,
    content,
    ...(role === "assistant" && reasoning && { thinking: reasoning }),
    ...(images.length > 0 && { images: images.map(({ data }) => data) }),
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map((call) => ({
        id: call.id,
        function: { name: nameOnWire(call.name), arguments: argumentsOnWire(call) },
      })),
    }),
  }];
}
