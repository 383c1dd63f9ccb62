/**
 * A streamed chat completion, folded into the response that a call without streaming returns. Pure.
 *
 * @module
 */

import { isObject, jsonOrUndefined } from "../../text/json.ts";
import { failureFromErrorObject } from "../../wire/failure.ts";
import { JsonReader, type StreamReader } from "../../wire/http.ts";
import { parseJson } from "../../wire/ndjson.ts";
import { SseDecoder, type SseEvent } from "../../wire/sse.ts";
import type { Delta } from "../backend.ts";
import { brokeOff, type Fields, fieldsOf, listOf, shapeError, stringOf } from "../fields.ts";
import { ToolCallParts } from "./tool_call_parts.ts";

/** Receives the pieces of an answer. */
export type OnDelta = (delta: Delta) => void;

/**
 * A reader for an answer of `contentType`: events where `stream` was asked for, unless the server
 * answers in one JSON value all the same, which is then checked and reported as one delta.
 */
export function compatReader(
  contentType: string,
  stream: boolean,
  onDelta: OnDelta = () => {},
): StreamReader<Fields> {
  const events = contentType === "text/event-stream" || (stream && !contentType.includes("json"));
  if (events) return new CompletionReader(onDelta);
  return new JsonReader((value) => {
    const response = fieldsOf(value, "answer");
    new CompletionReader(stream ? onDelta : () => {}).takeWhole(response);
    return response;
  });
}

function throwFailure(value: Fields, event: string): void {
  const failure = failureFromErrorObject(value) ??
    (event === "error" ? failureFromErrorObject({ error: value }) : undefined);
  if (failure) throw failure;
}

/** Reasons that say that the answer is not whole; some servers send "stop" after them all the same. */
const CUT_REASONS = new Set(["length", "max_tokens", "model_length", "content_filter", "refusal"]);

/** Folds an answer that comes as events; fields that every chunk repeats are taken from the first. */
class CompletionReader implements StreamReader<Fields> {
  progress = 0;
  started = false;
  #isDone = false;
  /** True where the last event counted the tokens of an answer that had finished before it. */
  #isCounted = false;
  #head: Fields | undefined;
  #index: unknown;
  #finish: string | null = null;
  #usage: Fields | undefined;
  #promptRead = 0;
  readonly #message: CompatMessageFold;
  readonly #decoder = new SseDecoder((event) => this.#takeEvent(event));

