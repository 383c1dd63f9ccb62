/** The interface of all backends. The agent knows no backend by name. @module */

import type { PromptProgress, RetryNotice, Usage } from "../types/event.ts";
import type { Message, ToolCall } from "../types/message.ts";
import type { JsonSchema, Tool } from "../types/tool.ts";

/** A piece of a streamed answer on arrival. `<think>` in the text is not split off yet. */
export type Delta =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  /** A tool call starts. It must not run before the answer is complete. */
  | { type: "tool_call"; name: string }
  /** A piece of a call's arguments. The native local endpoint sends only complete calls. */
  | { type: "tool_arguments"; text: string }
  /** Progress, not part of the answer: the server has read this much of the prompt. */
  | ({ type: "prompt_progress" } & PromptProgress);

/** Options of `callCompat`, `callLocal` and `callHosted`. */
export interface CallOptions {
  /** The maximum tokens of the answer, by the room in the model's window. Not sent to the hosted API. */
  room?: number | undefined;
  /** False for an answer without thinking, overriding the settings. Default: true. */
  thinks?: boolean | undefined;
  /** The slot of llama.cpp's server to use, on the compatible endpoint. */
  slot?: number | undefined;
  /** The schema that the answer must match: by the server's grammar if it has one, by a tool on the hosted API. */
  answerSchema?: JsonSchema | undefined;
  /** Ends the request. Its `reason` is thrown. */
  signal?: AbortSignal | undefined;
  /** Replaces the configured and the built-in `fetch`. */
  fetch?: typeof fetch | undefined;
  /** False for the answer in one piece. Default: true. */
  stream?: boolean | undefined;
  /** Called synchronously for each piece of a streamed answer. */
  onDelta?: ((delta: Delta) => void) | undefined;
  /** Returns a promise to await before reading more of the answer: back-pressure. */
  ready?: (() => Promise<void> | undefined) | undefined;
  /** True to retry for half a minute if a server that has answered refuses the connection: it may be restarting. */
  awaitsRestart?: boolean | undefined;
  /** Called before each wait for another attempt. */
  onRetry?: ((notice: RetryNotice) => void) | undefined;
  /** Called with one line about each change to the request that the server required. */
  onNotice?: ((message: string) => void) | undefined;
}

/** The reason that the model stopped. */
export type FinishReason =
  | "stop"
  /** The token limit. The answer is cut, and its last tool call may be. */
  | "length"
  | "tool_calls"
  /** The server or the model refused (`content_filter`, `refusal`). */
  | "refused"
  /** Any other reason that ends an answer early. */
  | "other";

/** A complete answer. */
export interface Reply {
  /** The assistant's message: text without `<think>` blocks, separate reasoning, and complete tool calls. */
  message: Message;
  /** The reason that it stopped. */
  finish: FinishReason;
  /** The server's own word for the reason. */
  finishDetail: string;
  /** The first mark of an unreadable call in the text. */
  callMark?: string | undefined;
  /** The server's token counts, if any. */
  usage: Usage | undefined;
}

/** The split text of an answer. */
export interface SplitAnswer {
  /** The text without reasoning and calls. */
  text: string;
  /** The reasoning, from the server's field or from think tags. */
  reasoning: string;
  /** The calls that were in the text. */
  calls: readonly ToolCall[];
  /** The first mark of an unreadable call that was cut out of the text. */
  callMark?: string;
}

/** Splits one answer as it arrives. */
export interface Splitter {
  /** Reads the next piece. */
  push(delta: Delta): void;
  /** Ends the answer. Further calls have no effect. */
  end(): SplitAnswer;
}

/** Options of {@linkcode Backend.send}. */
export interface SendOptions extends CallOptions {
  /** Splits the answer's text. Without it, reasoning is removed, and calls in the text stay text. */
  splitter?: Splitter | undefined;
}

/** A configured backend. */
export interface Backend {
  /** The model's name. */
  readonly model: string;
  /** True if the protocol has blocks for reasoning and calls, so that text contains neither. */
  readonly hasBlocks: boolean;
  /** True if the server probably has a grammar to enforce a schema: the user's own server. */
  readonly hasGrammar: boolean;
  /**
   * Sends the conversation and reads the answer.
   *
   * @throws {BackendError} if the server cannot be reached, refuses, or its answer breaks off.
   * @throws the reason of `options.signal`.
   */
  send(messages: readonly Message[], tools: readonly Tool[], options: SendOptions): Promise<Reply>;
}
