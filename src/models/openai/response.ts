import { isObject } from "../../text/json.ts";
import type { Usage } from "../../types/event.ts";
import type { Message } from "../../types/message.ts";
import { answerFields, countOf, type Fields, fieldsOf, listOf, stringOf } from "../fields.ts";
import { type AnswerParts, finishOf, wholeReply } from "../reply.ts";
import { FINISH_REASONS, readContent } from "./stream.ts";

/**
 * Returns the message of a chat completion, folded or not.
 *
 * @param response The result of {@linkcode callCompat}.
 * @throws {BackendError} of kind `protocol` if it is not a chat completion; of the error's own kind if it is an
 * error object.
 */
export function parseCompatResponse(response: unknown): Message {
  return wholeReply(compatParts(response)).message;
}

/** Returns the parts of a chat completion. Throws like {@linkcode parseCompatResponse}. */
export function compatParts(response: unknown): AnswerParts {
  const { choices, usage, timings } = answerFields(response);
  const choice = fieldsOf(listOf(choices, "choices")[0], "first choice");
  const message = fieldsOf(choice.message, "message");
  const detail = stringOf(choice.finish_reason, "finish_reason");
  const list = listOf(message.tool_calls, "tool_calls");
  // `function_call` is the older form of `tool_calls` in OpenAI's API.
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

/** Reads a tool call of a complete answer, also for the native local endpoint. */
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
  // Moonshot, DeepSeek and older versions of llama.cpp have their own fields instead of OpenAI's.
  const { cached_tokens, prompt_cache_hit_tokens } = usage;
  const cached = [details.cached_tokens, cached_tokens, prompt_cache_hit_tokens, timings.cache_n]
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
