/** The events and the result of a turn. Plain JSON but for functions. @module */

import type { ImagePart } from "./image.ts";
import type { SubCall, Subject, ToolOutcome } from "./tool.ts";

/** The record of a finished tool run (spec 2.3, 6). */
export interface ToolExecution {
  /** The id of the call it answers. */
  toolCallId: string;
  /** The tool's name. */
  toolName: string;
  /** The arguments it was called with; those it ran with, where the policy changed them. */
  arguments: Record<string, unknown>;
  /** The object of the call; left out where its tool names none, or is unknown. */
  subject?: Subject;
  /** The result as the model reads it. */
  result: string;
  /** Wall time in milliseconds. */
  durationMs: number;
  /** True when the result reports a failure. */
  isError: boolean;
  /** Why the policy refused it, in a few words, where the policy says. */
  refusal?: string;
  /** `isError` is true for all but `done`; an abort left it `stopped` amid its run, or `not_run`. */
  outcome: SubCall["outcome"];
  /** What was read as what in a call with a slip in it, a line each, as the model is told. */
  repairs?: readonly string[];
  /** The images that the model gets with the result. */
  images?: readonly ImagePart[];
  /** The data of the result, beside its text. */
  details?: Omit<ToolOutcome, "content" | "images">;
}

/** Tokens that a server counted. */
export interface Usage {
  /** Tokens of the prompt, cached ones included. */
  inputTokens: number;
  /** Tokens of the answer, reasoning included. */
  outputTokens: number;
  /** The part of `inputTokens` that came from the server's prompt cache; left out where it does not count. */
  cachedTokens?: number;
  /** The part of `inputTokens` that the server put into its cache, where that has a price of its own. */
  cacheWriteTokens?: number;
  /** The speed at which the server read the rest of the prompt, in tokens per second, where it says. */
  readSpeed?: number;
  /** The price of the request, in US dollars, where the server says. */
  cost?: number;
}

/** Why a turn ended; `budget`: at the token limit, so that the answer is cut. */
export type StopReason = "done" | "max_rounds" | "aborted" | "loop" | "budget";

/** The result of {@linkcode processTurn} (spec 2.3). */
export interface TurnResult {
  /** The final answer, without reasoning. */
  response: string;
  /** Every tool run of the turn, in the order asked. */
  toolExecutions: ToolExecution[];
  /** Prompt tokens, summed over the requests of the turn; 0 where the server counts none. */
  inputTokens: number;
  /** Answer tokens, summed over the requests of the turn; 0 where the server counts none. */
  outputTokens: number;
  /** Why it ended. */
  stopReason: StopReason;
  /** True where the model gave no answer; `response` says so. */
  isUnanswered?: true;
  /** What is wrong with the answer, in one line, where it does not match the schema that it must match. */
  objection?: string;
}

/** A failed attempt that will be repeated. */
export interface RetryNotice {
  /** The number of the attempt that failed, from 1. */
  attempt: number;
  /** The most attempts in all. */
  maxAttempts: number;
  /** The time until the next one, in milliseconds. */
  delayMs: number;
  /** The failure, in one line. */
  reason: string;
  /** True where the server is loading the model, and is asked until it has. */
  isLoading?: boolean;
}

/** How much of a prompt a server has read, in tokens. */
export interface PromptProgress {
  /** The tokens read so far, those from the cache included. */
  processed: number;
  /** The tokens of the whole prompt. */
  total: number;
  /** The part of `processed` that came from the server's cache. */
  cached: number;
  /** The time that the rest of `processed` took, in milliseconds, where the server says. */
  ms?: number;
}

/** The changes that made a conversation shorter. */
export interface Compaction {
  /** The estimated tokens of the next request, had nothing been done. */
  tokensBefore: number;
  /** The estimated tokens of the next request. */
  tokensAfter: number;
  /** Results that were cut, as there was no room for all of them. */
  cutResults: number;
  /** Old results in whose place there is one line now. */
  droppedResults: number;
  /** Messages in whose place there is a summary now. */
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
  /** The model writes a call of `name`: a piece of its arguments, as JSON text; empty as it begins. */
  | { type: "call_delta"; name: string; text: string }
  /** All `text_delta` of this answer so far turned out to be reasoning; the answer begins now. */
  | { type: "text_retracted" }
  | { type: "usage"; usage: Usage }
  | { type: "tool_call_recovered"; name: string; id: string }
  | ({ type: "retry" } & RetryNotice)
  /** The server, such as llama.cpp's, has read a part of the prompt. */
  | ({ type: "prompt_progress" } & PromptProgress)
  /** The server loads the model first; `nextLookMs`: for so long it is known to, where it says so. */
  | { type: "loading"; model: string; nextLookMs?: number }
  /** The server answers other requests first. */
  | { type: "queued" }
  /** The messages before the newest ones were replaced; a `notice` says so in words. */
  | ({ type: "compaction" } & Compaction)
  /** `code` names what it is about; `message` says it in words. */
  | { type: "notice"; level: "info" | "warning"; message: string; code?: string };
