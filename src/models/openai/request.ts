/** Messages and tools for chat completions. Pure. A longer conversation only appends, for caches. @module */

import { type CompatConfig, mayBeOwnServer } from "../../config.ts";
import { imagesOf } from "../../text/parts.ts";
import type { Message } from "../../types/message.ts";
import type { Tool } from "../../types/tool.ts";
import type { AdjustmentNames, AnswerLimits } from "../adjust.ts";
import type { Fields } from "../fields.ts";
import { samplingParameters } from "../sampling.ts";
import {
  argumentsOnWire,
  jsonText,
  nameOnWire,
  NO_OUTPUT,
  withResultImages,
} from "../wire_values.ts";

/**
 * Returns the body of a request. `messages` comes last, so that the next body extends this one up to its closing
 * brackets. `adjusted`: the parameters to send in another form, or not at all.
 */
export function compatBody(
  config: CompatConfig & { frequencyPenalty?: number | undefined },
  messages: readonly Message[],
  tools: readonly Tool[],
  stream: boolean,
  adjusted: AdjustmentNames = new Set(),
  { room, answerSchema, slot, thinks = true }: AnswerLimits = {},
): string {
  const schema = adjusted.has("response_format") ? undefined : answerSchema;
  const streams = stream && !adjusted.has("stream");
  const name = adjusted.has("max_tokens") ? "max_completion_tokens" : "max_tokens";
  const limit = Math.min(config.maxTokens ?? Infinity, room ?? Infinity);
  const isOwn = mayBeOwnServer(config.baseUrl);
  const parameters = {
    stream: streams,
    ...(streams && { stream_options: { include_usage: true } }),
    // For llama.cpp's server. Others over http ignore it, or refuse it by name.
    ...(streams && isOwn && { return_progress: true }),
    ...slot !== undefined && { id_slot: slot },
    // vLLM rejects a request whose prompt and answer could exceed the window.
    ...(limit < Infinity && !adjusted.has("limit") && { [name]: limit }),
    ...samplingParameters(config),
    frequency_penalty: config.frequencyPenalty,
    ...!adjusted.has("thinking") && thinking(thinks && config.think, adjusted),
    // The thinking budget of llama.cpp and vLLM.
    ...(thinks && isOwn && config.thinkBudget !== undefined && !adjusted.has(THINK_BUDGET) && {
      thinking_budget_tokens: config.thinkBudget,
      thinking_token_budget: config.thinkBudget,
    }),
    ...(schema && {
      response_format: { type: "json_schema", json_schema: { name: "answer", schema } },
    }),
  };
  const shape: MessageShape = {
    reasoning: !adjusted.has("reasoning_content") && (adjusted.has("reasoning") ? "each" : true),
    empty: adjusted.has("content") ? "" : null,
  };
  return jsonText({
    model: config.model,
    ...Object.fromEntries(Object.entries(parameters).filter(([name]) => !adjusted.has(name))),
    ...(tools.length > 0 && { tools: toolsToCompatFormat(tools) }),
    // The tools are still sent, because the prompt starts with them, but not called.
    ...(tools.length > 0 && schema && { tool_choice: "none" }),
    messages: withResultImages(messages).flatMap((one) => compatMessages(one, shape)),
  });
}

/** The name of the row for servers that refuse a thinking budget. */
export const THINK_BUDGET = "thinking_token_budget";

/** The reasoning to send before calls ("each": even if it is empty), and an empty text beside them. */
interface MessageShape {
  reasoning: boolean | "each";
  empty?: "" | null;
}

/** Local servers read the setting from the template's arguments, hosted ones from the parameters. */
function thinking(
  asked: CompatConfig["think"],
  adjusted: AdjustmentNames,
): Record<string, unknown> {
  if (asked === undefined) return {};
  const think = asked && adjusted.has("reasoning_effort") ? true : asked;
  if (typeof think === "boolean") return { chat_template_kwargs: { enable_thinking: think } };
  const chat_template_kwargs = { enable_thinking: true, reasoning_effort: think };
  return { reasoning_effort: think, chat_template_kwargs };
}

/**
 * Converts messages to the chat completions format. An empty message (no text, image or call) is dropped, because
 * strict servers reject it; an empty tool result says so. The arguments of a call are JSON text, those of an
 * invalid call `{"invalid_json": "the model's text"}`.
 *
 * @param options.reasoning Sends the model's reasoning before a tool call back as `reasoning_content`. Models
 * that think between calls need it. Default: true.
 */
export function messagesToCompatFormat(
  messages: readonly Message[],
  { reasoning = true }: { reasoning?: boolean } = {},
): Fields[] {
  return withResultImages(messages).flatMap((one) => compatMessages(one, { reasoning }));
}

function compatMessages(
  message: Message,
  { reasoning, empty = null }: MessageShape,
): Fields[] {
  const { role, content, toolCalls = [] } = message;
  if (role === "tool") {
    return [{ role, tool_call_id: message.toolCallId ?? "", content: content || NO_OUTPUT }];
  }
  if (role === "assistant" && toolCalls.length > 0) {
    return [{
      role,
      // Not "": gateways that pass the text on as a block reject an empty one.
      content: content || empty,
      ...(reasoning && (message.reasoning || reasoning === "each") &&
        { reasoning_content: message.reasoning ?? "" }),
      tool_calls: toolCalls.map((call) => ({
        id: call.id,
        type: "function",
        function: { name: nameOnWire(call.name), arguments: jsonText(argumentsOnWire(call)) },
      })),
    }];
  }
  const images = role === "user" ? imagesOf(message) : [];
  if (images.length > 0) {
    const text: Fields[] = content.trim() === "" ? [] : [{ type: "text", text: content }];
    const shown = images.map(({ mediaType, data }) => (
      { type: "image_url", image_url: { url: `data:${mediaType};base64,${data}` } }
    ));
    return [{ role: "user", content: [...text, ...shown] }];
  }
  return content === "" ? [] : [{ role, content }];
}

/** Converts tools to `{type: "function", function: {...}}`. */
export function toolsToCompatFormat(tools: readonly Tool[]): Fields[] {
  return tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }));
}
