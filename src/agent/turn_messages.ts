/** Messages that a turn adds by itself. Pure. @module */

import type { Message, ToolCall } from "../types/message.ts";

export function toolResult(
  call: Pick<ToolCall, "id" | "name">,
  text: string,
  isError: boolean,
): Message {
  const about = { role: "tool", toolCallId: call.id, toolName: call.name } as const;
  return { ...about, content: text, ...(isError && { isError }) };
}

export function endOfTurn(text: string): Message {
  return { role: "assistant", content: `[${text}]`, standsFor: "end_of_turn" };
}
