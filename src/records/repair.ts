/** Conversations that broke off, made whole: servers refuse a call without its result. @module */

import { newMessageId, withOwnIds } from "../text/parts.ts";
import type { Message, ToolCall } from "../types/message.ts";

const LOST = "Interrupted: the program ended before this call did. What it did is not known.";
const CUT_OFF = "[Interrupted]";

/**
 * `messages` in which each call has its one result, right behind it: those that are missing say so,
 * those of no call are left out. It begins with what a person said. A call whose id is empty, or is
 * that of an earlier call, gets a new id.
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
    // One by one: very many do not fit on the stack as arguments.
    for (const result of open.results) whole.push(result);
    open = new OpenCalls(message.toolCalls ?? [], callIds);
    whole.push(message.toolCalls ? { ...message, toolCalls: open.calls } : message);
  }
  const isCut = open.results.some(isLost);
  for (const result of open.results) whole.push(result);
  // Some chat templates refuse a person's message after results.
  if (isCut || whole.at(-1)?.role === "tool") {
    const note: Message = { role: "assistant", content: CUT_OFF, standsFor: "lost_answer" };
    whole.push({ ...note, id: newMessageId() });
  }
  return whole;
}

/** The calls of one message, until their results are read. */
class OpenCalls {
  readonly calls: ToolCall[];
  /** A result for each call; it says that it is lost until its own is read. */
  readonly results: Message[];
  /** The positions of the calls without their own result, by the id on record; the first is last. */
  readonly #waiting: Map<string | undefined, number[]>;

  /** @param taken the ids of all calls before; those of these calls are added */
  constructor(calls: readonly ToolCall[], taken: Set<string>) {
    this.calls = withOwnIds(calls, taken);
    this.results = this.calls.map(lostResult);
    this.#waiting = Map.groupBy([...calls.keys()].reverse(), (at) => calls[at]!.id);
  }

  /** Takes a result, which gets the name of its call; a result of no call is left out. */
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

/** The answer of which no more is on record, as the program ended amid it; undefined where nothing is. */
export function cutAnswer(text: string, reasoning: string): Message | undefined {
  if (text.trim() === "" && reasoning.trim() === "") return undefined;
  const about = { id: newMessageId(), role: "assistant", ...reasoning && { reasoning } } as const;
  return text.trim() === ""
    ? { ...about, content: CUT_OFF, standsFor: "lost_answer" }
    : { ...about, content: `${text.trimEnd()}\n\n${CUT_OFF}` };
}

/** The number of calls open when the last turn was cut off: 0 before an answer; undefined if it was not. */
export function openCallsAtCut(messages: readonly Message[]): number | undefined {
  const last = messages.at(-1);
  if (last?.role === "user") return 0;
  if (last?.standsFor !== "lost_answer") return undefined;
  return messages.slice(0, -1).reverse().findIndex((message) => !isLost(message));
}
