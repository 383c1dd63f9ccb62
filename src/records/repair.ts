/** Completes interrupted conversations: servers reject a call without a result. @module */

import { newMessageId } from "../text/parts.ts";
import type { Message, ToolCall } from "../types/message.ts";

const LOST = "Interrupted: the program ended before this call did. Its effects are unknown.";
const CUT_OFF = "[Interrupted]";

/**
 * Returns `messages` with exactly one result after each call. Missing results say so, and results without a call are
 * dropped. The first message is the user's.
 */
export function repaired(messages: readonly Message[]): Message[] {
  const whole: Message[] = [];
  let open = new Map<string, ToolCall>();
  const close = () => {
    for (const call of open.values()) whole.push(lostResult(call));
  };
  for (const message of messages) {
    if (message.role === "system" || whole.length === 0 && message.role !== "user") continue;
    if (message.role === "tool") {
      if (open.delete(message.toolCallId ?? "")) whole.push(message);
      continue;
    }
    close();
    open = new Map(message.toolCalls?.map((call) => [call.id, call]));
    whole.push(message);
  }
  close();
  // Some chat templates reject a user message after results.
  if (whole.at(-1)?.role === "tool") {
    const note: Message = { role: "assistant", content: CUT_OFF, standsFor: "lost_answer" };
    whole.push({ ...note, id: newMessageId() });
  }
  return whole;
}

function lostResult({ id: toolCallId, name: toolName }: ToolCall): Message {
  const about = { id: newMessageId(), role: "tool", toolCallId, toolName } as const;
  return { ...about, content: LOST, isError: true, standsFor: "lost_result" };
}

/** Returns the incomplete answer of a program that ended during it; undefined if there is no text. */
export const cutAnswer = (text: string): Message | undefined =>
  text.trim() === "" ? undefined : {
    id: newMessageId(),
    role: "assistant",
    content: `${text.trimEnd()}\n\n${CUT_OFF}`,
  };
