/**
 * Server-sent events, as the WHATWG standard says
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
 *
 * @module
 */

import { checkLength, type Decoder, lineDecoder } from "./lines.ts";

/** An event of a stream. */
export interface SseEvent {
  /** The event's type: `message` when it has none. */
  event: string;
  /** Its data lines, joined by `\n`. */
  data: string;
  /** True when the stream ended within the event: its data may be cut anywhere. */
  cut?: true;
}

/**
 * Decodes an event stream. The event that is under way at the end is delivered too (some servers
 * leave out the last blank line), marked as `cut`; the standard would drop it.
 *
 * @throws {BackendError} of kind `protocol`, from `push`, when an event is longer than 64 Mi characters.
 */
export function sseDecoder(onEvent: (event: SseEvent) => void): Decoder {
  let event = "";
  let data: string | undefined;

  function field(name: string, value: string): void {
    if (name === "event") event = value;
    if (name !== "data") return; // `id`, `retry` and unknown ones mean nothing to a request.
    data = data === undefined ? value : `${data}\n${value}`;
    checkLength(data.length, "longest event");
  }
  const lines = lineDecoder((line) => {
    if (line === "") {
      const type = event || "message";
      const text = data;
      event = "";
      data = undefined;
      if (text !== undefined) onEvent({ event: type, data: text });
      return;
    }
    // Nearly every line of a model's stream is such; this is a third faster than the code below.
    if (data === undefined && line.startsWith("data: ")) {
      data = line.slice(6);
      return;
    }
    const colon = line.indexOf(":");
    if (colon < 0) field(line, "");
    else if (colon > 0) {
      field(line.slice(0, colon), line.slice(colon + (line[colon + 1] === " " ? 2 : 1)));
    }
  }, { loneCr: true });

  return {
    push: lines.push,
    end() {
      lines.end();
      if (data !== undefined) onEvent({ event: event || "message", data, cut: true });
    },
  };
}
