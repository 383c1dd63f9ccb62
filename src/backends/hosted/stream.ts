/**
 * A streamed answer of the hosted API, folded into the response that a call without streaming
 * returns. Pure.
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
    return new HostedReader(onDelta, contentType);
  }
  return new JsonReader((value) => {
    const response = fieldsOf(value, "answer");
    for (const value of listOf(response.content, "content")) {
      const block = fieldsOf(value, "content block");
      if (stream) reportBlock(block, onDelta);
    }
    return response;
  });
}

/** Reports what a whole block holds. */
function reportBlock(block: Fields, onDelta: (delta: Delta) => void): void {
  const text = stringOf(block.text, "text");
  const thinking = stringOf(block.thinking, "thinking");
  if (block.type === "text" && text !== "") onDelta({ type: "text", text });
  if (block.type === "thinking" && thinking !== "") onDelta({ type: "reasoning", text: thinking });
  if (block.type === "tool_use") onDelta({ type: "tool_call", name: stringOf(block.name, "name") });
}

/** Folds an answer that comes as events. Blocks may overlap: some servers close all of them at the end. */
class HostedReader implements StreamReader<Fields> {
  progress = 0;
  started = false;
  done = false;
  // Both are added to in place, and without a prototype, which a key of the answer's could be taken for.
  readonly #message: Fields = Object.assign(Object.create(null), {
    type: "message",
    role: "assistant",
    stop_reason: null,
  });
  readonly #usage: Fields = Object.create(null);
  readonly #blocks = new Map<number, StreamedBlock>();
  readonly #emit: (delta: Delta) => void;
  readonly #contentType: string;
  readonly #decoder = new SseDecoder((event) => this.#takeEvent(event));

  constructor(onDelta: (delta: Delta) => void, contentType: string) {
    this.#contentType = contentType;
    this.#emit = (delta) => {
      this.progress++;
      this.started = true;
      onDelta(delta);
    };
  }

  push(chunk: Uint8Array): void {
    this.#decoder.push(chunk);
  }

  end(): Fields {
    this.#decoder.end();
    if (this.progress === 0 && this.#contentType !== "text/event-stream") {
      throw shapeError("content type", "text/event-stream", this.#contentType);
    }
    if (!this.done) throw brokeOff();
    const blocks = [...this.#blocks].sort(([a], [b]) => a - b);
    const content = blocks.map(([, block]) => wholeBlock(block));
    return { ...this.#message, content, usage: { ...this.#usage } };
  }

  #takeEvent({ event: name, data, cut }: SseEvent): void {
    if (this.done || data === "") return;
    const event = fieldsOf(parseJson(data, cut), "event");
    const failure = failureFromErrorObject(name === "error" ? { error: event, ...event } : event);
    if (failure) throw failure;
    this.#take(event);
  }

  #take(event: Fields): void {
    switch (event.type) {
      case "message_start":
        Object.assign(this.#message, fieldsOf(event.message, "message"));
        return this.#count(this.#message.usage);
      case "content_block_start":
        return this.#begin(indexOf(event), { ...fieldsOf(event.content_block, "content block") });
      case "content_block_delta": {
        const block = this.#blocks.get(indexOf(event));
        if (!block) throw shapeError("delta's content block", "begun before it", block);
        return addDelta(block, fieldsOf(event.delta, "delta"), this.#emit);
      }
      case "message_delta": {
        const wasFinished = this.#isFinished();
        Object.assign(this.#message, fieldsOf(event.delta, "delta"));
        if (!wasFinished && this.#isFinished()) this.progress++;
        return this.#count(event.usage);
      }
      case "message_stop":
        this.done = true;
    }
  }

  #begin(index: number, fields: Fields): void {
    if (this.#blocks.has(index)) throw shapeError("content blocks", "numbered apart", index);
    this.#blocks.set(index, { fields, json: "" });
    this.progress++;
    reportBlock(fields, this.#emit);
  }

  #isFinished(): boolean {
    return typeof this.#message.stop_reason === "string";
  }

  /** Each count is of all tokens up to then: the last one stands, and null says nothing. */
  #count(usage: unknown): void {
    if (!isObject(usage)) return;
    for (const [key, tokens] of Object.entries(usage)) {
      if (tokens !== null) this.#usage[key] = tokens;
    }
  }
}

interface StreamedBlock {
  fields: Fields;
  /** The JSON text of a call's input, as far as it came. */
  json: string;
}

function addDelta(block: StreamedBlock, delta: Fields, emit: (delta: Delta) => void): void {
  const { fields } = block;
  const append = (key: string): string => {
    const piece = stringOf(delta[key], key);
    fields[key] = stringOf(fields[key], key) + piece;
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
      const text = stringOf(delta.partial_json, "partial_json");
      block.json += text;
      if (text !== "") emit({ type: "tool_arguments", text });
      break;
    }
  }
}

function indexOf(event: Fields): number {
  if (typeof event.index === "number") return event.index;
  throw shapeError("content block's index", "a number", event.index);
}

/** The block as a whole; a call's input is the text that the model wrote where that is no object. */
function wholeBlock({ fields, json }: StreamedBlock): Fields {
  if (fields.type !== "tool_use") return fields;
  if (json.trim() === "") return { ...fields, input: fields.input ?? {} };
  const input = jsonOrUndefined(json);
  return { ...fields, input: isObject(input) ? input : json };
}
