/**
 * One prompt without a terminal: the answer on stdout, progress on stderr.
 *
 * @module
 */

import type { CopilotAgent } from "../../agent/agent.ts";
import { NO_ANSWER } from "../../agent/ask_model.ts";
import { BackendError } from "../../errors.ts";
import { sanitizeProse } from "../../text/sanitize.ts";
import type { ToolExecution, TurnEvent, TurnResult } from "../../types/event.ts";
import type { Jobs } from "../../types/tool.ts";
import type { Format } from "../../cli/args.ts";
import { EXIT } from "../exit_codes.ts";
import { processTurnHelpfully } from "../../session/fit_model.ts";
import { withHint } from "../../session/hints.ts";
import { jobEnded } from "../../session/commands/jobs.ts";
import { jsonLine, type ResultLine, resultLine } from "./json_output.ts";
import { progressLine } from "../progress.ts";
import type { SessionRecord } from "../../session/record.ts";
import type { Output } from "../../terminal/stdio.ts";
import { terminalSize } from "../../terminal/tty.ts";

/** What a headless run works with. */
export interface HeadlessOptions {
  agent: CopilotAgent;
  jobs: Jobs;
  prompt: string;
  format: Format;
  stdout: Output;
  stderr: Output;
  /** True when one of the two is a terminal, which the answer's bytes must not drive. */
  terminal: boolean;
  signal: AbortSignal;
  /** The exit code of a turn that `signal` ended. */
  stopCode: () => number;
  /** Whether the person named the model. */
  modelNamed: boolean;
  /** Keeps the conversation, where it goes on from an earlier one. */
  record?: SessionRecord | undefined;
  /** Whether a call was refused by the policy. */
  refused: () => boolean;
  /** The rows below the line of a call that ended, where a person is to see them on stderr. */
  rows?: ((exec: ToolExecution, columns: number) => string[]) | undefined;
}

/** Runs one turn and reports it; the exit code. */
export async function runHeadless(options: HeadlessOptions): Promise<number> {
  const { agent, format, stdout, stderr } = options;
  const start = performance.now();
  const shown = (text: string) => options.terminal ? sanitizeProse(text) : text;
  const executions: TurnResult["toolExecutions"] = [];
  let streamed = false;
  let before = "";
  let toldRecovery = false;
  const onEvent = (event: TurnEvent) => {
    if (event.type === "thinking" || event.type === "tool_start") options.record?.sync();
    if (event.type === "tool_done") executions.push(event.exec);
    if (format === "stream-json") return stdout.write(jsonLine(event));
    if (event.type === "text_delta" && format === "text") {
      streamed = true;
      return stdout.write(shown(event.text));
    }
    const progress = progressLine(event);
    // That it still loads is no news.
    if (progress === undefined || event.type === "loading" && progress === before) return;
    before = progress;
    // Once is enough: with some models each call is.
    if (event.type === "tool_call_recovered") {
      if (toldRecovery) return;
      toldRecovery = true;
    }
    if (format === "text" && stdout.midLine) stdout.write("\n");
    const rows = event.type === "tool_done"
      ? options.rows?.(event.exec, terminalSize().columns) ?? []
      : [];
    stderr.write([progress, ...rows, ""].join("\n"));
  };
  options.jobs.onEnd = (job) => onEvent({ type: "notice", level: "info", message: jobEnded(job) });
  const finish = (result: Pick<ResultLine, "exitCode" | "response"> & Partial<ResultLine>) => {
    options.record?.sync();
    const exitCode = options.signal.aborted ? options.stopCode() : result.exitCode;
    if (format === "text") {
      if (!streamed) stdout.write(shown(result.response));
      if (stdout.midLine) stdout.write("\n");
    } else {
      stdout.write(resultLine({
        ...result,
        exitCode,
        toolExecutions: executions,
        durationMs: Math.round(performance.now() - start),
      }));
    }
    return exitCode;
  };
  try {
    const { toolExecutions: _, inputTokens, outputTokens, ...result } = await processTurnHelpfully(
      agent,
      options.prompt,
      {
        onEvent,
        signal: options.signal,
        ready: () => stdout.room(),
        modelNamed: options.modelNamed,
      },
    );
    const usage = { inputTokens, outputTokens };
    if (result.stopReason === "done" && result.response === NO_ANSWER) {
      const error = "the model gave no answer";
      stderr.write(`copilot: ${error}\n`);
      return finish({ exitCode: EXIT.error, response: "", error, usage });
    }
    return finish({ ...result, exitCode: codeOf(result.stopReason, options.refused()), usage });
  } catch (error) {
    const message = withHint(error, agent.config);
    const response = error instanceof BackendError ? error.partialText : "";
    const exitCode = finish({ exitCode: EXIT.error, response, error: message });
    stderr.write(`copilot: ${message}\n`);
    return exitCode;
  }
}

/** Of a turn that nobody stopped. */
function codeOf(stopReason: TurnResult["stopReason"], refused: boolean): number {
  if (stopReason !== "done") return EXIT.limit;
  return refused ? EXIT.refused : EXIT.done;
}
