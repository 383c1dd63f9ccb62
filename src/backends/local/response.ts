/**
 * The answer of a local server, read; native and compatible ones are told apart by their shape. Pure.
 *
 * @module
 */

import type { Usage } from "../../types/event.ts";
import { failureFromErrorObject } from "../../wire/failure.ts";
import type { FinishReason } from "../backend.ts";
import { countOf, type Fields, fieldsOf, listOf, stringOf } from "../fields.ts";
import type { AnswerParts } from "../reply.ts";
import { compatParts, rawCall } from "../compat/response.ts";

/**
 * The parts of a local server's answer (spec 4.3).
 *
 * @throws {BackendError} of kind `protocol` when it is in neither format; of the error's own kind
 * when it is an error object.
 */
export function localParts(response: unknown): AnswerParts {
  const failure = failureFromErrorObject(response);
  if (failure) throw failure;
  const answer = fieldsOf(response, "answer");
  if (answer.choices !== undefined) return compatParts(answer);
  const message = fieldsOf(answer.message, "message");
  const detail = stringOf(answer.done_reason, "done_reason");
  return {
    content: stringOf(message.content, "content"),
    reasoning: stringOf(message.thinking, "thinking"),
    calls: listOf(message.tool_calls, "tool_calls").map(rawCall),
    finish: DONE_REASONS.get(detail) ?? "other",
    finishDetail: detail,
    usage: localUsage(answer),
  };
}

/** Anything else ends an answer before it began: `load`, `unload`. */
const DONE_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "stop"],
  // Servers before 2024 give no reason.
  ["", "stop"],
  ["tool_calls", "tool_calls"],
  ["length", "length"],
]);

function localUsage(answer: Fields): Usage | undefined {
  // A prompt that was wholly in the server's cache has no count in some versions.
  if (answer.prompt_eval_count === undefined && answer.eval_count === undefined) return undefined;
  return {
    inputTokens: countOf(answer.prompt_eval_count),
    outputTokens: countOf(answer.eval_count),
  };
}
