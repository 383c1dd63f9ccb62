/** A chat completion, read. Pure. @module */

import { isObject } from "../../text/json.ts";
import type { Usage } from "../../types/event.ts";
import type { Message } from "../../types/message.ts";
import { answerFields, countOf, type Fields, fieldsOf, listOf, stringOf } from "../fields.ts";
import { type AnswerParts, finishOf, type ParseOptions, wholeReply } from "../reply.ts";
import { FINISH_REASONS, readContent } from "./stream.ts";

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
  const { choices, usage, timings } = answerFields(response);
  const choice = fieldsOf(listOf(choices, "choices")[0], "first choice");
  const message = fieldsOf(choice.message, "message");
  const detail = stringOf(choice.finish_reason, "finish_reason");
  const list = listOf(message.tool_calls, "tool_calls");
  // `function_call` is the form that OpenAI's API had before `tool_calls`.
  const single = list.length === 0 && message.function_call;
  const parts: AnswerParts = {
    content: "",
    reasoning: "",
    calls: single ? [rawCall({ function: single })] : list.map(rawCall),
    finish: message.refusal ? "refused" : finishOf(detail, FINISH_REASONS),
    finishDetail: message.refusal ? "refusal" : detail,
    usage: compatUsage(usage, isObject(timings) ? timings : {}),
  };
  readContent(message, (part, text) => parts[part] += text);
  parts.content += stringOf(message.refusal, "refusal");
  return parts;
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

function compatUsage(usage: unknown, timings: Fields): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  // DeepSeek and older versions of llama.cpp have fields of their own in place of OpenAI's.
  const cached = [details.cached_tokens, usage.prompt_cache_hit_tokens, timings.cache_n]
    .filter((tokens) => typeof tokens === "number").map(countOf);
  const readSpeed = countOf(timings.prompt_per_second);
  return {
    inputTokens: countOf(usage.prompt_tokens),
    outputTokens: countOf(usage.completion_tokens),
    ...(cached.length > 0 && { cachedTokens: Math.max(...cached) }),
    ...(readSpeed > 0 && { readSpeed }),
    // OpenRouter's field, in US dollars.
    ...(typeof usage.cost === "number" && usage.cost > 0 && { cost: usage.cost }),
  };
}
