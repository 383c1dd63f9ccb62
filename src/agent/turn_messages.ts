/** Messages that a turn adds by itself, and the ids in a conversation. Pure. @module */

import type { Message, ToolCall } from "../types/message.ts";

export function toolResult(
  call: Pick<ToolCall, "id" | "name">,
  text: string,
  isError: boolean,
): Message {
  const about = { role: "tool", toolCallId: call.id, toolName: call.name } as const;
  return { ...about, content: text, ...(isError && { isError }) };
}

/** Returns the ids of `given` that calls in `messages` already have, without a copy of all ids. */
export function usedIds(messages: readonly Message[], given: ReadonlySet<string>): string[] {
  const used: string[] = [];
  for (const { toolCalls } of messages) {
    if (!toolCalls) continue;
    for (const { id } of toolCalls) if (given.has(id)) used.push(id);
  }
  return used;
}

export function endOfTurn(text: string): Message {
  return { role: "assistant", content: `[${text}]`, standsFor: "end_of_turn" };
}
