/**
 * What becomes of an answer's pieces on their way to the person: reasoning and tool calls are taken
 * out of the text, and a runaway repetition is noticed.
 *
 * @module
 */

import type { Delta } from "../backends/backend.ts";
import { REPETITION_WARNING, repetitionWatcher } from "../text/repetition.ts";
import { thinkFilter, type ThinkSplit } from "../text/think.ts";
import { toolCallFilter } from "../toolcalls/filter.ts";
import type { Tool, TurnEvent } from "../types.ts";

/** Receives the pieces of one answer. */
export interface AnswerStream {
  /** Takes the next piece. */
  push(delta: Delta): void;
  /** Reports what was held back; what there is of the answer. Calling it again changes nothing. */
  end(): { text: string; reasoning: string };
}

/** How the text of an answer is to be read. */
export interface AnswerStreamOptions {
  /** True where it holds neither calls nor reasoning: false. */
  isTyped?: boolean;
  /** False where code blocks are no calls: true. */
  fences?: boolean;
}

/**
 * A stream that reports to `emit`. `onRunaway` is called when the model repeats itself without end;
 * the text then ends where the repetition began, with a warning, and later pieces are dropped.
 */
export function answerStream(
  tools: readonly Tool[],
  emit: (event: TurnEvent) => void,
  onRunaway: () => void,
  { isTyped = false, fences = true }: AnswerStreamOptions = {},
): AnswerStream {
  const think = thinkFilter();
  // Calls first: the arguments of one may hold think tags.
  const calls = toolCallFilter({ tools: tools.map((tool) => tool.name), fences });
  let hasReasoning = false;
  const watchers = { text: repetitionWatcher(), reasoning: repetitionWatcher() };
  const seen = { text: "", reasoning: "" };
  // Pieces are gathered until the network's chunk is read: 500 000 of them come in a few hundred
  // chunks, and what follows costs more for each call than for each character.
  let pending: { kind: "text" | "reasoning"; pieces: string[] } | undefined;
  let scheduled = false;
  let stopped = false;
  let ended = false;

  function show(kind: "text" | "reasoning", text: string): void {
    if (text === "" || stopped) return;
    const cut = watchers[kind].push(text);
    seen[kind] += text;
    if (cut === undefined) return emitText(kind, text);
    stopped = true;
    const shown = seen[kind].length - text.length;
    seen[kind] = seen[kind].slice(0, cut) + REPETITION_WARNING;
    emitText(kind, seen[kind].slice(Math.min(shown, cut)));
    onRunaway();
  }
  function emitText(kind: "text" | "reasoning", text: string): void {
    emit({ type: kind === "text" ? "text_delta" : "reasoning_delta", text });
  }
  function take(part: ThinkSplit): void {
    if (part.retracted) {
      // What was shown as text was reasoning; it can not be unsaid, only told.
      if (seen.text !== "") emit({ type: "text_retracted" });
      seen.text = "";
      watchers.text = repetitionWatcher();
    }
    show("reasoning", part.reasoning);
    show("text", part.text);
  }
  function flush(final: boolean): void {
    scheduled = false;
    if (pending === undefined) return;
    const { kind, pieces } = pending;
    pending = undefined;
    let text = pieces.join("");
    if (!final && (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800) {
      // Half of a character: its other half is in the next piece.
      pending = { kind, pieces: [text.slice(-1)] };
      text = text.slice(0, -1);
    }
    if (kind === "reasoning") {
      // The server tells reasoning apart: tags in the text are merely talked about.
      if (!hasReasoning && text.trim() !== "") {
        hasReasoning = true;
        calls.ignoreTags();
        think.ignoreTags();
      }
      show("reasoning", text);
    } else if (isTyped) show("text", text);
    else take(think.push(calls.push(text)));
  }
  return {
    push(delta) {
      if (delta.type === "tool_arguments" || stopped || ended) return;
      if (delta.type === "tool_call") {
        flush(true);
        take(think.push(calls.release()));
        return;
      }
      if (pending?.kind !== delta.type) {
        flush(true);
        pending = { kind: delta.type, pieces: [] };
      }
      pending.pieces.push(delta.text);
      if (scheduled) return;
      scheduled = true;
      queueMicrotask(() => flush(false));
    },
    end() {
      if (!ended) {
        flush(true);
        take(think.push(calls.end().text));
        take(think.end());
        ended = true;
      }
      return seen;
    },
  };
}
