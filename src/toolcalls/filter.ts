import { seamJoiner } from "../text/seams.ts";
import { callScanner, type Part, type ToolCallOptions } from "./scan.ts";

/** Takes tool calls out of text that streams: see {@linkcode toolCallFilter}. */
export interface ToolCallFilter {
  /** Takes the next piece; returns what can be shown now. */
  push(piece: string): string;
  /** The text is over; returns the rest that can be shown. */
  end(): string;
}

/**
 * Takes tool calls out of text as it streams, so that nobody sees half a call. Held back is only
 * what may be part of one, and white space until text follows. However the text is cut into pieces,
 * what comes out adds up to the text that {@linkcode extractToolCallsFromText} returns; but for
 * calls within reasoning that turns out to be none or to be some only afterwards.
 */
export function toolCallFilter(options: ToolCallOptions = {}): ToolCallFilter {
  const scanner = callScanner(options);
  const rest = seamJoiner();
  function shown(parts: Part[]): string {
    let text = "";
    for (const part of parts) {
      if (part.kind === "calls") rest.cut();
      else if (part.kind !== "unfinished_thought") text += rest.push(part.text);
    }
    return text;
  }
  return {
    push: (piece) => shown(scanner.push(piece, false)),
    end: () => shown(scanner.push("", true)) + rest.end(),
  };
}
