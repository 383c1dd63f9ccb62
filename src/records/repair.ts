/** Completes interrupted conversations: servers reject a call without a result. @module */

import { newMessageId, withOwnIds } from "../text/parts.ts";
import type { Message, ToolCall } from "../types/message.ts";

const LOST = "Interrupted: the program ended before this call did. Its effects are unknown.";
const CUT_OFF = "[Interrupted]";

/**
 * Returns `messages` with exactly one result right after each call. Missing results say so, and results without a
 * call are dropped. The first message is the user's. A call with an empty or repeated id gets a new one.
 */
export function repaired(messages: readonly Message[]): Message[] {
  const whole: Message[] = [];
  const callIds = new Set([""]);
  let open = new OpenCalls([], callIds);
  for (const message of messages) {
    if (message.role === "system" || whole.length === 0 && message.role !== "user") continue;
    if (message.role === "tool") {
      open.answer(message);
      continue;
    }
    // One at a time, because very many do not fit on the stack as arguments.
    for (const result of open.results) whole.push(result);
    open = new OpenCalls(message.toolCalls ?? [], callIds);
    whole.push(message.toolCalls ? { ...message, toolCalls: open.calls } : message);
  }
  const isCut = open.results.some(isLost);
  for (const result of open.results) whole.push(result);
  // Some chat templates reject a user message after results.
  if (isCut || whole.at(-1)?.role === "tool") {
    const note: Message = { role: "assistant", content: CUT_OFF, standsFor: "lost_answer" };
    whole.push({ ...note, id: newMessageId() });
  }
  return whole;
}

/** The calls of one message, until their results are read. */
class OpenCalls {
  readonly calls: ToolCall[];
  /** The results of the calls. Each says that it is lost until its own is read. */
  readonly results: Message[];
  /** The positions of the calls without a result by recorded id, in reverse order. */
  readonly #waiting: Map<string | undefined, number[]>;

  /** @param usedIds the ids of all earlier calls; the ids of these calls are added */
  constructor(calls: readonly ToolCall[], usedIds: Set<string>) {
    this.calls = withOwnIds(calls, usedIds);
    this.results = this.calls.map(lostResult);
    this.#waiting = Map.groupBy([...calls.keys()].reverse(), (at) => calls[at]!.id);
  }

  answer(result: Message): void {
    const at = this.#waiting.get(result.toolCallId)?.pop();
    if (at === undefined) return;
    const { id, name } = this.calls[at]!;
    this.results[at] = { ...result, toolCallId: id, toolName: name };
  }
}

function lostResult({ id: toolCallId, name: toolName }: ToolCall): Message {
  const about = { id: newMessageId(), role: "tool", toolCallId, toolName } as const;
  return { ...about, content: LOST, isError: true, standsFor: "lost_result" };
}

const isLost = ({ standsFor }: Message) => standsFor === "lost_result";

/** Returns the incomplete answer of a program that ended during it; undefined if there is no text. */
export function cutAnswer(text: string, reasoning: string): Message | undefined {
  if (text.trim() === "" && reasoning.trim() === "") return undefined;
  const about = { id: newMessageId(), role: "assistant", ...reasoning && { reasoning } } as const;
  return text.trim() === ""
    ? { ...about, content: CUT_OFF, standsFor: "lost_answer" }
    : { ...about, content: `${text.trimEnd()}\n\n${CUT_OFF}` };
}

/** Returns the number of open calls if the last turn was interrupted, 0 before an answer; otherwise undefined. */
export function openCallsAtCut(messages: readonly Message[]): number | undefined {
  const last = messages.at(-1);
  if (last?.role === "user") return 0;
  if (last?.standsFor !== "lost_answer") return undefined;
  return messages.slice(0, -1).reverse().findIndex((message) => !isLost(message));
}
