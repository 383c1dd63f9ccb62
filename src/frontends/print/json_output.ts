/**
 * What `--output json` and `stream-json` print.
 *
 * @module
 */

import type { TurnResult } from "../../types/event.ts";
import { EXIT } from "../exit_codes.ts";

/** What `--output` can be. */
export const FORMATS = ["text", "json", "stream-json"] as const;
/** What `--output` can be. */
export type Format = typeof FORMATS[number];

/** The last line of `stream-json`, and the whole of `json`. */
export interface ResultLine {
  type: "result";
  /** The exit code. */
  exitCode: number;
  /** True when no complete answer came: every exit code but 0, 3 and 4. */
  isError: boolean;
  /** Why the turn ended; absent when it failed. */
  stopReason?: TurnResult["stopReason"];
  /** The final answer; what there was of it when the turn failed. */
  response: string;
  /** What went wrong, in one line. */
  error?: string;
  /** {@linkcode TurnResult}'s. */
  toolExecutions: TurnResult["toolExecutions"];
  usage: { inputTokens: number; outputTokens: number };
  /** Of the turn; 0 when there was none. */
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

/** What `JSON.stringify` leaves as it is, though terminals act on it or hide it. */
const UNSAFE = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** `value` as JSON in a line that drives no terminal. */
export function jsonLine(value: unknown): string {
  const text = JSON.stringify(value)
    .replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `${text}\n`;
}
