/** A chat completion, read. Pure. @module */

import { isObject } from "../../text/json.ts";
import type { Usage } from "../../types/event.ts";
import type { Message } from "../../types/message.ts";
import { answerFields, countOf, fieldsOf, listOf, stringOf } from "../fields.ts";
import { type AnswerParts, finishOf, type ParseOptions, wholeReply } from "../reply.ts";
import { readContent } from "./stream.ts";

/**
 * The message of a chat completion, streamed and folded or not.
 *
 * @param response What {@linkcode callCompat} returned.
 * @param options How to find tool calls in its text; without it the text stays as it is.
 * @throws {BackendError} of kind `protocol` when it is no chat completion; of the error's own kind
 * when it is an error object.
 */
export function parseCompatResponse(response: unknown, options: ParseOptions = {}): Message {
  return wholeReply(compatParts(response), options).message;
}

/** The parts of a chat completion; throws like {@linkcode parseCompatResponse}. */
export function compatParts(response: unknown): AnswerParts {
  const { choices, usage } = answerFields(response);
  const choice = fieldsOf(listOf(choices, "choices")[0], "first choice");
  const message = fieldsOf(choice.message, "message");
  const detail = stringOf(choice.finish_reason, "finish_reason");
  const list = listOf(message.tool_calls, "tool_calls");
  // The form before tool_calls.
  const single = list.length === 0 && message.function_call;
  const parts: AnswerParts = {
    content: "",
    reasoning: "",
    calls: single ? [rawCall({ function: single })] : list.map(rawCall),
    finish: message.refusal ? "refused" : finishOf(detail, FINISH_REASONS),
    finishDetail: message.refusal ? "refusal" : detail,
    usage: compatUsage(usage),
  };
  readContent(message, (part, text) => parts[part] += text);
  parts.content += stringOf(message.refusal, "refusal");
  return parts;
}

/**
 * The reasons that servers give when they stop. None: the stream ended with [DONE] alone. `eos_token`
 * is text-generation-inference's, `model_length` Mistral's (the context is full); those of Anthropic
 * come from servers in front of its API.
 */
const FINISH_REASONS = {
  stop: ["stop", "", "eos_token", "stop_sequence", "end_turn"],
  tool_calls: ["tool_calls", "function_call", "tool_use"],
  length: ["length", "max_tokens", "model_length"],
  refused: ["content_filter", "refusal"],
};

/** A tool call of a whole answer; the native local endpoint has the same form. */
export function rawCall(value: unknown): AnswerParts["calls"][number] {
  const call = fieldsOf(value, "tool call");
  const called = fieldsOf(call.function, "tool call's function");
  return {
    id: stringOf(call.id, "tool call's id"),
    name: stringOf(called.name, "tool call's name"),
    args: called.arguments,
  };
}

function compatUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  // DeepSeek's own field where OpenAI's is missing.
  const cachedTokens = countOf(details.cached_tokens) || countOf(usage.prompt_cache_hit_tokens);
  return {
    inputTokens: countOf(usage.prompt_tokens),
    outputTokens: countOf(usage.completion_tokens),
    ...(cachedTokens > 0 && { cachedTokens }),
    // OpenRouter's.
    ...(typeof usage.cost === "number" && usage.cost > 0 && { cost: usage.cost }),
  };
}
