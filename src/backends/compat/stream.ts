/**
 * A streamed chat completion, folded into the response that a call without streaming returns. Pure.
 *
 * @module
 */

import { BackendError } from "../../errors.ts";
import { failureFromErrorObject } from "../../wire/failure.ts";
import { jsonReader, type StreamReader } from "../../wire/http.ts";
import { parseJson } from "../../wire/ndjson.ts";
import { sseDecoder } from "../../wire/sse.ts";
import type { Delta } from "../backend.ts";
import { type Fields, fieldsOf, isFields, listOf, textOf, wrongShape } from "../fields.ts";
import { toolCallParts } from "./tool_call_parts.ts";

const NONE: Fields = {};

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
  if (events) return eventReader(onDelta);
  return jsonReader((value) => {
    const response = fieldsOf(value, "answer");
    completionFold(stream ? onDelta : () => {}).whole(response);
    return response;
  });
}

function eventReader(onDelta: OnDelta): StreamReader<Fields> {
  const fold = completionFold(onDelta);
  let done = false;
  const decoder = sseDecoder(({ event, data, cut }) => {
    if (done || data === "") return;
    if (data === "[DONE]") {
      done = true;
      return;
    }
    if (cut && fold.finished && !isJson(data)) return;
    const value = fieldsOf(parseJson(data, cut), "event");
    if (value.choices === undefined || value.error || event === "error") throwFailure(value, event);
    fold.take(value);
  });
  return {
    push: (chunk) => decoder.push(chunk),
    get progress() {
      return fold.progress;
    },
    get started() {
      return fold.started;
    },
    get done() {
      return done || fold.counted;
    },
    get finished() {
      return fold.finished;
    },
    end() {
      if (!done) decoder.end();
      // A finish reason alone is enough: some servers leave out [DONE].
      if (done || fold.finished) return fold.response();
      throw new BackendError("The model server's answer broke off before its end", {
        kind: "incomplete",
        retryable: true,
      });
    },
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function throwFailure(value: Fields, event: string): void {
  const failure = failureFromErrorObject(value) ??
    (event === "error" ? failureFromErrorObject({ error: value }) : undefined);
  if (failure) throw failure;
}

/** Reasons that say that the answer is not whole; some servers send "stop" after them all the same. */
const CUT = new Set(["length", "max_tokens", "model_length", "content_filter", "refusal"]);

/** Folds chunks; fields that every chunk repeats are taken from the first. */
function completionFold(onDelta: OnDelta) {
  let head: Fields | undefined;
  let index: unknown;
  let content = "";
  let reasoning = "";
  let refusal = "";
  let finish: string | null = null;
  let usage: Fields | undefined;
  let counted = false;
  let promptRead = 0;
  let progress = 0;
  let started = false;
  const emit = (delta: Delta) => {
    progress++;
    started = true;
    onDelta(delta);
  };
  const calls = toolCallParts(
    (name) => emit({ type: "tool_call", name }),
    (text) => emit({ type: "tool_arguments", text }),
  );

  const text = (piece: string) => {
    if (piece === "") return;
    content += piece;
    emit({ type: "text", text: piece });
  };
  const thought = (piece: string) => {
    if (piece === "") return;
    reasoning += piece;
    emit({ type: "reasoning", text: piece });
  };

  const takeMessage = (message: Fields) => {
    thought(
      textOf(message.reasoning_content, "reasoning_content") ||
        textOf(message.reasoning, "reasoning") || textOf(message.thinking, "thinking"),
    );
    if (Array.isArray(message.content)) readParts(message.content, text, thought);
    else text(textOf(message.content, "content"));
    const refused = textOf(message.refusal, "refusal");
    if (refused !== "") {
      refusal += refused;
      emit({ type: "text", text: refused });
    }
    if (message.tool_calls) calls.add(listOf(message.tool_calls, "tool_calls"));
    // The form before tool_calls: one call, without an id.
    if (message.function_call) calls.add([{ index: 0, function: message.function_call }]);
  };

  const take = (chunk: Fields, key: "delta" | "message" = "delta") => {
    head ??= chunk;
    // Each usage counts all up to then: the last one stands.
    if (isFields(chunk.usage)) usage = chunk.usage;
    // Of llama.cpp, before a long prompt is answered.
    const { processed } = isFields(chunk.prompt_progress) ? chunk.prompt_progress : NONE;
    if (typeof processed === "number" && processed > promptRead) {
      promptRead = processed;
      progress++;
    }
    const choices = listOf(chunk.choices, "choices");
    counted = finish !== null && choices.length === 0 && isFields(chunk.usage);
    for (let i = 0; i < choices.length; i++) {
      const choice = fieldsOf(choices[i], "choice");
      // One choice is asked for; of a server that sends more, the first is taken.
      if ((index ??= choice.index ?? 0) !== (choice.index ?? 0)) continue;
      const message = choice[key];
      const empty = key === "delta" && (message === undefined || message === null);
      if (!empty) takeMessage(fieldsOf(message, key));
      const reason = textOf(choice.finish_reason, "finish_reason");
      if (reason === "") continue;
      if (finish === null) progress++;
      if (!CUT.has(finish ?? "")) finish = reason;
    }
  };

  return {
    take: (chunk: Fields) => take(chunk),
    /** Takes an answer that came in one piece. */
    whole(response: Fields) {
      if (listOf(response.choices, "choices").length === 0) {
        throw wrongShape("choices", "a list of at least one", response.choices);
      }
      take(response, "message");
      calls.end();
    },
    get progress() {
      return progress;
    },
    get started() {
      return started;
    },
    get finished() {
      return finish !== null;
    },
    /** Whether the last event counted the tokens of an answer that had finished before it. */
    get counted() {
      return counted;
    },
    response(): Fields {
      const toolCalls = calls.end();
      const { choices: _choices, usage: _usage, object: _object, ...rest } = head ?? {};
      const message = {
        role: "assistant",
        content: content === "" && toolCalls.length > 0 ? null : content,
        ...(reasoning !== "" && { reasoning_content: reasoning }),
        ...(refusal !== "" && { refusal }),
        ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
      };
      return {
        ...rest,
        object: "chat.completion",
        choices: [{ index: 0, message, finish_reason: finish }],
        ...(usage && { usage }),
      };
    },
  };
}

/** Reads content that is a list of parts: text, refusals and, of some servers, thoughts. */
export function readParts(
  parts: readonly unknown[],
  onText: (text: string) => void,
  onThought: (text: string) => void,
): void {
  for (const value of parts) {
    const part = fieldsOf(value, "content part");
    if (part.type === "thinking") {
      if (Array.isArray(part.thinking)) readParts(part.thinking, onThought, onThought);
      else onThought(textOf(part.thinking, "thinking"));
    } else {
      onText(textOf(part.text, "text") || textOf(part.refusal, "refusal"));
    }
  }
}
