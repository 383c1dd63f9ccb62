/**
 * A streamed answer of `/api/chat`, folded into the response that a call without streaming returns.
 * Pure.
 *
 * @module
 */

import { failureFromErrorObject } from "../../wire/failure.ts";
import type { StreamReader } from "../../wire/http.ts";
import { NdjsonDecoder } from "../../wire/ndjson.ts";
import { brokeOff, type Fields, fieldsOf, listOf, stringOf } from "../fields.ts";
import type { Delta } from "../backend.ts";
import { argumentsText } from "../wire_values.ts";
import { rawCall } from "../compat/response.ts";
import type { OnDelta } from "../compat/stream.ts";

/** Reads an answer of `/api/chat`, streamed or in one line. */
export class LocalReader implements StreamReader<Fields> {
  progress = 0;
  /** True once a piece of the answer came. */
  started = false;
  /** The line that ends the answer. */
  #last: Fields | undefined;
  #content = "";
  #thinking = "";
  readonly #onDelta: OnDelta;
  readonly #calls = new LocalCalls((name) => this.#emit({ type: "tool_call", name }));
  readonly #decoder = new NdjsonDecoder((value) => this.#take(value));

  constructor(onDelta: OnDelta = () => {}) {
    this.#onDelta = onDelta;
  }

  get done(): boolean {
    return this.#last !== undefined;
  }

  push(chunk: Uint8Array): void {
    this.#decoder.push(chunk);
  }

  end(): Fields {
    if (!this.#last) this.#decoder.end();
    if (!this.#last) throw brokeOff();
    const message = {
      role: "assistant",
      content: this.#content,
      ...(this.#thinking !== "" && { thinking: this.#thinking }),
      ...(this.#calls.all.length > 0 && { tool_calls: this.#calls.all }),
    };
    return { ...this.#last, message };
  }

  #take(value: unknown): void {
    if (this.#last) return;
    const line = fieldsOf(value, "line");
    if (line.message === undefined || line.error) {
      const failure = failureFromErrorObject(line);
      if (failure) throw failure;
    }
    const isLast = line.done === true;
    // Old servers end with a line of counts alone.
    const isBare = isLast && (line.message ?? null) === null;
    if (!isBare) this.#takeMessage(fieldsOf(line.message, "message"), isLast);
    if (!isLast) return;
    this.progress++;
    this.#last = line;
  }

  #takeMessage(message: Fields, isLast: boolean): void {
    const thought = stringOf(message.thinking, "thinking");
    if (thought !== "") {
      this.#thinking += thought;
      this.#emit({ type: "reasoning", text: thought });
    }
    const text = stringOf(message.content, "content");
    if (text !== "") {
      this.#content += text;
      this.#emit({ type: "text", text });
    }
    if (message.tool_calls) this.#calls.add(listOf(message.tool_calls, "tool_calls"), isLast);
  }

  #emit(delta: Delta): void {
    this.progress++;
    this.started = true;
    this.#onDelta(delta);
  }
}

/** Collects calls, which come whole; some servers send them once more in the last line. */
class LocalCalls {
  readonly all: unknown[] = [];
  /** A key for each call of an earlier line. */
  readonly #keys = new Set<string>();
  readonly #onName: (name: string) => void;

  constructor(onName: (name: string) => void) {
    this.#onName = onName;
  }

  add(calls: readonly unknown[], isLast: boolean): void {
    const keys: string[] = [];
    for (const call of calls) {
      const { id, name, args } = rawCall(call);
      const { index } = (call as { function: Fields }).function;
      const key = `${id || JSON.stringify(index)} ${name} ${argumentsText(args)}`;
      if ((id !== "" || isLast) && this.#keys.has(key)) continue;
      keys.push(key);
      this.all.push(call);
      this.#onName(name);
    }
    for (const key of keys) this.#keys.add(key);
  }
}
