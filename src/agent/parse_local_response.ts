import { parseLocalResponse as parse } from "../backends/local/response.ts";
import type { LocalConfig } from "../config.ts";
import { extractToolCallsFromText } from "../toolcalls/extract.ts";
import type { Message, ToolCall } from "../types.ts";

/**
 * Reads a raw response of the local server, native or compatible, told apart by its shape. Calls
 * that the model wrote into its text are recovered (spec 4.3, 4.6).
 *
 * @throws {BackendError} when the response has neither shape.
 */
export function parseLocalResponse(
  config: LocalConfig,
  response: unknown,
): { message: Message; toolCalls: ToolCall[] } {
  return parse(config, response, { extract: extractToolCallsFromText });
}
