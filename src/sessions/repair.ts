/**
 * Conversations that broke off, made whole: servers refuse a call without its result.
 *
 * @module
 */

import type { Message } from "../types.ts";

const LOST = "Interrupted: the program ended before this call did. What it did is not known.";

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
      if (at >= 0 && open[at]!.content === LOST) open[at] = message;
      continue;
    }
    close();
    whole.push(message);
    open = (message.toolCalls ?? []).map(({ id, name }) => ({
      role: "tool",
      toolCallId: id,
      toolName: name,
      content: LOST,
      isError: true,
    }));
  }
  const isCut = open.some(({ content }) => content === LOST);
  close();
  // Some chat templates refuse a person's message after results.
  if (isCut || whole.at(-1)?.role === "tool") {
    whole.push({ role: "assistant", content: "[Interrupted]" });
  }
  return whole;
}
