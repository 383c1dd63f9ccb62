/**
 * The answer of a local server, read; native and compatible ones are told apart by their shape. Pure.
 *
 * @module
 */

import type { LocalConfig } from "../../config.ts";
import type { Message, ToolCall, Usage } from "../../types.ts";
import { failureFromErrorObject } from "../../wire/failure.ts";
import type { FinishReason, Reply } from "../backend.ts";
import { countOf, type Fields, fieldsOf, listOf, textOf } from "../fields.ts";
import { type ReadOptions, toReply } from "../reply.ts";
import { readCompatResponse } from "../compat/response.ts";

/** What {@linkcode parseLocalResponse} returns. */
export interface LocalAnswer {
  /** The assistant's message; its `toolCalls` are there only where there are some. */
  message: Message;
  /** The tool calls, native or recovered from the text; empty where there are none. */
  toolCalls: ToolCall[];
}

/**
 * The message and the tool calls of a local server's answer, in the native or the compatible format
 * (spec 4.3). Tool calls in the text are looked for where the answer has no others (spec 4.6).
 *
 * @param _config The settings; the format is told by the answer's shape, whatever they say.
 * @param response What {@linkcode callLocal} returned.
 * @param options How to find tool calls in the text: without `extract`, the text stays as it is.
 * @throws {BackendError} of kind `protocol` when it is neither format; of the error's own kind when
 * it is an error object.
 */
export function parseLocalResponse(
  _config: LocalConfig,
  response: unknown,
  options: ReadOptions = {},
): LocalAnswer {
  const { message } = readLocalResponse(response, options);
  return { message, toolCalls: message.toolCalls ?? [] };
}

/** Like {@linkcode parseLocalResponse}, with why the model stopped and the tokens. */
export function readLocalResponse(response: unknown, options: ReadOptions = {}): Reply {
  const failure = failureFromErrorObject(response);
  if (failure) throw failure;
  const answer = fieldsOf(response, "answer");
  if (answer.choices !== undefined) return readCompatResponse(answer, options);
  const message = fieldsOf(answer.message, "message");
  const calls = listOf(message.tool_calls, "tool_calls").map((value) => {
    const call = fieldsOf(value, "tool call");
    const called = fieldsOf(call.function, "tool call's function");
    return {
      id: textOf(call.id, "tool call's id"),
      name: textOf(called.name, "tool call's name"),
      args: called.arguments,
    };
  });
  const detail = textOf(answer.done_reason, "done_reason");
  return toReply({
    content: textOf(message.content, "content"),
    reasoning: textOf(message.thinking, "thinking"),
    calls,
    finish: FINISH.get(detail) ?? "other",
    finishDetail: detail,
    usage: usageOf(answer),
  }, options);
}

/** Anything else ends an answer before it began: `load`, `unload`. */
const FINISH: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "stop"],
  // Servers before 2024 give no reason.
  ["", "stop"],
  ["tool_calls", "tool_calls"],
  ["length", "length"],
]);

function usageOf(answer: Fields): Usage | undefined {
  // A prompt that was wholly in the server's cache has no count in some versions.
  if (answer.prompt_eval_count === undefined && answer.eval_count === undefined) return undefined;
  return {
    inputTokens: countOf(answer.prompt_eval_count),
    outputTokens: countOf(answer.eval_count),
  };
}
