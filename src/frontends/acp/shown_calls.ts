/** Tracks the calls of one turn in the editor: announced, running, finished. @module */

import type { ToolExecution, TurnEvent } from "../../types/event.ts";
import type { NewestOutput } from "../../types/tool.ts";
import { begunCall, type CallContent, type CallUpdate, endedCall } from "./call_updates.ts";
import { RunningOutput } from "./running_output.ts";

export class ShownCalls {
  /** Announced calls that are not finished. */
  readonly #open = new Set<string>();
  /** The editor's terminals that calls run in. */
  readonly #terminals = new Map<string, string>();
  #output: RunningOutput | undefined;

  constructor(private readonly update: (update: Record<string, unknown>) => void) {}

  /** Announces a call that needs approval or starts. */
  begin(call: CallUpdate): void {
    const isKnown = this.#open.has(call.toolCallId);
    this.#open.add(call.toolCallId);
    this.update({ sessionUpdate: isKnown ? "tool_call_update" : "tool_call", ...call });
  }

  /** Reports that a tool starts, in `folder`. */
  start(
    { name, args, id, subject }: Extract<TurnEvent, { type: "tool_start" }>,
    folder: string,
  ): void {
    const call = { id, toolName: name, arguments: args, ...subject && { subject } };
    this.begin(begunCall(call, folder, "in_progress"));
  }

  /** Reports that a call has finished. */
  end(exec: ToolExecution, folder: string): void {
    this.stopOutput();
    const { toolCallId, toolName, arguments: args, subject } = exec;
    if (!this.#open.has(toolCallId)) {
      const call = { id: toolCallId, toolName, arguments: args, ...subject && { subject } };
      this.begin(begunCall(call, folder, "pending"));
    }
    this.#open.delete(toolCallId);
    const ended = endedCall(exec, folder, this.#terminals.get(toolCallId));
    this.update({ sessionUpdate: "tool_call_update", ...ended });
  }

  /** Reports the answer to a call that existed only for its question. */
  answer(toolCallId: string, isYes: boolean): void {
    this.#open.delete(toolCallId);
    const status = isYes ? "completed" : "failed";
    this.update({ sessionUpdate: "tool_call_update", toolCallId, status });
  }

  /** Reports that a call runs in a terminal of the editor. */
  showTerminal(toolCallId: string | undefined, terminalId: string): void {
    if (toolCallId === undefined) return;
    this.#terminals.set(toolCallId, terminalId);
    const content: CallContent[] = [{ type: "terminal", terminalId }];
    this.update({ sessionUpdate: "tool_call_update", toolCallId, content });
  }

  /** Shows the output of the newest call while it runs. */
  showOutput(newest: NewestOutput): void {
    this.stopOutput();
    const toolCallId = [...this.#open].at(-1);
    if (toolCallId === undefined) return;
    this.#output = new RunningOutput(newest, (content) => {
      this.update({ sessionUpdate: "tool_call_update", toolCallId, content });
    });
  }

  stopOutput(): void {
    this.#output?.stop();
    this.#output = undefined;
  }

  /** Ends the turn. A call that an error left open must not stay in progress. */
  close(): void {
    this.stopOutput();
    for (const toolCallId of this.#open) {
      this.update({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
    }
    this.#open.clear();
    this.#terminals.clear();
  }
}
