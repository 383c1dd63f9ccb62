/** A turn's progress, line by line. @module */

import { ownResult } from "../agent/run_tools.ts";
import { count, duration, thousands } from "../text/count.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { WRITTEN_ARGUMENTS } from "../tools/definition.ts";
import { shortCommand } from "../tools/shell/jobs.ts";
import type { Job, NewestOutput, SubProgress } from "../types/tool.ts";
import type { RetryNotice, ToolExecution, TurnEvent } from "../types/event.ts";

/** The most characters of a call that are shown. */
const MAX_CALL_CHARS = 100;

/** A call in one line, safe to show, such as `read_file src/a.ts limit=80`. */
export function describeCall(name: string, args: Record<string, unknown>): string {
  const named = Object.entries(args).filter(([key]) => !WRITTEN_ARGUMENTS.includes(key));
  const values = named.map(([key, value]) =>
    typeof value === "string" ? value : `${key}=${JSON.stringify(value)}`
  );
  return shortened(oneLine(`${name} ${values.join(" ")}`), MAX_CALL_CHARS);
}

/** The line that reports an event on stderr; undefined for the events that need none. */
export function progressLine(event: TurnEvent): string | undefined {
  switch (event.type) {
    case "tool_done": {
      const { toolName, arguments: args } = event.exec;
      return `· ${describeCall(toolName, args)} (${outcomeText(event.exec)})`;
    }
    case "tool_call_recovered":
      return `· the call of ${oneLine(event.name)} was recovered from the answer's text`;
    case "text_retracted":
      return "· what the model wrote until here was its reasoning";
    case "retry":
      return `· ${retryText(event)}`;
    case "loading":
      return `· the server is loading ${oneLine(event.model)}`;
    case "queued":
      return "· queued behind another request";
    case "notice":
      return `· ${oneLine(event.message)}`;
  }
}

/** The newest output of a call that runs: the last lines or, given a number of characters, as much of its end. */
export function newestText(newest: NewestOutput, maxChars?: number): string {
  const output = newest(maxChars);
  return typeof output === "string"
    ? output
    : subProgressText(output).slice(-(maxChars ?? Infinity));
}

function subProgressText({ calls, running, made, tokens }: SubProgress): string {
  const text = ({ toolName, subject = {} }: NonNullable<typeof running>) =>
    `${toolName} ${subject.query ?? subject.path ?? subject.command ?? subject.url ?? ""}`;
  const rows = [
    ...calls.map((one) => `${text(one)}${one.outcome === "done" ? "" : ` (${one.outcome})`}`),
    running ? text(running) : "waiting for the model",
  ].map((row) => shortened(oneLine(row), MAX_CALL_CHARS));
  return [...rows, `${count(made, "call")}, ${thousands(tokens)} tokens`].join("\n");
}

/** When a failed request is repeated, which must not be cut off, and its failure. */
export function retryText({ reason, attempt, maxAttempts, delayMs }: RetryNotice): string {
  return `attempt ${attempt + 1} of ${maxAttempts} in ${duration(delayMs)}: ${oneLine(reason)}`;
}

function outcomeText(exec: ToolExecution): string {
  const { outcome, refusal } = exec;
  const time = duration(exec.durationMs);
  const code = failedExitCode(exec);
  return {
    done: code === undefined ? time : `exit code ${code}, ${time}`,
    refused: refusal === undefined ? "refused" : `refused: ${oneLine(refusal)}`,
    stopped: `stopped, ${time}`,
    not_run: "not run",
    failed: `failed: ${shortened(oneLine(failureOf(exec)), 120)}`,
  }[outcome];
}

/** The first line of why a call failed. */
export const failureOf = (exec: ToolExecution): string => ownResult(exec).split("\n", 1)[0]!;

/** The exit code of a command that ended with another than 0. */
export function failedExitCode({ outcome, details }: ToolExecution): number | undefined {
  return outcome === "done" && details?.exitCode !== 0 ? details?.exitCode : undefined;
}

export function jobEnded(job: Job): string {
  return `job ${job.number} is over: ${job.outcome} (${oneLine(shortCommand(job))})`;
}
