/**
 * Messages and tools as a chat-completions server takes them. Pure; a longer conversation only adds
 * bytes to the same ones, so that servers can reuse what they computed. @module
 */

import { type CompatConfig, mayBeOwnServer } from "../../config.ts";
import { imagesOf } from "../../text/parts.ts";
import type { Message } from "../../types/message.ts";
import type { Tool } from "../../types/tool.ts";
import type { Adjusted, AnswerLimits } from "../adjust.ts";
import { bodyEndingIn, MessageTexts } from "../message_text.ts";
import { samplingParameters } from "../sampling.ts";
import {
  argumentsOnWire,
  jsonText,
  nameOnWire,
  NO_OUTPUT,
  withResultImages,
} from "../wire_values.ts";

/** A tool in a request; the compatible and the native local endpoint share the form. */
export interface CompatTool {
  /** Always this. */
  type: "function";
  /** The tool, with the JSON schema of its arguments. */
  function: { name: string; description: string; parameters: Tool["parameters"] };
}

/** A message as chat-completions servers take it. */
export type CompatMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string | CompatPart[] }
  | {
    role: "assistant";
    content: string | null;
    reasoning_content?: string;
    tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
  }
  | { role: "tool"; tool_call_id: string; content: string };

/** A part of a user message with images. */
export type CompatPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } };

/**
 * The body of a request. `messages` comes last, so that the next body extends this one up to its closing
 * brackets. `adjusted`: the parameters that the server wants in another form, or not at all.
 */
export function compatBody(
  config: CompatConfig & { frequencyPenalty?: number | undefined },
  messages: readonly Message[],
  tools: readonly Tool[],
  stream: boolean,
  adjusted: Adjusted = new Set(),
  { room, form, slot, thinks = true }: AnswerLimits = {},
): string {
  const held = form !== undefined && !adjusted.has("response_format");
  const streams = stream && !adjusted.has("stream");
  const name = adjusted.has("max_tokens") ? "max_completion_tokens" : "max_tokens";
  const limit = Math.min(config.maxTokens ?? Infinity, room ?? Infinity);
  const isOwn = mayBeOwnServer(config.baseUrl);
  const parameters = {
    stream: streams,
    ...(streams && { stream_options: { include_usage: true } }),
    // Of llama.cpp's server; others over http ignore it, or refuse it by its name.
    ...(streams && isOwn && { return_progress: true }),
    ...slot !== undefined && { id_slot: slot },
    // vLLM refuses a request whose prompt and answer could be more than the window.
    ...(limit < Infinity && !adjusted.has("limit") && { [name]: limit }),
    ...samplingParameters(config),
    frequency_penalty: config.frequencyPenalty,
    ...!adjusted.has("thinking") && thinking(thinks && config.think, adjusted),
    // How much llama.cpp and vLLM let a model think.
    ...(thinks && isOwn && config.thinkBudget !== undefined && !adjusted.has(THINK_BUDGET) && {
      thinking_budget_tokens: config.thinkBudget,
      thinking_token_budget: config.thinkBudget,
    }),
    ...(held && {
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", schema: form.schema },
      },
    }),
  };
  return bodyEndingIn(
    {
      model: config.model,
      ...Object.fromEntries(Object.entries(parameters).filter(([name]) => !adjusted.has(name))),
      ...(tools.length > 0 && { tools: toolsToCompatFormat(tools) }),
      // The tools are still told of, as the prompt begins with them, but not called.
      ...(tools.length > 0 && held && { tool_choice: "none" }),
    },
    textsOf({
      reasoning: !adjusted.has("reasoning_content") && (adjusted.has("reasoning") ? "each" : true),
      empty: adjusted.has("content") ? "" : null,
    }).list(
      withResultImages(messages),
    ),
  );
}

/** The name of the row for servers that refuse a budget of thinking. */
export const THINK_BUDGET = "thinking_token_budget";

const texts = new Map<string, MessageTexts>();

/** What is sent of reasoning before calls ("each": also where there was none), and of an empty text beside them. */
interface MessageForm {
  reasoning: boolean | "each";
  empty?: "" | null;
}

function textsOf(form: MessageForm): MessageTexts {
  const key = JSON.stringify(form);
  const known = texts.get(key) ?? new MessageTexts((one) => compatMessages(one, form));
  texts.set(key, known);
  return known;
}

/** Local servers read the setting from the template's arguments, hosted ones from the parameters. */
function thinking(asked: CompatConfig["think"], adjusted: Adjusted): Record<string, unknown> {
  if (asked === undefined) return {};
  const think = asked && adjusted.has("reasoning_effort") ? true : asked;
  if (typeof think === "boolean") return { chat_template_kwargs: { enable_thinking: think } };
  const chat_template_kwargs = { enable_thinking: true, reasoning_effort: think };
  return { reasoning_effort: think, chat_template_kwargs };
}

/**
 * Converts messages to the chat-completions format. A message that says nothing (no text, no image,
 * no call) is left out, as strict servers refuse it; an empty tool result says so in words. The
 * arguments of a call are JSON text, of an invalid one `{"invalid_json": what the model wrote}`.
 *
 * @param options.reasoning Send what the model thought before a tool call back to it, as
 * `reasoning_content`: models that think between calls lose the thread without it. True.
 */
export function messagesToCompatFormat(
  messages: readonly Message[],
  { reasoning = true }: { reasoning?: boolean } = {},
): CompatMessage[] {
  return withResultImages(messages).flatMap((one) => compatMessages(one, { reasoning }));
}

function compatMessages(message: Message, form: MessageForm): CompatMessage[] {
  const { reasoning, empty = null } = form;
  const { role, content, toolCalls = [] } = message;
  if (role === "tool") {
    return [{ role, tool_call_id: message.toolCallId ?? "", content: content || NO_OUTPUT }];
  }
  if (role === "assistant" && toolCalls.length > 0) {
    return [{
      role,
      // Not "": gateways that pass the text on as a block of its own refuse an empty one.
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
    const text: CompatPart[] = content.trim() === "" ? [] : [{ type: "text", text: content }];
    const shown = images.map(({ mediaType, data }): CompatPart => (
      { type: "image_url", image_url: { url: `data:${mediaType};base64,${data}` } }
    ));
    return [{ role: "user", content: [...text, ...shown] }];
  }
  return content === "" ? [] : [{ role, content }];
}

/** Converts tools to `{type: "function", function: {...}}`. */
export function toolsToCompatFormat(tools: readonly Tool[]): CompatTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }));
}
