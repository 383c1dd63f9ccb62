import { subjectOf } from "../../agent/run_tools.ts";
import type { Session } from "../../session/session.ts";
import { typedText } from "../../text/parts.ts";
import type { Message, ToolCall } from "../../types/message.ts";
import { pastExecution } from "../past_execution.ts";
import { endedCall } from "./call_updates.ts";
import { userBlocks } from "./content.ts";

export function* replayUpdates({ agent, executions }: Session): Generator<Record<string, unknown>> {
  const { messages, workingDir } = agent.state;
  const past = {
    executions,
    subjectOf: (name: string, args: Record<string, unknown>) =>
      subjectOf(agent.tools.find((tool) => tool.name === name), args),
  };
  const calls = new Map<string, ToolCall>();
  for (const message of messages) {
    for (const call of message.toolCalls ?? []) calls.set(call.id, call);
    if (message.standsFor !== undefined) continue;
    if (message.role === "tool") {
      const ended = endedCall(pastExecution(message, calls, past), workingDir);
      const rawInput = calls.get(ended.toolCallId)?.arguments;
      yield { sessionUpdate: "tool_call", ...ended, rawInput };
    } else yield* textUpdates(message);
  }
}

function* textUpdates(message: Message): Generator<Record<string, unknown>> {
  const { role, reasoning = "", id: messageId = crypto.randomUUID() } = message;
  if (role === "user") {
    for (const block of userBlocks(message)) {
      yield { sessionUpdate: "user_message_chunk", content: block, messageId };
    }
    return;
  }
  const said = [["agent_thought_chunk", reasoning], [
    "agent_message_chunk",
    typedText(message),
  ]] as const;
  for (const [sessionUpdate, text] of said) {
    if (text !== "") yield { sessionUpdate, content: { type: "text", text }, messageId };
  }
}
