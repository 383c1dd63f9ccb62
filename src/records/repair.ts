/**
 * Conversations that broke off, made whole: servers refuse a call without its result.
 *
 * @module
 */

import type { Message } from "../types/message.ts";

const LOST = "Interrupted: the program ended before this call did. What it did is not known.";
const CUT = "[Interrupted]";

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
    whole.push({ role: "assistant", content: CUT });
  }
  return whole;
}

/** How the last turn of repaired `messages` was cut off, in words; undefined where it was not. */
export function cutOf(messages: readonly Message[]): string | undefined {
  const last = messages.at(-1);
  if (last?.role === "user") return "before the answer";
  if (last?.content !== CUT) return undefined;
  const open = messages.slice(0, -1).reverse().findIndex(({ content }) => content !== LOST);
  return open === 0
    ? "before the answer"
    : `its open ${open === 1 ? "call is" : "calls are"} answered as interrupted`;
}
