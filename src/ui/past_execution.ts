import type { ExecutionFacts } from "../records/execution.ts";
import type { ToolExecution } from "../types/event.ts";
import type { Message, ToolCall } from "../types/message.ts";
import type { Subject } from "../types/tool.ts";

export interface PastCalls {
  /** The outcomes of calls, by id. */
  executions: ReadonlyMap<string, ExecutionFacts>;
  subjectOf(name: string, args: Record<string, unknown>): Subject | undefined;
}

export function pastExecution(
  { toolCallId = "", toolName = "", content, isError = false }: Message,
  calls: ReadonlyMap<string, ToolCall>,
  { executions, subjectOf }: PastCalls,
): ToolExecution {
  const args = calls.get(toolCallId)?.arguments ?? {};
  const subject = subjectOf(toolName, args);
  // The duration of a call without a recorded end is unknown.
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
