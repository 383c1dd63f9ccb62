/** Shows earlier turns as they looked. @module */

import type { ExecutionFacts } from "../../../records/execution.ts";
import type { Screen } from "../screen/screen.ts";
import { count } from "../../../text/count.ts";
import { oneLine } from "../../../text/one_line.ts";
import { extensionNote, isTyped, typedText } from "../../../text/parts.ts";
import type { Message, ToolCall } from "../../../types/message.ts";
import { type PastCalls, pastExecution } from "../../past_execution.ts";
import type { TurnView } from "./turn_view.ts";

/** The approximate number of rows to replay, in whole messages. The newest message is always shown. */
const MAX_ROWS = 200;
const MAX_TYPED_ROWS = 20;

interface ReplayOptions extends PastCalls {
  screen: Pick<Screen, "print" | "echo">;
  /** The view of later turns, which can unfold what is folded here. */
  view: Pick<TurnView, "begin" | "onEvent" | "end" | "stop">;
  columns: number;
  dim: (text: string) => string;
}

export function replay(messages: readonly Message[], options: ReplayOptions): void {
  const { screen, view, executions, columns, dim } = options;
  const from = firstReplayed(messages, executions, columns);
  if (from > 0) screen.print(dim(`· ${count(from, "earlier message")}`));
  const calls = new Map<string, ToolCall>();
  let isOpen = false;
  const begin = () => {
    if (!isOpen) view.begin("");
    isOpen = true;
  };
  const end = (isStopped = false) => {
    if (isOpen && isStopped) view.stop();
    else if (isOpen) view.end();
    isOpen = false;
  };
  for (const [at, message] of messages.entries()) {
    for (const call of message.toolCalls ?? []) calls.set(call.id, call);
    if (at < from) continue;
    if (message.role === "user") {
      const note = extensionNote(message);
      if (note !== undefined) {
        end();
        screen.print(dim(`· ${oneLine(note.split("\n")[0]!)}`));
      }
      if (message.standsFor !== undefined) continue;
      end();
      screen.echo({ type: "text", text: typedText(message) });
    } else if (message.role === "tool") {
      begin();
      view.onEvent({ type: "tool_done", exec: pastExecution(message, calls, options) });
    } else if (message.standsFor === "interruption") {
      begin();
      end(true);
    } else if (message.standsFor === undefined && message.content !== "") {
      begin();
      view.onEvent({ type: "text_delta", text: typedText(message) });
      if (message.parts) end(true);
    }
  }
  end();
}

/** The index of the first replayed message: the start of a turn if possible. */
function firstReplayed(
  messages: readonly Message[],
  executions: ReadonlyMap<string, ExecutionFacts>,
  columns: number,
): number {
  let rows = 0;
  const from = 1 + messages.findLastIndex((message, at) => {
    rows += rowsOfMessage(message, executions, columns);
    return rows > MAX_ROWS && at < messages.length - 1;
  });
  const turn = messages.findIndex((message, at) => at >= from && isTyped(message));
  return turn === -1 || from === 0 ? from : turn;
}

function rowsOfMessage(
  message: Message,
  executions: ReadonlyMap<string, ExecutionFacts>,
  columns: number,
): number {
  const { role, content, toolCallId = "" } = message;
  if (role === "tool") return 4 + (executions.get(toolCallId)?.details?.change?.lines?.length ?? 0);
  // Pasted text is folded.
  const [text, most] = role === "user" ? [typedText(message), MAX_TYPED_ROWS] : [content, MAX_ROWS];
  const rows = text.split("\n").map((line) => 1 + Math.floor(line.length / columns));
  return 1 + Math.min(most, rows.reduce((sum, one) => sum + one));
}