  constructor(onDelta: OnDelta) {
    this.#message = new CompatMessageFold((delta) => {
      this.progress++;
      this.started = true;
      onDelta(delta);
    });
  }

  get done(): boolean {
    return this.#isDone || this.#isCounted;
  }
  get finished(): boolean {
    return this.#finish !== null;
  }

  push(chunk: Uint8Array): void {
    this.#decoder.push(chunk);
  }

  end(): Fields {
    if (!this.#isDone) this.#decoder.end();
    // A finish reason alone is enough: some servers leave out [DONE].
    if (!this.#isDone && !this.finished) throw brokeOff();
    const { choices: _choices, usage: _usage, object: _object, ...rest } = this.#head ?? {};
    return {
      ...rest,
      object: "chat.completion",
      choices: [{ index: 0, message: this.#message.end(), finish_reason: this.#finish }],
      ...(this.#usage && { usage: this.#usage }),
    };
  }

  /** Takes an answer that came in one piece. */
  takeWhole(response: Fields): void {
    if (listOf(response.choices, "choices").length === 0) {
      throw shapeError("choices", "a list of at least one", response.choices);
    }
    this.#take(response, "message");
    this.#message.end();
  }

  #takeEvent({ event, data, cut }: SseEvent): void {
    if (this.#isDone || data === "") return;
    if (data === "[DONE]") {
      this.#isDone = true;
      return;
    }
    if (cut && this.finished && jsonOrUndefined(data) === undefined) return;
    const value = fieldsOf(parseJson(data, cut), "event");
    if (value.choices === undefined || value.error || event === "error") throwFailure(value, event);
    this.#take(value, "delta");
  }

  #take(chunk: Fields, key: "delta" | "message"): void {
    this.#head ??= chunk;
    // Each usage counts all tokens up to then: the last one stands.
    if (isObject(chunk.usage)) this.#usage = chunk.usage;
    this.#takePromptProgress(chunk.prompt_progress);
    const choices = listOf(chunk.choices, "choices");
    this.#isCounted = this.finished && choices.length === 0 && isObject(chunk.usage);
    for (let i = 0; i < choices.length; i++) this.#takeChoice(fieldsOf(choices[i], "choice"), key);
  }

  /** llama.cpp tells how much of a long prompt it has read. */
  #takePromptProgress(value: unknown): void {
    if (!isObject(value) || typeof value.processed !== "number") return;
    if (value.processed <= this.#promptRead) return;
    this.#promptRead = value.processed;
    this.progress++;
  }

  #takeChoice(choice: Fields, key: "delta" | "message"): void {
    // One choice is asked for; of a server that sends more, the first is taken.
    if ((this.#index ??= choice.index ?? 0) !== (choice.index ?? 0)) return;
    const part = choice[key];
    const isEmpty = key === "delta" && (part === undefined || part === null);
    if (!isEmpty) this.#message.take(fieldsOf(part, key));
    const reason = stringOf(choice.finish_reason, "finish_reason");
    if (reason === "") return;
    if (this.#finish === null) this.progress++;
    if (!CUT_REASONS.has(this.#finish ?? "")) this.#finish = reason;
  }
}

/** Folds the pieces of a message. */
class CompatMessageFold {
  readonly #emit: OnDelta;
  readonly #calls: ToolCallParts;
  readonly #all = { content: "", reasoning: "", refusal: "" };
  readonly #onText = (piece: string) => this.#add("content", piece);
  readonly #onThought = (piece: string) => this.#add("reasoning", piece);

  constructor(emit: OnDelta) {
    this.#emit = emit;
    this.#calls = new ToolCallParts(
      (name) => emit({ type: "tool_call", name }),
      (text) => emit({ type: "tool_arguments", text }),
    );
  }

  take(message: Fields): void {
    readContent(message, this.#onText, this.#onThought);
    this.#add("refusal", stringOf(message.refusal, "refusal"));
    if (message.tool_calls) this.#calls.add(listOf(message.tool_calls, "tool_calls"));
    // The form before tool_calls: one call, without an id.
    if (message.function_call) this.#calls.add([{ index: 0, function: message.function_call }]);
  }

  end(): Fields {
    const toolCalls = this.#calls.end();
    const { content, reasoning, refusal } = this.#all;
    return {
      role: "assistant",
      content: content === "" && toolCalls.length > 0 ? null : content,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(refusal !== "" && { refusal }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    };
  }

  #add(part: "content" | "reasoning" | "refusal", piece: string): void {
    if (piece === "") return;
    this.#all[part] += piece;
    this.#emit({ type: part === "reasoning" ? "reasoning" : "text", text: piece });
  }
}

/** Reads the thoughts and the text of a message, or of a piece of one, whatever its server calls them. */
export function readContent(
  { reasoning_content, reasoning, thinking, content }: Fields,
  onText: (text: string) => void,
  onThought: (text: string) => void,
): void {
  onThought(
    stringOf(reasoning_content, "reasoning_content") || stringOf(reasoning, "reasoning") ||
      stringOf(thinking, "thinking"),
  );
  if (Array.isArray(content)) readParts(content, onText, onThought);
  else onText(stringOf(content, "content"));
}

/** Reads content that is a list of parts: text, refusals and, of some servers, thoughts. */
function readParts(
  parts: readonly unknown[],
  onText: (text: string) => void,
  onThought: (text: string) => void,
): void {
  for (const value of parts) {
    const part = fieldsOf(value, "content part");
    if (part.type === "thinking") {
      if (Array.isArray(part.thinking)) readParts(part.thinking, onThought, onThought);
      else onThought(stringOf(part.thinking, "thinking"));
    } else {
      onText(stringOf(part.text, "text") || stringOf(part.refusal, "refusal"));
    }
  }
}
