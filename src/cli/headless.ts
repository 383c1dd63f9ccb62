/**
 * One prompt without a terminal: the answer on stdout, progress on stderr.
 *
 * @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import { NO_ANSWER } from "../agent/ask_model.ts";
import { BackendError } from "../errors.ts";
import { sanitizeProse } from "../text/sanitize.ts";
import type { TurnEvent, TurnResult } from "../types.ts";
import { EXIT } from "./exit.ts";
import { processTurnHelpfully } from "./first_turn.ts";
import { oneLine, progressLine } from "./present.ts";
import type { Output } from "./stdio.ts";

/** What `--output` can be. */
export const FORMATS = ["text", "json", "stream-json"] as const;
/** What `--output` can be. */
export type Format = typeof FORMATS[number];

/** The last line of `stream-json`, and the whole of `json`. */
export interface ResultLine {
  type: "result";
  /** The exit code. */
  exitCode: number;
  /** Why the turn ended; absent when it failed. */
  stopReason?: TurnResult["stopReason"];
  /** The final answer; what there was of it when the turn failed. */
  response: string;
  /** What went wrong, in one line. */
  error?: string;
  /** {@linkcode TurnResult}'s. */
  toolExecutions: TurnResult["toolExecutions"];
  usage: { inputTokens: number; outputTokens: number };
  durationMs: number;
}

/** What a headless run works with. */
export interface HeadlessOptions {
  agent: CopilotAgent;
  prompt: string;
  format: Format;
  stdout: Output;
  stderr: Output;
  /** True when one of the two is a terminal, which the answer's bytes must not drive. */
  terminal: boolean;
  signal: AbortSignal;
  /** Whether the person named the model. */
  modelNamed: boolean;
  /** Whether a call was refused by the policy. */
  refused: () => boolean;
  /** The exit code of the signal that came, if one did. */
  signalCode: () => number | undefined;
}

/** Runs one turn and reports it; the exit code. */
export async function runHeadless(options: HeadlessOptions): Promise<number> {
  const { agent, format, stdout, stderr } = options;
  const start = performance.now();
  const shown = (text: string) => options.terminal ? sanitizeProse(text) : text;
  const line = (value: unknown) => stdout.write(`${JSON.stringify(value)}\n`);
  const executions: TurnResult["toolExecutions"] = [];
  let streamed = false;
  const onEvent = (event: TurnEvent) => {
    if (event.type === "tool_done") executions.push(event.exec);
    if (format === "stream-json") return line(event);
    if (event.type === "text_delta" && format === "text") {
      streamed = true;
      return stdout.write(shown(event.text));
    }
    const progress = progressLine(event);
    if (progress === undefined) return;
    if (format === "text" && stdout.midLine) stdout.write("\n");
    stderr.write(`${progress}\n`);
  };
  const finish = (result: Pick<ResultLine, "exitCode" | "response"> & Partial<ResultLine>) => {
    const exitCode = options.signalCode() ?? result.exitCode;
    if (format === "text") {
      if (!streamed) stdout.write(shown(result.response));
      if (stdout.midLine) stdout.write("\n");
    } else {
      const { inputTokens = 0, outputTokens = 0 } = result.usage ?? {};
      line({
        type: "result",
        ...result,
        exitCode,
        toolExecutions: executions,
        usage: { inputTokens, outputTokens },
        durationMs: Math.round(performance.now() - start),
      });
    }
    return exitCode;
  };
  try {
    const { toolExecutions: _, inputTokens, outputTokens, ...result } = await processTurnHelpfully(
      agent,
      options.prompt,
      { onEvent, signal: options.signal, modelNamed: options.modelNamed },
    );
    const exitCode = result.stopReason === "done" && result.response === NO_ANSWER
      ? EXIT.error
      : codeOf(result.stopReason, options.refused());
    return finish({ ...result, exitCode, usage: { inputTokens, outputTokens } });
  } catch (error) {
    const { message } = error as Error;
    const response = error instanceof BackendError ? error.partialText : "";
    const exitCode = finish({ exitCode: EXIT.error, response, error: message });
    stderr.write(`copilot: ${oneLine(message)}\n`);
    return exitCode;
  }
}

function codeOf(stopReason: TurnResult["stopReason"], refused: boolean): number {
  if (stopReason === "aborted") return EXIT.interrupted;
  if (stopReason !== "done") return EXIT.limit;
  return refused ? EXIT.refused : EXIT.done;
}
