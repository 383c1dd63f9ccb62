/** Tracks the calls of one turn in the editor: announced, running, finished. @module */

import type { ToolExecution, TurnEvent } from "../../types/event.ts";
import type { NewestOutput } from "../../types/tool.ts";
import { newestText } from "../progress.ts";
import { begunCall, type CallUpdate, endedCall, printedText } from "./call_updates.ts";

const OUTPUT_MS = 250;
const MAX_OUTPUT_CHARS = 8000;

export class ShownCalls {
  readonly #open = new Set<string>();
  #outputTimer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly update: (update: Record<string, unknown>) => void) {}

  begin(call: CallUpdate): void {
    const isKnown = this.#open.has(call.toolCallId);
    this.#open.add(call.toolCallId);
    this.update({ sessionUpdate: isKnown ? "tool_call_update" : "tool_call", ...call });
  }

  start(
    { name, args, id, subject }: Extract<TurnEvent, { type: "tool_start" }>,
    folder: string,
  ): void {
    const call = { id, toolName: name, arguments: args, ...subject && { subject } };
    this.begin(begunCall(call, folder, "in_progress"));
  }

  end(exec: ToolExecution, folder: string): void {
    this.stopOutput();
    const { toolCallId: id } = exec;
    if (!this.#open.has(id)) this.begin(begunCall({ ...exec, id }, folder, "pending"));
    this.#open.delete(id);
    this.update({ sessionUpdate: "tool_call_update", ...endedCall(exec, folder) });
  }

  /** Reports the answer to a call that existed only for its question. */
  answer(toolCallId: string, isYes: boolean): void {
    this.#open.delete(toolCallId);
    const status = isYes ? "completed" : "failed";
    this.update({ sessionUpdate: "tool_call_update", toolCallId, status });
  }

  /** Shows the end of the newest call's output when it changes. The editor replaces the previous content. */
  showOutput(newest: NewestOutput): void {
    this.stopOutput();
    const toolCallId = [...this.#open].at(-1);
    if (toolCallId === undefined) return;
    let shown = "";
    this.#outputTimer = setInterval(() => {
      const text = newestText(newest, MAX_OUTPUT_CHARS).trimEnd();
      if (text === shown) return;
      shown = text;
      const content = [printedText(text)];
      this.update({ sessionUpdate: "tool_call_update", toolCallId, content });
    }, OUTPUT_MS);
  }

  stopOutput(): void {
    clearInterval(this.#outputTimer);
  }

  /** Ends the turn. A call that an error left open must not stay in progress. */
  close(): void {
    this.stopOutput();
    for (const toolCallId of this.#open) {
      this.update({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
    }
    this.#open.clear();
  }
}
