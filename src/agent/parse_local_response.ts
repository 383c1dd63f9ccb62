import { localParts } from "../models/ollama/response.ts";
import { wholeReply } from "../models/reply.ts";
import type { LocalConfig } from "../config.ts";
import { ToolCallFilter } from "../models/toolcalls/extract.ts";
import type { Message, ToolCall } from "../types/message.ts";

/**
 * Reads a raw response of the local server. Calls that the model wrote into its text are recovered (spec 4.3,
 * 4.6). `toolCalls` may be empty.
 *
 * @param _config The settings. Answers are distinguished by their shape, so they are not used.
 * @param response The result of {@linkcode callLocal}.
 * @throws {BackendError} if it has neither shape (`protocol`), or is an error object (of its kind).
 */
export function parseLocalResponse(
  _config: LocalConfig,
  response: unknown,
): { message: Message; toolCalls: ToolCall[] } {
  const { message } = wholeReply(localParts(response), new ToolCallFilter());
  return { message, toolCalls: message.toolCalls ?? [] };
}
