import { count, thousands } from "../text/count.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { shortCommand } from "../tools/shell/jobs.ts";
import { sandboxLimitText } from "../tools/shell/limit_text.ts";
import type { Job, NewestOutput, SubCall, SubProgress } from "../types/tool.ts";
import type { RetryNotice, ToolExecution, TurnEvent } from "../types/event.ts";
import { callText } from "./call_text.ts";

const MAX_SUB_CALL_CHARS = 100;

/** Returns a sub-agent's call in the form of the agent's own. */
export const asExecution = (call: SubCall): ToolExecution => ({
  ...{ toolCallId: "", arguments: {}, result: "", isError: call.outcome !== "done" },
  ...call,
});

/** @param goOn How the user continues after the maximum number of rounds. */
export function progressLine(
  event: TurnEvent,
  goOn = 'Say "go on" to continue.',
): string | undefined {
  switch (event.type) {
    case "tool_done": {
      const { verb, object, counts, ending, reason } = callText(event.exec);
      const why = oneLine(event.exec.refusal ?? reason);
      const facts = [`${verb} ${object}`, counts, ending, why, limitOfCall(event.exec)];
      const refused = event.exec.details?.calls?.filter(({ outcome }) => outcome === "refused");
      const ofAgent =
        refused?.map((exec) => progressLine({ type: "tool_done", exec: asExecution(exec) })) ?? [];
      return [`· ${facts.filter(Boolean).join(" · ")}`, ...ofAgent].join("\n");
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
      return `· ${oneLine(event.message)} ${event.code === "max_rounds" ? goOn : ""}`.trimEnd();
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
  ].map((row) => shortened(oneLine(row), MAX_SUB_CALL_CHARS));
  return [...rows, `${count(made, "call")}, ${thousands(tokens)} tokens`].join("\n");
}

/** Returns why a request failed, and when it is repeated. */
export function retryParts({ reason, attempt, maxAttempts, delayMs }: RetryNotice) {
  const seconds = Math.ceil(delayMs / 1000);
  const time = seconds > 0 ? `in ${seconds} s` : "now";
  const next = `next try ${time} (${attempt + 1} of ${maxAttempts})`;
  return [oneLine(reason).replace(/\.$/, ""), next] as const;
}

/** Returns the limit of the sandbox that made a command fail, with its setting; undefined if no limit made it fail. */
export const limitOfCall = ({ details }: ToolExecution): string | undefined =>
  details?.limit && sandboxLimitText(details.limit);

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
