/** Splits an answer into text, reasoning and calls; the only place that does. @module */

import { ChannelReader } from "../text/channels.ts";
import { MarkCutter } from "../text/leaked_marks.ts";
import { ThinkFilter, type ThinkSplit } from "../text/think.ts";
import type { ToolCall } from "../types/message.ts";
import type { Delta, SplitAnswer, Splitter } from "./backend.ts";

/** Finds calls in text. */
export interface CallFilter {
  /** Reads the next piece. Returns the part that is not a call. */
  push(piece: string): string;
  /** Handles a native call: from now on, marked calls are dropped and code is text. Returns the held text. */
  onNativeCall(): string;
  /** From here on, think tags are text. */
  ignoreTags(): void;
  end(): { text: string; calls: ToolCall[] };
}

interface SplitterOptions {
  /** True if the protocol has blocks for reasoning and calls. Called once the answer arrives. */
  hasBlocks?: (() => boolean) | undefined;
  /** Finds calls in the text. Without it, calls in the text stay text. */
  calls?: CallFilter | undefined;
  onPiece?: ((kind: keyof SplitSoFar, piece: string) => void) | undefined;
  /** Called if all text so far turns out to be reasoning. It is then sent again as reasoning. */
  onRetracted?: (() => void) | undefined;
}

type SplitSoFar = Pick<SplitAnswer, "text" | "reasoning">;

/** Splits one answer. The result does not depend on how the text is split into pieces. */
export class AnswerSplitter implements Splitter {
  /** Extracts calls first, because their arguments may contain think tags. */
  get #calls(): CallFilter | undefined {
    return this.options.hasBlocks?.() ? undefined : this.options.calls;
  }
  readonly #channels = new ChannelReader();
  readonly #think = new ThinkFilter();
  #marks = new MarkCutter();
  readonly #seen: SplitSoFar = { text: "", reasoning: "" };
  /** White space that the server sent as reasoning before any reasoning. */
  #blank = "";
  /** True after the server sent reasoning in its own field: tags in the text are then text. */
  #hasReasoningField = false;
  #found: ToolCall[] | undefined;

  constructor(private readonly options: SplitterOptions = {}) {}

  /** The text and the reasoning sent so far. */
  get soFar(): Readonly<SplitSoFar> {
    return this.#seen;
  }

  push(delta: Delta): void {
    if (this.#found) return;
    if (delta.type === "reasoning") this.#pushReasoning(delta.text);
    if (delta.type === "text") this.#pushText(delta.text);
    if (delta.type === "tool_call" && this.#calls) {
      this.#take(this.#think.push(this.#calls.onNativeCall()));
    }
  }

  end(): SplitAnswer {
    if (!this.#found) {
      if (!this.options.hasBlocks?.()) this.#pushPlain(this.#channels.push("", true));
      const { text, calls } = this.#calls?.end() ?? { text: "", calls: [] };
      this.#take(this.#think.push(text));
      this.#take(this.#think.end());
      this.#add("text", this.#marks.push("", true));
      this.#found = calls;
    }
    const { callMark } = this.#marks;
    return { ...this.#seen, calls: this.#found, ...(callMark !== undefined && { callMark }) };
  }

  #pushText(piece: string): void {
    if (this.options.hasBlocks?.()) return this.#add("text", piece);
    this.#pushPlain(this.#channels.push(piece));
  }

  #pushPlain(text: string): void {
    this.#take(this.#think.push(this.#calls ? this.#calls.push(text) : text));
  }

  #pushReasoning(piece: string): void {
    if (this.#hasReasoningField) return this.#add("reasoning", piece);
    this.#blank += piece;
    if (piece.trim() === "") return;
    this.#hasReasoningField = true;
    this.#calls?.ignoreTags();
    this.#think.ignoreTags();
    this.#add("reasoning", (this.#seen.reasoning === "" ? "" : "\n\n") + this.#blank);
  }

  #take(split: ThinkSplit): void {
    if (split.retracted) {
      if (this.#seen.text !== "") this.options.onRetracted?.();
      this.#seen.text = "";
      this.#marks = new MarkCutter();
    }
    this.#add("reasoning", split.reasoning);
    this.#add("text", this.#marks.push(split.text));
  }

  #add(kind: keyof SplitSoFar, piece: string): void {
    if (piece === "") return;
    this.#seen[kind] += piece;
    this.options.onPiece?.(kind, piece);
  }
}
