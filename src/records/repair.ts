/** Conversations that broke off, made whole: servers refuse a call without its result. @module */

import { newMessageId } from "../text/parts.ts";
import type { Message, ToolCall } from "../types/message.ts";

const LOST = "Interrupted: the program ended before this call did. What it did is not known.";
const CUT_OFF = "[Interrupted]";

/**
 * `messages` in which each call has its one result, right behind it: those that are missing say so,
 * those of no call are left out. It begins with what a person said.
 */
export function repaired(messages: readonly Message[]): Message[] {
  const whole: Message[] = [];
  let open: Message[] = [];
  const close = () => {
    whole.push(...open);
    open = [];
  };
  for (const message of messages) {
    if (message.role === "system" || whole.length === 0 && message.role !== "user") continue;
    if (message.role === "tool") {
      const at = open.findIndex(({ toolCallId }) => toolCallId === message.toolCallId);
      if (at >= 0 && isLost(open[at])) open[at] = message;
      continue;
    }
    close();
    whole.push(message);
    open = (message.toolCalls ?? []).map(lostResult);
  }
  const isCut = open.some(isLost);
  close();
  // Some chat templates refuse a person's message after results.
  if (isCut || whole.at(-1)?.role === "tool") {
    const note: Message = { role: "assistant", content: CUT_OFF, standsFor: "lost_answer" };
    whole.push({ ...note, id: newMessageId() });
  }
  return whole;
}

function lostResult({ id, name }: ToolCall): Message {
  return {
    id: newMessageId(),
    role: "tool",
    toolCallId: id,
    toolName: name,
    content: LOST,
    isError: true,
    standsFor: "lost_result",
  };
}

function isLost(message: Message | undefined): boolean {
  return message?.standsFor === "lost_result";
}

/**
 * The number of calls that were open when the last turn of repaired `messages` was cut off: 0 before an
 * answer; undefined where it was not cut off.
 */
export function openCallsAtCut(messages: readonly Message[]): number | undefined {
  const last = messages.at(-1);
  if (last?.role === "user") return 0;
  if (last?.standsFor !== "lost_answer") return undefined;
  return messages.slice(0, -1).reverse().findIndex((message) => !isLost(message));
}
