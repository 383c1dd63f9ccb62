/** A chat completion, read. Pure. @module */

import { isObject } from "../../text/json.ts";
import { failureFromErrorObject } from "../../wire/failure.ts";
import type { Usage } from "../../types/event.ts";
import type { Message } from "../../types/message.ts";
import type { FinishReason } from "../backend.ts";
import { countOf, type Fields, fieldsOf, listOf, stringOf } from "../fields.ts";
import { type AnswerParts, type ParseOptions, wholeReply } from "../reply.ts";
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
  const failure = failureFromErrorObject(response);
  if (failure) throw failure;
  const { choices, usage } = fieldsOf(response, "answer");
  const choice = fieldsOf(listOf(choices, "choices")[0], "first choice");
  const message = fieldsOf(choice.message, "message");
  const detail = stringOf(choice.finish_reason, "finish_reason");
  const parts: AnswerParts = {
    content: "",
    reasoning: "",
    calls: callsOf(message),
    finish: message.refusal ? "refused" : FINISH_REASONS.get(detail) ?? "other",
    finishDetail: message.refusal ? "refusal" : detail,
    usage: compatUsage(usage),
  };
  const onText = (text: string) => parts.content += text;
  readContent(message, onText, (text) => parts.reasoning += text);
  onText(stringOf(message.refusal, "refusal"));
  return parts;
}

/** The reasons that servers give when they stop. */
const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "stop"],
  // Nothing: the stream ended with [DONE] alone.
  ["", "stop"],
  ["tool_calls", "tool_calls"],
  ["function_call", "tool_calls"],
  // text-generation-inference, and servers in front of Anthropic's API.
  ["eos_token", "stop"],
  ["stop_sequence", "stop"],
  ["end_turn", "stop"],
  ["tool_use", "tool_calls"],
  ["length", "length"],
  ["max_tokens", "length"],
  // Mistral, when the context is full.
  ["model_length", "length"],
  ["content_filter", "refused"],
  ["refusal", "refused"],
]);

function callsOf(message: Fields): AnswerParts["calls"] {
  const list = listOf(message.tool_calls, "tool_calls");
  // The form before tool_calls.
  const single = list.length === 0 && message.function_call;
  return single ? [rawCall({ function: single })] : list.map(rawCall);
}

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
  const cached = countOf(details.cached_tokens) || countOf(usage.prompt_cache_hit_tokens);
  return {
    inputTokens: countOf(usage.prompt_tokens),
    outputTokens: countOf(usage.completion_tokens),
    ...(cached > 0 && { cachedTokens: cached }),
    // OpenRouter's.
    ...(typeof usage.cost === "number" && usage.cost > 0 && { cost: usage.cost }),
  };
}
