import { SeamJoiner } from "../text/seams.ts";
import type { ToolCall } from "../types/message.ts";
import { callScanner, type ScannedPart, type ToolCallOptions } from "./scan.ts";
import { outOfSentences } from "./sentences.ts";

/** Takes tool calls out of text that streams: see {@linkcode toolCallFilter}. */
interface ToolCallFilter {
  /** Takes the next piece; returns what can be shown now. */
  push(piece: string): string;
  /** Makes all calls text: returns the text held back; `push` returns all pieces from here on. */
  release(): string;
  /** From here on, think tags are text. */
  ignoreTags(): void;
  /** The text is over; returns the rest that can be shown, and the calls. */
  end(): { text: string; calls: ToolCall[] };
}

/**
 * Takes tool calls out of text as it streams, so that nobody sees half a call. Held back is only
 * what may be part of one, white space until text follows, and all that follows a call: if a native
 * call comes, the written one is text after all. However the text is cut into pieces, the output
 * adds up to the text that {@linkcode extractToolCallsFromText} returns.
 */
export function toolCallFilter(options: ToolCallOptions = {}): ToolCallFilter {
  const scanner = outOfSentences(callScanner(options));
  let rest = new SeamJoiner();
  let calls: ToolCall[] = [];
  /** The text since the first call, as the model wrote it and without the calls. */
  let written = "";
  let cleaned = "";
  let isReleased = false;

  function take(part: ScannedPart): string {
    if (part.kind === "calls") {
      if (calls.length === 0) written = rest.end();
      for (const call of part.calls) calls.push(call);
      rest.cut();
    } else if (part.kind === "retraction" && calls.length > 0) {
      const text = written;
      rest = new SeamJoiner();
      calls = [];
      written = cleaned = "";
      return text + rest.push(part.text);
    } else if (calls.length === 0) return rest.push(part.text);
    else cleaned += rest.push(part.text);
    written += part.text;
    return "";
  }

  function scan(piece: string, final: boolean): string {
    let text = "";
    for (const part of scanner.push(piece, final)) text += take(part);
    return text;
  }

  return {
    push: (piece) => isReleased ? piece : scan(piece, false),
    release() {
      if (isReleased) return "";
      isReleased = true;
      const shown = scan("", true);
      const held = calls.length > 0 ? written : rest.end();
      calls = [];
      return shown + held;
    },
    ignoreTags: () => scanner.ignoreTags(),
    end() {
      if (isReleased) return { text: "", calls };
      const text = scan("", true);
      return { text: text + cleaned + rest.end(), calls };
    },
  };
}
