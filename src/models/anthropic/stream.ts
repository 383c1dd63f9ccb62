import { isObject, jsonOrUndefined } from "../../text/json.ts";
import { throwErrorObject } from "../../wire/failure.ts";
import { JsonReader, type StreamReader } from "../../wire/http.ts";
import { parseJson } from "../../wire/ndjson.ts";
import { SseDecoder, type SseEvent } from "../../wire/sse.ts";
import { DeltaReader, hasEvents, incompleteAnswer, type OnDelta } from "../delta_reader.ts";
import { type Fields, fieldsOf, shapeError, stringOf } from "../fields.ts";

/** Returns a reader for an answer of `contentType`. */
export function hostedReader(
  contentType: string,
  stream: boolean,
  onDelta?: OnDelta,
): StreamReader<Fields> {
  if (hasEvents(contentType, stream)) return new HostedReader(onDelta);
  return new JsonReader((value) => fieldsOf(value, "answer"));
}

/** Folds an answer of events. Blocks may overlap, because some servers close all of them at the end. */
class HostedReader extends DeltaReader {
  done = false;
  // Both are changed in place, and have no prototype that a key of the answer could match.
  readonly #message: Fields = Object.assign(Object.create(null), {
    type: "message",
    role: "assistant",
    stop_reason: null,
  });
  readonly #usage: Fields = Object.create(null);
  /** All original blocks, and the newest one of each number. */
  readonly #all: [index: number, block: StreamedBlock][] = [];
  readonly #blocks = new Map<number, StreamedBlock>();
  protected readonly decoder = new SseDecoder((event) => this.#takeEvent(event));

  end(): Fields {
    this.decoder.end();
    if (!this.done) throw incompleteAnswer();
    const blocks = this.#all.toSorted(([a], [b]) => a - b);
    const content = blocks.map(([, block]) => wholeBlock(block));
    return { ...this.#message, content, usage: { ...this.#usage } };
  }

  #takeEvent({ event: name, data, cut }: SseEvent): void {
    if (this.done || data === "") return;
    const event = fieldsOf(parseJson(data, cut), "event");
    throwErrorObject(event, name === "error");
    switch (event.type) {
      case "message_start":
        Object.assign(this.#message, fieldsOf(event.message, "message"));
        return this.#count(this.#message.usage);
      case "content_block_start":
        return this.#begin(indexOf(event), { ...fieldsOf(event.content_block, "content block") });
      case "content_block_delta": {
        const block = this.#blocks.get(indexOf(event));
        if (!block) throw shapeError("delta's content block", "started before it", block);
        return this.#add(block, fieldsOf(event.delta, "delta"));
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
    // Ollama gives a call the number of the thought before it.
    if (this.#blocks.get(index)?.fields.type === fields.type) {
      throw shapeError("content blocks", "numbered apart", index);
    }
    const block = { fields, json: "" };
    this.#all.push([index, block]);
    this.#blocks.set(index, block);
    this.progress++;
    const text = stringOf(fields.text, "text");
    const thinking = stringOf(fields.thinking, "thinking");
    if (fields.type === "text" && text !== "") this.emit({ type: "text", text });
    if (fields.type === "thinking" && thinking !== "") {
      this.emit({ type: "reasoning", text: thinking });
    }
    if (fields.type === "tool_use") {
      this.emit({ type: "tool_call", name: stringOf(fields.name, "name") });
    }
  }

  #add(block: StreamedBlock, delta: Fields): void {
    const { fields } = block;
    const [key, type] = DELTAS[`${fields.type} ${delta.type}`] ?? [];
    if (key === undefined) return;
    const text = stringOf(delta[key], key);
    if (key === "partial_json") block.json += text;
    else fields[key] = stringOf(fields[key], key) + text;
    if (type && text !== "") this.emit({ type, text });
  }

  #isFinished(): boolean {
    return typeof this.#message.stop_reason === "string";
  }

  /** Each count is a running total, so the last one counts. Null has no meaning. */
  #count(usage: unknown): void {
    if (!isObject(usage)) return;
    for (const [key, tokens] of Object.entries(usage)) {
      if (tokens !== null) this.#usage[key] = tokens;
    }
  }
}

interface StreamedBlock {
  fields: Fields;
  /** The JSON text of a call's input so far. */
  json: string;
}

/** The field that a delta extends and its kind, by the types of both. Other deltas are of later versions. */
const DELTAS: Readonly<
  Record<string, [key: string, type?: "text" | "reasoning" | "tool_arguments"]>
> = {
  "text text_delta": ["text", "text"],
  "thinking thinking_delta": ["thinking", "reasoning"],
  "thinking signature_delta": ["signature"],
  "tool_use input_json_delta": ["partial_json", "tool_arguments"],
};

function indexOf(event: Fields): number {
  if (typeof event.index === "number") return event.index;
  throw shapeError("content block's index", "a number", event.index);
}

/** Returns the complete block. If a call's input is not an object, it is the model's text. */
function wholeBlock({ fields, json }: StreamedBlock): Fields {
  if (fields.type !== "tool_use") return fields;
  if (json.trim() === "") return { ...fields, input: fields.input ?? {} };
  const input = jsonOrUndefined(json);
  return { ...fields, input: isObject(input) ? input : json };
}
