/** The output of `--output json` and `stream-json`. @module */

import type { TurnResult } from "../../types/event.ts";
import { EXIT } from "../exit_codes.ts";

/** The values of `--output`. */
export const FORMATS = ["text", "json", "stream-json"] as const;
export type Format = typeof FORMATS[number];

/** The last line of `stream-json`, and the whole of `json`. */
export interface ResultLine {
  type: "result";
  exitCode: number;
  /** True when no complete answer came: every exit code but 0, 3 and 4. */
  isError: boolean;
  /** The reason why the turn ended; absent when it failed. */
  stopReason?: TurnResult["stopReason"];
  /** The final answer; what there was of it when the turn failed. */
  response: string;
  /** The error of a turn that failed, in one line. */
  error?: string;
  toolExecutions: TurnResult["toolExecutions"];
  usage: { inputTokens: number; outputTokens: number };
  /** The duration of the turn in ms; 0 when no turn ran. */
  durationMs: number;
}

/** The line of a result; what is left out is empty. */
export function resultLine(
  { exitCode, ...result }: Pick<ResultLine, "exitCode"> & Partial<ResultLine>,
): string {
  const whole: ResultLine = {
    type: "result",
    exitCode,
    isError: exitCode !== EXIT.done && exitCode !== EXIT.refused && exitCode !== EXIT.limit,
    response: "",
    toolExecutions: [],
    usage: { inputTokens: 0, outputTokens: 0 },
    durationMs: 0,
    ...result,
  };
  return jsonLine(whole);
}

/** Characters that `JSON.stringify` leaves as they are, though terminals act on them or hide them. */
const UNSAFE = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** `value` as JSON in a line that drives no terminal. */
export function jsonLine(value: unknown): string {
  const text = JSON.stringify(value)
    .replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `${text}\n`;
}
