/** A call of an earlier turn, as the record of the conversation has it. @module */

import type { ExecutionFacts } from "../records/execution.ts";
import type { ToolExecution } from "../types/event.ts";
import type { Message, ToolCall } from "../types/message.ts";
import type { Subject } from "../types/tool.ts";

export interface PastCalls {
  /** How calls ended, by their ids. */
  executions: ReadonlyMap<string, ExecutionFacts>;
  /** What a call is about, as its tool knows. */
  subjectOf(name: string, args: Record<string, unknown>): Subject | undefined;
}

/** The execution that a tool message reports; `calls` are those of the messages before it, by id. */
export function pastExecution(
  { toolCallId = "", toolName = "", content, isError = false }: Message,
  calls: ReadonlyMap<string, ToolCall>,
  { executions, subjectOf }: PastCalls,
): ToolExecution {
  const args = calls.get(toolCallId)?.arguments ?? {};
  const subject = subjectOf(toolName, args);
  // Nobody knows how long a call took whose end was lost.
  const unknown = { durationMs: 0, outcome: isError ? "failed" : "done" } as const;
  return {
    toolCallId,
    toolName,
    arguments: args,
    ...subject && { subject },
    result: content,
    isError,
    ...executions.get(toolCallId) ?? unknown,
  };
}
