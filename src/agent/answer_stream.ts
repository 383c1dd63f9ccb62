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
import type { TurnEvent } from "../types/event.ts";
import type { Tool } from "../types/tool.ts";

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
  let stopped = false;
  let ended = false;

  function show(kind: Kind, text: string): void {
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
  function emitText(kind: Kind, text: string): void {
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
  const gathered = gatherer((kind, text) => {
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
  });
  return {
    push(delta) {
      if (delta.type === "tool_arguments" || stopped || ended) return;
      if (delta.type !== "tool_call") return gathered.push(delta.type, delta.text);
      gathered.flush();
      take(think.push(calls.release()));
    },
    end() {
      if (!ended) {
        gathered.flush();
        take(think.push(calls.end().text));
        take(think.end());
        ended = true;
      }
      return seen;
    },
  };
}

type Kind = "text" | "reasoning";

/**
 * Gathers pieces until the network's chunk is read, and gives them out as one, whole characters only:
 * 500 000 pieces come in a few hundred chunks, and what follows costs more for each call than for each
 * character.
 */
function gatherer(give: (kind: Kind, text: string) => void) {
  let pending: { kind: Kind; pieces: string[] } | undefined;
  let scheduled = false;
  function flush(final: boolean): void {
    scheduled = false;
    if (pending === undefined) return;
    const { kind, pieces } = pending;
    pending = undefined;
    let text = pieces.join("");
    if (!final && (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800) {
      // The other half of the character is in the next piece.
      pending = { kind, pieces: [text.slice(-1)] };
      text = text.slice(0, -1);
    }
    give(kind, text);
  }
  return {
    flush: () => flush(true),
    push(kind: Kind, piece: string): void {
      if (pending?.kind !== kind) {
        flush(true);
        pending = { kind, pieces: [] };
      }
      pending.pieces.push(piece);
      if (scheduled) return;
      scheduled = true;
      queueMicrotask(() => flush(false));
    },
  };
}
