/**
 * Server-sent events, as the WHATWG standard says
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
 *
 * @module
 */

import type { Decoder } from "./lines.ts";

/** One event. */
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
 * leave out the last blank line), marked as `cut`; where the standard would drop it.
 */
export function sseDecoder(_onEvent: (event: SseEvent) => void): Decoder {
  throw new Error("not yet");
}
