/** Reads an answer of a local server, whose shape shows if it is native or compatible. Pure. @module */

import type { Usage } from "../../types/event.ts";
import { compatParts, rawCall } from "../openai/response.ts";
import { answerFields, countOf, type Fields, fieldsOf, listOf, stringOf } from "../fields.ts";
import { type AnswerParts, finishOf } from "../reply.ts";

/**
 * Returns the parts of a local server's answer (spec 4.3).
 *
 * @throws {BackendError} of kind `protocol` if it is in neither format; of the error's own kind if it is an error
 * object.
 */
export function localParts(response: unknown): AnswerParts {
  const answer = answerFields(response);
  if (answer.choices !== undefined) return compatParts(answer);
  const message = fieldsOf(answer.message, "message");
  const detail = stringOf(answer.done_reason, "done_reason");
  return {
    content: stringOf(message.content, "content"),
    reasoning: stringOf(message.thinking, "thinking"),
    calls: listOf(message.tool_calls, "tool_calls").map(rawCall),
    finish: finishOf(detail, DONE_REASONS),
    finishDetail: detail,
    usage: localUsage(answer),
  };
}

/** Servers before 2024 send no reason. Others end an answer before it starts: `load`, `unload`. */
const DONE_REASONS = { stop: ["stop", ""], tool_calls: ["tool_calls"], length: ["length"] };

function localUsage(answer: Fields): Usage | undefined {
  const { prompt_eval_count, eval_count } = answer;
  // In some versions, a prompt that is completely in the server's cache has no count.
  if (prompt_eval_count === undefined && eval_count === undefined) return undefined;
  return { inputTokens: countOf(prompt_eval_count), outputTokens: countOf(eval_count) };
}
