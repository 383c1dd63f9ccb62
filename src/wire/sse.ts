/** Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html. @module */

import { LineDecoder } from "./lines.ts";

export interface SseEvent {
  /** The event's type; `message` by default. */
  event: string;
  /** Its data lines, joined by `\n`. */
  data: string;
  /** True if the stream ended within the event, so that its data may be cut. */
  cut?: true;
}

/** Decodes an event stream. A last event without its blank line is `cut`, because some servers omit that line. */
export class SseDecoder extends LineDecoder {
  /** The newest id, and the time to wait before reconnecting in milliseconds. */
  lastId: string | undefined;
  retryMs: number | undefined;
  #event = "";
  #data: string | undefined;

  constructor(private readonly onEvent: (event: SseEvent) => void) {
    super((line) => this.#takeLine(line), { loneCr: true });
  }

  override end(): void {
    super.end();
    const data = this.#data;
    if (data !== undefined) this.onEvent({ event: this.#event || "message", data, cut: true });
  }

  #takeLine(line: string): void {
    if (line === "") {
      const event = this.#event || "message";
      const data = this.#data;
      this.#event = "";
      this.#data = undefined;
      if (data !== undefined) this.onEvent({ event, data });
      return;
    }
    // Proxies write errors into the stream as bare JSON, and llama.cpp wrote `error: {...}`.
    const [, field, json] = /^(error: *)?(\{.*\})\s*$/.exec(line) ?? [];
    if (json !== undefined) return this.onEvent({ event: field ? "error" : "message", data: json });
    const colon = line.indexOf(":");
    const end = colon < 0 ? line.length : colon;
    const name = line.slice(0, end);
    const value = line.slice(end + (line[end + 1] === " " ? 2 : 1));
    if (name === "id" && !value.includes("\0")) this.lastId = value;
    if (name === "retry" && /^\d{1,9}$/.test(value)) this.retryMs = Number(value);
    if (name === "event") this.#event = value;
    if (name !== "data") return;
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }
}
