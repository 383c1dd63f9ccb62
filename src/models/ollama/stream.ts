import { throwErrorObject } from "../../wire/failure.ts";
import { NdjsonDecoder } from "../../wire/ndjson.ts";
import { rawCall } from "../openai/response.ts";
import { DeltaReader, incompleteAnswer } from "../delta_reader.ts";
import { type Fields, fieldsOf, listOf, stringOf } from "../fields.ts";
import { argumentsText } from "../wire_values.ts";

/** Reads an answer of `/api/chat`, streamed or in one line. */
export class LocalReader extends DeltaReader {
  /** The line that ends the answer. */
  #last: Fields | undefined;
  readonly #contents: string[] = [];
  readonly #thoughts: string[] = [];
  readonly #calls: unknown[] = [];
  readonly #keys = new Set<string>();
  protected readonly decoder = new NdjsonDecoder((value) => this.#take(value));

  get done(): boolean {
    return this.#last !== undefined;
  }

  end(): Fields {
    if (!this.#last) this.decoder.end();
    if (!this.#last) throw incompleteAnswer();
    const thinking = this.#thoughts.join("");
    const message = {
      role: "assistant",
      content: this.#contents.join(""),
      ...(thinking !== "" && { thinking }),
      ...(this.#calls.length > 0 && { tool_calls: this.#calls }),
    };
    return { ...this.#last, message };
  }

  #take(value: unknown): void {
    if (this.#last) return;
    const line = fieldsOf(value, "line");
    if (line.message === undefined || line.error) throwErrorObject(line);
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
    this.#thoughts.push(thought);
    if (thought !== "") this.emit({ type: "reasoning", text: thought });
    const text = stringOf(message.content, "content");
    this.#contents.push(text);
    if (text !== "") this.emit({ type: "text", text });
    if (message.tool_calls) this.#takeCalls(listOf(message.tool_calls, "tool_calls"), isLast);
  }

  /** Adds calls, which are complete. Some servers repeat them in the last line. */
  #takeCalls(calls: readonly unknown[], isLast: boolean): void {
    const keys: string[] = [];
    for (const call of calls) {
      const { id, name, args } = rawCall(call);
      const { index } = (call as { function: Fields }).function;
      const key = `${id || JSON.stringify(index)} ${name} ${argumentsText(args)}`;
      if ((id !== "" || isLast) && this.#keys.has(key)) continue;
      keys.push(key);
      this.#calls.push(call);
      this.emit({ type: "tool_call", name });
    }
    for (const key of keys) this.#keys.add(key);
  }
}
