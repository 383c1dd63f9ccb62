/**
 * What a person reads of a turn's progress, line by line.
 *
 * @module
 */

import { duration } from "../text/count.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { sanitize } from "../text/sanitize.ts";
import { rowsOf } from "../text/width.ts";
import { ADDED, DIM, REMOVED } from "../terminal/style.ts";
import { shortCommand } from "../tools/shell/jobs.ts";
import type { Job } from "../types/tool.ts";
import type { ToolExecution, TurnEvent } from "../types/event.ts";

/** The most characters of a call that are shown. */
const MAX_CALL_CHARS = 100;

/** What a write is made of has no place in one line. */
const TEXTS = ["content", "old_string", "new_string"];

/** `read_file src/a.ts limit=80`: a call in one line, safe to show. */
export function describeCall(name: string, args: Record<string, unknown>): string {
  const named = Object.entries(args).filter(([key]) => !TEXTS.includes(key));
  const values = named.map(([key, value]) =>
    typeof value === "string" ? value : `${key}=${JSON.stringify(value)}`
  );
  const text = oneLine(`${name} ${values.join(" ")}`);
  return shortened(text, MAX_CALL_CHARS);
}

/** The line that reports an event on stderr; undefined for the events that need none. */
export function progressLine(event: TurnEvent): string | undefined {
  switch (event.type) {
    case "tool_done":
      return `· ${describeCall(event.exec.toolName, event.exec.arguments)} (${
        outcome(event.exec)
      })`;
    case "tool_call_recovered":
      return `· the call of ${oneLine(event.name)} was recovered from the answer's text`;
    case "text_retracted":
      return "· what the model wrote until here was its reasoning";
    case "retry":
      return `· ${oneLine(event.reason)}; attempt ${event.attempt + 1} of ${event.maxAttempts} in ${
        duration(event.delayMs)
      }`;
    case "loading":
      return `· the server is loading ${oneLine(event.model)}`;
    case "notice":
      return `· ${oneLine(event.message)}`;
    default:
      return undefined;
  }
}

const EXIT_CODE = /^(?:The user changed the call to .*\n)?exit code: ([1-9]\d*)/;

function outcome({ isError, result, durationMs, refusal }: ToolExecution): string {
  const [, code] = EXIT_CODE.exec(result) ?? [];
  if (!isError) return `${code ? `exit code ${code}, ` : ""}${duration(durationMs)}`;
  if (refusal !== undefined) return `refused: ${oneLine(refusal)}`;
  if (result.startsWith("Refused")) return "refused";
  const [, how] =
    /^Interrupted by the user: the call (did not finish|was not run)\./.exec(result) ?? [];
  if (how) return how === "was not run" ? "not run" : `stopped, ${duration(durationMs)}`;
  return `failed: ${shortened(oneLine(result.split("\n", 1)[0]!), 120)}`;
}

/** The last lines that a command printed that failed, in rows for a terminal of `columns`. */
export function failureRows(
  { toolName, isError, result }: ToolExecution,
  columns: number,
): string[] {
  if (toolName !== "run_bash" || isError || !EXIT_CODE.test(result)) return [];
  const lines = result.split("\n");
  const from = lines.findIndex((line) => /^std(out|err):$/.test(line));
  const printed = lines.slice(from < 0 ? lines.length : from + 1)
    .filter((line) => line !== "stderr:" && line.trim() !== "");
  return printed.slice(-3).map((line) => {
    const [row, more] = rowsOf(sanitize(line.slice(0, 2000)), Math.max(10, columns - 5));
    return `    ${row}${more === undefined ? "" : "…"}`;
  });
}

/** How the lines of a change look. */
export const DIFF_STYLES = { " ": DIM, "+": ADDED, "-": REMOVED } as const;

/** Says that a job ended. */
export function jobEnded(job: Job): string {
  return `job ${job.number} is over: ${job.outcome} (${oneLine(shortCommand(job))})`;
}
