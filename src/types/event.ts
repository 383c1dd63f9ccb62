/** The events and the result of a turn, as plain JSON apart from functions. @module */

import type { ImagePart } from "./image.ts";
import type { SubCall, Subject, ToolOutcome } from "./tool.ts";

/** The record of a finished tool run (spec 2.3, 6). */
export interface ToolExecution extends SubCall {
  /** The id of the call it answers. */
  toolCallId: string;
  /** The arguments of the call; the changed ones if the policy changed them. */
  arguments: Record<string, unknown>;
  /** The result as the model reads it. */
  result: string;
  /** True when the result reports a failure. */
  isError: boolean;
  /** The repairs of the call, one line each, as the model reads them. */
  repairs?: readonly string[];
  /** The images in the result. */
  images?: readonly ImagePart[];
  /** The data of the result, in addition to its text. */
  details?: Omit<ToolOutcome, "content" | "images">;
}

/** Token counts of a server. */
export interface Usage {
  /** Tokens of the prompt, cached ones included. */
  inputTokens: number;
  /** Tokens of the answer, reasoning included. */
  outputTokens: number;
  /** The part of `inputTokens` from the server's prompt cache; missing if it is not counted. */
  cachedTokens?: number;
  /** The part of `inputTokens` that the server wrote to its cache, if that has its own price. */
  cacheWriteTokens?: number;
  /** The speed at which the server read the rest of the prompt, in tokens per second, if it is known. */
  readSpeed?: number;
  /** The price of the request in US dollars, if the server states it. */
  cost?: number;
}

/** Why a turn ended. `budget`: at the token limit, which cut the answer off. */
export type StopReason = "done" | "max_rounds" | "aborted" | "loop" | "budget";

/** The result of {@linkcode processTurn} (spec 2.3). */
export interface TurnResult {
  /** The final answer, without reasoning. */
  response: string;
  /** Every tool run of the turn, in the order of the calls. */
  toolExecutions: ToolExecution[];
  /** Prompt tokens, summed over the requests of the turn; 0 if the server does not count. */
  inputTokens: number;
  /** Answer tokens, summed over the requests of the turn; 0 if the server does not count. */
  outputTokens: number;
  /** Why the turn ended. */
  stopReason: StopReason;
  /** True if the model gave no answer; `response` says so. */
  isUnanswered?: true;
  /** Why the answer does not match the required schema, in one line. */
  objection?: string;
  /** The check of the turn, such as that of `--until`; missing if no check ran. */
  check?: CheckResult;
}

/** The result of a check at the end of a turn. */
export interface CheckResult {
  /** The command of the check. */
  command: string;
  /** True if the turn did what the check demands. */
  passed: boolean;
  /** How often the check ran. */
  rounds: number;
  /** Why it did not pass, in one line. */
  reason?: string;
  /** The end of the output of a command that failed, as the model reads it. */
  output?: string;
}

/** A failed attempt that will be repeated. */
export interface RetryNotice {
  /** The number of the failed attempt, from 1. */
  attempt: number;
  /** The maximum number of attempts. */
  maxAttempts: number;
  /** The time until the next attempt, in milliseconds. */
  delayMs: number;
  /** The failure, in one line. */
  reason: string;
  /** True if the server is loading the model, and is polled until it is ready. */
  isLoading?: boolean;
}

/** The progress of reading a prompt, in tokens. */
export interface PromptProgress {
  /** The tokens read so far, including cached ones. */
  processed: number;
  /** The tokens of the whole prompt. */
  total: number;
  /** The part of `processed` from the server's cache. */
  cached: number;
  /** The time for the rest of `processed`, in milliseconds, if it is known. */
  ms?: number;
}

/** The changes that shortened a conversation. */
export interface Compaction {
  /** The estimated tokens of the next request without these changes. */
  tokensBefore: number;
  /** The estimated tokens of the next request. */
  tokensAfter: number;
  /** The number of results that were shortened because there was no room for all of them. */
  cutResults: number;
  /** The number of old results that were replaced by one line. */
  droppedResults: number;
  /** The number of messages that were replaced by a summary. */
  summarized: number;
}

/** The events of {@linkcode processTurn} (spec 6): `thinking` comes before each request. */
export type TurnEvent =
  | { type: "thinking" }
  | {
    type: "tool_start";
    name: string;
    args: Record<string, unknown>;
    id: string;
    subject?: Subject;
  }
  | { type: "tool_done"; exec: ToolExecution }
  | { type: "text_delta"; text: string }
  | { type: "reasoning_delta"; text: string }
  /** The model writes a call of `name`: a piece of its arguments as JSON text, empty at the beginning. */
  | { type: "call_delta"; name: string; text: string }
  /** All `text_delta` of this answer so far were reasoning. The answer starts now. */
  | { type: "text_retracted" }
  | { type: "usage"; usage: Usage }
  | { type: "tool_call_recovered"; name: string; id: string }
  | ({ type: "retry" } & RetryNotice)
  /** The server, such as llama.cpp's, has read a part of the prompt. */
  | ({ type: "prompt_progress" } & PromptProgress)
  /** The server loads the model first. `nextLookMs` is the time until the next look, if it is known. */
  | { type: "loading"; model: string; nextLookMs?: number }
  /** The server processes other requests first. */
  | { type: "queued" }
  /** The messages before the newest ones were replaced. A `notice` describes it. */
  | ({ type: "compaction" } & Compaction)
  /** `code` identifies the notice; `message` is its text. */
  | { type: "notice"; level: "info" | "warning"; message: string; code?: string };
