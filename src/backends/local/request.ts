/** Messages as the native endpoint `/api/chat` takes them. Pure, and stable like `compat/request.ts`. @module */

import { LOCAL_KEEP_ALIVE, type LocalConfig } from "../../config.ts";
import { imagesOf } from "../../text/parts.ts";
import type { Message } from "../../types/message.ts";
import type { Tool } from "../../types/tool.ts";
import type { Adjusted, AnswerLimits } from "../adjust.ts";
import { toolsToCompatFormat } from "../compat/request.ts";
import { bodyEndingIn, MessageTexts } from "../message_text.ts";
import { defaultOf, samplingParameters, withDefaultTemperature } from "../sampling.ts";
import { argumentsOnWire, nameOnWire, NO_OUTPUT, withResultImages } from "../wire_values.ts";

/** A message as `/api/chat` takes it. */
export interface LocalMessage {
  /** Who speaks. */
  role: Message["role"];
  /** The text; may be empty beside calls or images. */
  content: string;
  /** The reasoning of an assistant message. */
  thinking?: string;
  /** Images in base64. */
  images?: string[];
  /** The calls that an assistant message asks for. */
  tool_calls?: { id: string; function: { name: string; arguments: Record<string, unknown> } }[];
  /** The tool that a tool message comes from. */
  tool_name?: string;
  /** The call that a tool message answers. */
  tool_call_id?: string;
}

/**
 * The body of a request; `messages` comes last, and `adjusted` is left out, as of `compatBody`. Without
 * `truncate` and `shift`, the server drops old messages without a word when they, or an answer, fill
 * the window: it refuses the request, or ends the answer, instead.
 */
export function localBody(
  config: LocalConfig,
  messages: readonly Message[],
  tools: readonly Tool[],
  stream: boolean,
  adjusted: Adjusted = new Set(),
  { room = Infinity, form, thinks = true }: AnswerLimits = {},
): string {
  const { model, maxTokens, repeatPenalty, contextLength } = config;
  const think = thinks ? config.think : false;
  const { keepAlive = LOCAL_KEEP_ALIVE } = config;
  const held = adjusted.has("format") ? undefined : form;
  const thinking = think !== undefined && !adjusted.has("think") && { think };
  // A form for an answer forbids calls; and what looks like one would be handed on as one.
  const offered = form && !form.isCall ? [] : tools;
  return bodyEndingIn({
    model,
    stream,
    // A model that may think is held to no form before its thought has ended, which may never begin.
    ...(held ? { think: false, format: held.schema } : thinking),
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
  }, LOCAL_TEXTS.list(withResultImages(messages)));
}

const LOCAL_TEXTS = new MessageTexts(localMessages);

/**
 * Converts messages to the native format: the arguments of calls are objects, those of an invalid
 * one `{"invalid_json": what the model wrote}`; what the model thought goes into `thinking`. A
 * message that says nothing is left out; an empty tool result says so in words.
 */
export function messagesToLocalFormat(messages: readonly Message[]): LocalMessage[] {
  return withResultImages(messages).flatMap(localMessages);
}

function localMessages(message: Message): LocalMessage[] {
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
