import { objectOr } from "../text/json.ts";
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
  const given = calls.get(toolCallId)?.arguments ?? {};
  // A server's tool is shown by its own name.
  const { name, arguments: inside, ...others } = given;
  const isForwarded = toolName === "call_tool" && typeof name === "string";
  const args = isForwarded ? { ...others, ...objectOr(inside) } : given;
  const subject = subjectOf(toolName, args);
  // The duration of a call without a recorded end is unknown.
  const unknown = { durationMs: 0, outcome: isError ? "failed" : "done" } as const;
  return {
    toolCallId,
    toolName: isForwarded ? name : toolName,
    arguments: args,
    ...subject && { subject },
    result: content,
    isError,
    ...executions.get(toolCallId) ?? unknown,
  };
}
