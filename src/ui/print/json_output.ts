/** The output of `--output json` and `stream-json`. @module */

import type { CheckResult, TurnResult } from "../../types/event.ts";
import { EXIT } from "../../exit_codes.ts";

/** The values of `--output`. */
export const FORMATS = ["text", "json", "stream-json"] as const;
export type Format = typeof FORMATS[number];

/** The last line of `stream-json`, and the only one of `json`. */
export interface ResultLine {
  type: "result";
  /** Names the session for `--resume`; missing if it is not saved. In snake case, as in other programs. */
  session_id?: string;
  exitCode: number;
  /** True if there is no complete answer: for all exit codes except 0, 3, 4 and 5. */
  isError: boolean;
  /** Why the turn ended; missing if it failed. */
  stopReason?: TurnResult["stopReason"];
  /** The final answer, or its beginning if the turn failed. */
  response: string;
  error?: string;
  check?: CheckResult;
  toolExecutions: TurnResult["toolExecutions"];
  usage: { inputTokens: number; outputTokens: number };
  /** The duration of the turn in ms; 0 if no turn ran. */
  durationMs: number;
}

/** The exit codes of runs with a complete answer. */
const COMPLETE: readonly number[] = [EXIT.done, EXIT.refused, EXIT.limit, EXIT.check];

/** Formats the line of a result. Missing values are empty. */
export function resultLine(
  { exitCode, ...result }: Pick<ResultLine, "exitCode"> & Partial<ResultLine>,
): string {
  const whole: ResultLine = {
    type: "result",
    exitCode,
    isError: !COMPLETE.includes(exitCode),
    response: "",
    toolExecutions: [],
    usage: { inputTokens: 0, outputTokens: 0 },
    durationMs: 0,
    ...result,
  };
  return jsonLine(whole);
}

/** Characters that `JSON.stringify` does not escape, although terminals interpret or hide them. */
const UNSAFE = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

export function jsonLine(value: unknown): string {
  const text = JSON.stringify(value)
    .replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `${text}\n`;
}
