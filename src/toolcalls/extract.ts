import type { ToolCall } from "../types/message.ts";
import { toolCallFilter } from "./filter.ts";
import type { ToolCallOptions } from "./scan.ts";

/**
 * Finds the tool calls that a model wrote into its text (spec 4.6) instead of calling tools as the
 * server would have it: in `<toolcall>` tags, and in code blocks labelled json.
 *
 * Calls are marked `recovered`. A call that was cut off, or whose JSON is broken, is marked `invalid`
 * and is not to be run; the reason is for the model. Nothing quoted is a call: in other code, a block
 * quote, `<pre>` or `<code>`, behind a quotation mark. Nor is anything in reasoning, but for calls in
 * tags at the end of a block that never ends. Give it text as the model wrote it, before reasoning is
 * removed, so that arguments keep the think tags they hold.
 *
 * @param content The complete text.
 * @returns The text without the calls, and the calls; `content` itself and `null` when there are none.
 */
export function extractToolCallsFromText(
  content: string,
  options: ToolCallOptions = {},
): [cleanedContent: string, toolCalls: ToolCall[] | null] {
  const filter = toolCallFilter(options);
  const shown = filter.push(content);
  const { text, calls } = filter.end();
  return calls.length > 0 ? [shown + text, calls] : [content, null];
}
