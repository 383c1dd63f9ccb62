import { ownResult } from "../agent/run_tools.ts";
import { count, duration, thousands } from "../text/count.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { WRITTEN_ARGUMENTS } from "../tools/definition.ts";
import { shortCommand } from "../tools/shell/jobs.ts";
import { sandboxLimitText } from "../tools/shell/limit_text.ts";
import type { Job, NewestOutput, SubProgress } from "../types/tool.ts";
import type { RetryNotice, ToolExecution, TurnEvent } from "../types/event.ts";

const MAX_CALL_CHARS = 100;

/** Describes a call in one line that is safe to print, such as `read_file src/a.ts limit=80`. */
export function describeCall(name: string, args: Record<string, unknown>): string {
  const named = Object.entries(args).filter(([key]) => !WRITTEN_ARGUMENTS.includes(key));
  const values = named.map(([key, value], at) =>
    typeof value !== "string"
      ? `${key}=${JSON.stringify(value)}`
      : at === 0
      ? value
      : `${key}=${/\s/.test(value) ? JSON.stringify(value) : value}`
  );
  return shortened(oneLine(`${name} ${values.join(" ")}`), MAX_CALL_CHARS);
}

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
      return `· ${retryParts(event).join(" · ")}`;
    case "loading":
      return `· the server is loading ${oneLine(event.model)}`;
    case "queued":
      return "· queued behind another request";
    case "notice":
      return `· ${oneLine(event.message)}`;
  }
}

/** Returns the newest output of a running call: its last lines, or its last characters if a number is given. */
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

/** Returns why a request failed, and when it is repeated. */
export function retryParts({ reason, attempt, maxAttempts, delayMs }: RetryNotice) {
  const seconds = Math.ceil(delayMs / 1000);
  const next = attempt + 1 === maxAttempts
    ? "last attempt"
    : `attempt ${attempt + 1} of ${maxAttempts}`;
  const time = seconds > 0 ? `in ${seconds} s` : "now";
  return [oneLine(reason).replace(/\.$/, ""), `${next} ${time}`] as const;
}

function outcomeText(exec: ToolExecution): string {
  const { outcome, refusal } = exec;
  const time = duration(exec.durationMs);
  const code = failedExitCode(exec);
  return {
    done: [code === undefined ? time : `exit code ${code}, ${time}`, limitOfCall(exec)]
      .filter(Boolean).join("; "),
    refused: refusal === undefined ? "refused" : `refused: ${oneLine(refusal)}`,
    stopped: `stopped, ${time}`,
    not_run: "not run",
    failed: `failed: ${shortened(oneLine(failureOf(exec)), 120)}`,
  }[outcome];
}

/** Returns the limit of the sandbox that made a command fail, with its setting; undefined if there is none. */
export const limitOfCall = ({ details }: ToolExecution): string | undefined =>
  details?.limit && sandboxLimitText(details.limit);

/** Returns why a call failed, without its first words, which its row has, and without the advice to the model. */
export function failureOf(exec: ToolExecution): string {
  const line = ownResult(exec).split("\n", 1)[0]!;
  const [, reason = line] = /^Cannot .*? as (.+?)(?:[:.](?: .*)?)?$/.exec(line) ?? [];
  return reason.replace(/\b(old|new)_string\b/g, "the $1 text");
}

export function failedExitCode({ outcome, details }: ToolExecution): number | undefined {
  return outcome === "done" && details?.exitCode !== 0 ? details?.exitCode : undefined;
}

export function jobEnded(job: Job): string {
  const { number, outcome, exitCode, limit } = job;
  const end = exitCode === 0
    ? "done"
    : exitCode === undefined
    ? `ended (${outcome})`
    : `failed (exit ${exitCode})`;
  const why = limit === undefined ? "" : ` (${sandboxLimitText(limit)})`;
  return `Job ${number} ${end}: ${oneLine(shortCommand(job))}${why}`;
}
