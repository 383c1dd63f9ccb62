import { seamJoiner } from "../text/seams.ts";
import type { ToolCall } from "../types.ts";
import { callScanner, type Part, type ToolCallOptions } from "./scan.ts";

/**
 * Finds the tool calls that a model wrote into its text (spec 4.6) instead of calling tools as the
 * server would have it: in `<toolcall>` tags, and in code blocks labelled json.
 *
 * Calls are marked `recovered`. A call that was cut off, or whose JSON is broken, is marked `invalid`
 * and is not to be run; the reason is for the model. Of reasoning, only a block that never ended is
 * searched; give it text as the model wrote it, before reasoning is removed, so that arguments
 * keep the think tags they hold.
 *
 * @param content The complete text.
 * @returns The text without the calls, and the calls; `content` itself and `null` when there are none.
 */
export function extractToolCallsFromText(
  content: string,
  options: ToolCallOptions = {},
): [cleanedContent: string, toolCalls: ToolCall[] | null] {
  let parts: Part[] = [];
  for (const part of callScanner(options).push(content, true)) {
    if (part.kind === "thought_end") {
      const text = parts.map((part) => part.kind === "unfinished_thought" ? "" : part.text).join(
        "",
      );
      parts = [{ kind: "text", text: text + part.text }];
    } else if (part.kind === "unfinished_thought") {
      while (parts.at(-1)?.kind === "thought") parts.pop();
      parts = parts.concat(part.parts);
    } else parts.push(part);
  }
  const calls: ToolCall[][] = [];
  const rest = seamJoiner();
  let cleaned = "";
  for (const part of parts) {
    if (part.kind === "calls") {
      calls.push(part.calls);
      rest.cut();
    } else if (part.kind !== "unfinished_thought") cleaned += rest.push(part.text);
  }
  return calls.length > 0 ? [cleaned + rest.end(), calls.flat()] : [content, null];
}
