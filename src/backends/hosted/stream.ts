/**
 * A streamed answer of the hosted API, folded into the response that a call without streaming
 * returns. Pure.
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

/**
 * A reader for an answer of `contentType`: events where `stream` was asked for, unless the server
 * answers in one JSON value all the same, whose text is then reported as one delta.
 */
export function hostedReader(
  contentType: string,
  stream: boolean,
  onDelta: (delta: Delta) => void = () => {},
): StreamReader<Fields> {
  if (contentType === "text/event-stream" || stream && !contentType.includes("json")) {
    return eventReader(onDelta, contentType);
  }
  return jsonReader((value) => {
    const response = fieldsOf(value, "answer");
    for (const value of listOf(response.content, "content")) {
      const block = fieldsOf(value, "content block");
      if (stream) report(block, onDelta);
    }
    return response;
  });
}

/** Reports what a whole block holds. */
function report(block: Fields, onDelta: (delta: Delta) => void): void {
  const text = textOf(block.text, "text");
  const thinking = textOf(block.thinking, "thinking");
  if (block.type === "text" && text !== "") onDelta({ type: "text", text });
  if (block.type === "thinking" && thinking !== "") onDelta({ type: "reasoning", text: thinking });
  if (block.type === "tool_use") onDelta({ type: "tool_call", name: textOf(block.name, "name") });
}

function eventReader(onDelta: (delta: Delta) => void, contentType: string): StreamReader<Fields> {
  const fold = messageFold(onDelta);
  const decoder = sseDecoder(({ event: name, data, cut }) => {
    if (fold.done || data === "") return;
    const event = fieldsOf(parseJson(data, cut), "event");
    const failure = failureFromErrorObject(name === "error" ? { error: event, ...event } : event);
    if (failure) throw failure;
    fold.take(event);
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
      return fold.done;
    },
    end() {
      decoder.end();
      if (fold.progress === 0 && contentType !== "text/event-stream") {
        throw wrongShape("content type", "text/event-stream", contentType);
      }
      if (fold.done) return fold.response();
      throw brokeOff();
    },
  };
}

/** Folds events. Blocks may overlap: some servers close all of them at the end. */
function messageFold(onDelta: (delta: Delta) => void) {
  // Added to in place, and without a prototype, which a key of the answer's could be taken for.
  const message: Fields = Object.assign(Object.create(null), {
    type: "message",
    role: "assistant",
    stop_reason: null,
  });
  const usage: Fields = Object.create(null);
  const blocks = new Map<number, Block>();
  let progress = 0;
  let started = false;
  let done = false;

  const emit = (delta: Delta) => {
    progress++;
    started = true;
    onDelta(delta);
  };
  const isFinished = () => typeof message.stop_reason === "string";
  const count = (value: unknown) => {
    if (!isObject(value)) return;
    // Each count is of all up to then: the last one stands, and null says nothing.
    for (const [key, tokens] of Object.entries(value)) if (tokens !== null) usage[key] = tokens;
  };

  return {
    get progress() {
      return progress;
    },
    get started() {
      return started;
    },
    get done() {
      return done;
    },
    take(event: Fields) {
      switch (event.type) {
        case "message_start":
          Object.assign(message, fieldsOf(event.message, "message"));
          count(message.usage);
          break;
        case "content_block_start": {
          const index = indexOf(event);
          if (blocks.has(index)) throw wrongShape("content blocks", "numbered apart", index);
          const fields = { ...fieldsOf(event.content_block, "content block") };
          blocks.set(index, { fields, json: "" });
          progress++;
          report(fields, emit);
          break;
        }
        case "content_block_delta": {
          const block = blocks.get(indexOf(event));
          if (!block) throw wrongShape("delta's content block", "begun before it", block);
          addDelta(block, fieldsOf(event.delta, "delta"), emit);
          break;
        }
        case "message_delta": {
          const finished = isFinished();
          Object.assign(message, fieldsOf(event.delta, "delta"));
          if (!finished && isFinished()) progress++;
          count(event.usage);
          break;
        }
        case "message_stop":
          done = true;
          break;
      }
    },
    response(): Fields {
      const content = [...blocks].sort(([a], [b]) => a - b).map(([, block]) => completed(block));
      return { ...message, content, usage: { ...usage } };
    },
  };
}

interface Block {
  fields: Fields;
  /** The JSON text of a call's input, as far as it came. */
  json: string;
}

function addDelta(block: Block, delta: Fields, emit: (delta: Delta) => void): void {
  const { fields } = block;
  const append = (key: string): string => {
    const piece = textOf(delta[key], key);
    fields[key] = textOf(fields[key], key) + piece;
    return piece;
  };
  // A delta of another kind is of a later version of the API, and of nothing that we act on.
  switch (`${fields.type} ${delta.type}`) {
    case "text text_delta": {
      const text = append("text");
      if (text !== "") emit({ type: "text", text });
      break;
    }
    case "thinking thinking_delta": {
      const text = append("thinking");
      if (text !== "") emit({ type: "reasoning", text });
      break;
    }
    case "thinking signature_delta":
      append("signature");
      break;
    case "tool_use input_json_delta": {
      const text = textOf(delta.partial_json, "partial_json");
      block.json += text;
      if (text !== "") emit({ type: "tool_arguments", text });
      break;
    }
  }
}

function indexOf(event: Fields): number {
  if (typeof event.index === "number") return event.index;
  throw wrongShape("content block's index", "a number", event.index);
}

/** The block as a whole; a call's input is the text that the model wrote where that is no object. */
function completed({ fields, json }: Block): Fields {
  if (fields.type !== "tool_use") return fields;
  if (json.trim() === "") return { ...fields, input: fields.input ?? {} };
  try {
    const input: unknown = JSON.parse(json);
    if (isObject(input)) return { ...fields, input };
  } catch { /* The reader of the response says what is wrong with it. */ }
  return { ...fields, input: json };
}
