import { isObject } from "../../text/json.ts";
import type { Usage } from "../../types/event.ts";
import type { Message } from "../../types/message.ts";
import type { FinishReason } from "../backend.ts";
import { answerFields, countOf, type Fields, fieldsOf, shapeError, stringOf } from "../fields.ts";
import { type AnswerParts, finishOf, wholeReply } from "../reply.ts";

/**
 * Returns the message of a hosted response, folded or not (spec 4.3): its `text` blocks are the content, its
 * `tool_use` blocks the tool calls.
 *
 * @param response The result of {@linkcode callHosted}.
 * @throws {BackendError} of kind `protocol` if it is not a hosted response; of the error's own kind if it is an
 * error object.
 */
export function parseHostedResponse(response: unknown): Message {
  return wholeReply(hostedParts(response)).message;
}

/** Returns the parts of a hosted response. Throws like {@linkcode parseHostedResponse}. */
export function hostedParts(response: unknown): AnswerParts {
  const { content, stop_reason, usage } = answerFields(response);
  if (!Array.isArray(content)) throw shapeError("content", "an array", content);
  const blocks = content.map((block) => fieldsOf(block, "content block"));
  const finishDetail = stringOf(stop_reason, "stop_reason");
  // A stream has null until its reason arrives. Without the field, the response is complete.
  const finish = stop_reason === undefined ? "stop" : finishOf(finishDetail, STOP_REASONS);
  const ofType = (type: string) => blocks.filter((block) => block.type === type);
  return {
    content: ofType("text").map((block) => stringOf(block.text, "text")).join(""),
    reasoning: ofType("thinking").map((block) => stringOf(block.thinking, "thinking")).join("\n\n"),
    calls: ofType("tool_use").map(({ id, name, input }) => (
      { id: stringOf(id, "tool_use id"), name: stringOf(name, "tool_use name"), args: input }
    )),
    finish,
    finishDetail,
    usage: hostedUsage(usage),
    hasBlocks: true,
    hostedBlocks: blocksToKeep(blocks, finish),
  };
}

/** The reasons of the API. `pause_turn` and those of later versions are `other`. */
const STOP_REASONS = {
  stop: ["end_turn", "stop_sequence"],
  tool_calls: ["tool_use"],
  length: ["max_tokens", "model_context_window_exceeded"],
  refused: ["refusal"],
};

/**
 * Returns the original blocks if some of them, other than text and calls, must be sent back unchanged. The API
 * would reject a thought that the token limit cut off before its signature.
 */
function blocksToKeep(blocks: Fields[], finish: FinishReason): Fields[] | undefined {
  const kept = blocks.flatMap((block) => {
    if (block.type !== "thinking") return [block];
    // Servers without signatures leave it empty or omit it. The API requires the field.
    const signature = stringOf(block.signature, "signature");
    return signature === "" && finish === "length" ? [] : [{ ...block, signature }];
  });
  return kept.some(({ type }) => type !== "text" && type !== "tool_use") ? kept : undefined;
}

/** The input counts of the API exclude cache writes and reads. */
function hostedUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const { input_tokens, output_tokens } = usage;
  if (input_tokens === undefined && output_tokens === undefined) return undefined;
  const cachedTokens = countOf(usage.cache_read_input_tokens);
  const cacheWriteTokens = countOf(usage.cache_creation_input_tokens);
  return {
    inputTokens: countOf(input_tokens) + cachedTokens + cacheWriteTokens,
    outputTokens: countOf(output_tokens),
    ...(cachedTokens > 0 && { cachedTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
  };
}
