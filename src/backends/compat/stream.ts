/**
 * A streamed chat completion, folded into the response that a call without streaming returns. Pure.
 *
 * @module
 */

import { isObject } from "../../text/json.ts";
import { failureFromErrorObject } from "../../wire/failure.ts";
import { jsonReader, type StreamReader } from "../../wire/http.ts";
import { parseJson } from "../../wire/ndjson.ts";
import { sseDecoder } from "../../wire/sse.ts";
import type { Delta } from "../backend.ts";
import { brokeOff, type Fields, fieldsOf, listOf, textOf, wrongShape } from "../fields.ts";
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
      throw brokeOff();
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
  let finish: string | null = null;
  let usage: Fields | undefined;
  let counted = false;
  let promptRead = 0;
  let progress = 0;
  let started = false;
  const message = messageFold((delta) => {
    progress++;
    started = true;
    onDelta(delta);
  });

  const take = (chunk: Fields, key: "delta" | "message" = "delta") => {
    head ??= chunk;
    // Each usage counts all up to then: the last one stands.
    if (isObject(chunk.usage)) usage = chunk.usage;
    // Of llama.cpp, before a long prompt is answered.
    const { processed } = isObject(chunk.prompt_progress) ? chunk.prompt_progress : NONE;
    if (typeof processed === "number" && processed > promptRead) {
      promptRead = processed;
      progress++;
    }
    const choices = listOf(chunk.choices, "choices");
    counted = finish !== null && choices.length === 0 && isObject(chunk.usage);
    for (let i = 0; i < choices.length; i++) {
      const choice = fieldsOf(choices[i], "choice");
      // One choice is asked for; of a server that sends more, the first is taken.
      if ((index ??= choice.index ?? 0) !== (choice.index ?? 0)) continue;
      const part = choice[key];
      const empty = key === "delta" && (part === undefined || part === null);
      if (!empty) message.take(fieldsOf(part, key));
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
      message.end();
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
      const { choices: _choices, usage: _usage, object: _object, ...rest } = head ?? {};
      return {
        ...rest,
        object: "chat.completion",
        choices: [{ index: 0, message: message.end(), finish_reason: finish }],
        ...(usage && { usage }),
      };
    },
  };
}

/** Folds the pieces of a message. */
function messageFold(emit: OnDelta) {
  const all = { content: "", reasoning: "", refusal: "" };
  const calls = toolCallParts(
    (name) => emit({ type: "tool_call", name }),
    (text) => emit({ type: "tool_arguments", text }),
  );
  const add = (part: keyof typeof all, piece: string) => {
    if (piece === "") return;
    all[part] += piece;
    emit({ type: part === "reasoning" ? "reasoning" : "text", text: piece });
  };
  const text = (piece: string) => add("content", piece);
  const thought = (piece: string) => add("reasoning", piece);
  return {
    take(message: Fields) {
      readContent(message, text, thought);
      add("refusal", textOf(message.refusal, "refusal"));
      if (message.tool_calls) calls.add(listOf(message.tool_calls, "tool_calls"));
      // The form before tool_calls: one call, without an id.
      if (message.function_call) calls.add([{ index: 0, function: message.function_call }]);
    },
    end(): Fields {
      const toolCalls = calls.end();
      const { content, reasoning, refusal } = all;
      return {
        role: "assistant",
        content: content === "" && toolCalls.length > 0 ? null : content,
        ...(reasoning !== "" && { reasoning_content: reasoning }),
        ...(refusal !== "" && { refusal }),
        ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
      };
    },
  };
}

/** Reads the thoughts and the text of a message, or of a piece of one, whatever its server calls them. */
export function readContent(
  { reasoning_content, reasoning, thinking, content }: Fields,
  onText: (text: string) => void,
  onThought: (text: string) => void,
): void {
  onThought(
    textOf(reasoning_content, "reasoning_content") || textOf(reasoning, "reasoning") ||
      textOf(thinking, "thinking"),
  );
  if (Array.isArray(content)) readParts(content, onText, onThought);
  else onText(textOf(content, "content"));
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
      else onThought(textOf(part.thinking, "thinking"));
    } else {
      onText(textOf(part.text, "text") || textOf(part.refusal, "refusal"));
    }
  }
}
