/** The contract of every backend: the agent knows none of them by name. @module */

import type { PromptProgress, RetryNotice, Usage } from "../types/event.ts";
import type { Message, ToolCall } from "../types/message.ts";
import type { JsonSchema, Tool } from "../types/tool.ts";

/** A piece of a streamed answer, as it arrives; `<think>` in the text is still text here. */
export type Delta =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  /** A tool call begins to arrive; it is not to be run before the whole answer is there. */
  | { type: "tool_call"; name: string }
  /** A piece of a call's arguments; none comes from the native local endpoint: its calls come whole. */
  | { type: "tool_arguments"; text: string }
  /** No piece of the answer: the server has read so much of the prompt. */
  | ({ type: "prompt_progress" } & PromptProgress);

/** The form that an answer is to have. */
export interface AnswerForm {
  /** The schema of the answer, which is JSON. */
  schema: JsonSchema;
  /** True where the answer is to be a call of one of the tools. */
  isCall?: boolean;
}

/** Options of `callCompat`, `callLocal` and `callHosted`. */
export interface CallOptions {
  /** The most tokens of the answer, by the room in the model's window; the hosted API is not told. */
  room?: number | undefined;
  /** False asks for an answer without thinking, whatever the settings say: true. */
  thinks?: boolean | undefined;
  /** The slot of llama.cpp's server that is to answer, on the compatible endpoint. */
  slot?: number | undefined;
  /** Holds the answer to a form: by the server's grammar where it has one, with the hosted API by a tool. */
  form?: AnswerForm | undefined;
  /** Ends the request; its `reason` is what the call throws. */
  signal?: AbortSignal | undefined;
  /** Replaces the configured and the built-in `fetch`. */
  fetch?: typeof fetch | undefined;
  /** False asks for the answer in one piece: true. */
  stream?: boolean | undefined;
  /** Called synchronously for each piece of a streamed answer. */
  onDelta?: ((delta: Delta) => void) | undefined;
  /** Returns a promise to wait for before more of the answer is read: back-pressure. */
  ready?: (() => Promise<void> | undefined) | undefined;
  /** True asks a server that refuses the connection again for half a minute, as it may be restarting. */
  awaitsRestart?: boolean | undefined;
  /** Called before each wait for another attempt. */
  onRetry?: ((notice: RetryNotice) => void) | undefined;
  /** Called when the request was changed to what the server takes, with one line that says how. */
  onNotice?: ((message: string) => void) | undefined;
}

/** Why the model stopped. */
export type FinishReason =
  | "stop"
  /** The token limit: the answer is cut, and so may be its last tool call. */
  | "length"
  | "tool_calls"
  /** The server or the model refused (`content_filter`, `refusal`). */
  | "refused"
  /** Anything else that ends an answer without completing it. */
  | "other";

/** An answer that was read. */
export interface Reply {
  /** The assistant's message: text without `<think>` blocks, reasoning apart, complete tool calls. */
  message: Message;
  /** Why it stopped. */
  finish: FinishReason;
  /** The server's own word for that. */
  finishDetail: string;
  /** The first mark of a call in the text that could not be read. */
  callMark?: string | undefined;
  /** Tokens counted by the server, if it counted. */
  usage: Usage | undefined;
}

/** Finds tool calls in text (spec 4.6); `[text without them, the calls or null]`. */
export type ExtractToolCalls = (
  content: string,
  options?: {
    tools?: readonly string[];
    schemas?: Readonly<Record<string, unknown>>;
    thinkTags?: boolean;
    fences?: boolean;
  },
) => [string, ToolCall[] | null];

/** The text of an answer, split. */
export interface SplitAnswer {
  /** The text without reasoning and calls. */
  text: string;
  /** The reasoning: as the server told it, or between think tags. */
  reasoning: string;
  /** The calls that were in the text. */
  calls: readonly ToolCall[];
  /** The first mark of a call that could not be read, and was cut out of the text. */
  callMark?: string;
}

/** Splits one answer as it arrives. */
export interface Splitter {
  /** Takes the next piece. */
  push(delta: Delta): void;
  /** The answer is over; calling it again changes nothing. */
  end(): SplitAnswer;
}

/** Options of {@linkcode Backend.send}. */
export interface SendOptions extends CallOptions {
  /** Splits the answer's text: without it, reasoning is taken out and no calls are looked for. */
  splitter?: Splitter | undefined;
}

/** A configured backend. */
export interface Backend {
  /** The model asked. */
  readonly model: string;
  /** True where text is only that: the protocol has blocks of its own for reasoning and calls. */
  readonly isTyped: boolean;
  /** True where the server likely has a grammar to hold an answer to: one of the person's own. */
  readonly hasGrammar: boolean;
  /**
   * Sends the conversation and reads the answer.
   *
   * @throws {BackendError} when the server can not be reached, refuses, or its answer breaks off.
   * @throws whatever `options.signal` was aborted with.
   */
  send(messages: readonly Message[], tools: readonly Tool[], options: SendOptions): Promise<Reply>;
}
