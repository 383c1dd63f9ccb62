/** The one place where the text of an answer is split into text, reasoning and calls. @module */

import { ChannelReader } from "../text/channels.ts";
import { MarkCutter } from "../text/leaked_marks.ts";
import { ThinkFilter, type ThinkSplit } from "../text/think.ts";
import type { ToolCall } from "../types/message.ts";
import type { Delta, SplitAnswer, Splitter } from "./backend.ts";

/** Takes the calls out of text that streams. */
interface CallFilter {
  /** Takes the next piece; returns what is no call. */
  push(piece: string): string;
  /** Nothing is a call after all: returns what was held back. */
  release(): string;
  /** From here on, think tags are text. */
  ignoreTags(): void;
  /** The text is over. */
  end(): { text: string; calls: ToolCall[] };
}

interface SplitterOptions {
  /**
   * True where text is only that, as the protocol has blocks of its own for reasoning and calls; it is
   * asked once the answer comes.
   */
  isTyped?: (() => boolean) | undefined;
  /** Finds calls in the text; without it none are looked for. */
  calls?: CallFilter | undefined;
  /** Called with each piece of text and of reasoning, as soon as it is known which of the two it is. */
  onPiece?: ((kind: keyof SplitSoFar, piece: string) => void) | undefined;
  /** Called when all text so far turns out to be reasoning; as that it is given out next. */
  onRetracted?: (() => void) | undefined;
}

type SplitSoFar = Pick<SplitAnswer, "text" | "reasoning">;

/** Splits one answer. However it is cut into pieces, the end is the same. */
export class AnswerSplitter implements Splitter {
  /** Calls are taken out first: the arguments of one may hold think tags. */
  get #calls(): CallFilter | undefined {
    return this.options.isTyped?.() ? undefined : this.options.calls;
  }
  readonly #channels = new ChannelReader();
  readonly #think = new ThinkFilter();
  #marks = new MarkCutter();
  readonly #seen: SplitSoFar = { text: "", reasoning: "" };
  /** White space that the server told as reasoning before any reasoning came. */
  #blank = "";
  /** True once the server told reasoning apart: tags in the text are mentions then. */
  #isApart = false;
  #found: ToolCall[] | undefined;

  constructor(private readonly options: SplitterOptions = {}) {}

  /** The text and the reasoning that were given out so far. */
  get soFar(): Readonly<SplitSoFar> {
    return this.#seen;
  }

  push(delta: Delta): void {
    if (this.#found) return;
    if (delta.type === "reasoning") this.#pushReasoning(delta.text);
    if (delta.type === "text") this.#pushText(delta.text);
    if (delta.type === "tool_call" && this.#calls) {
      this.#take(this.#think.push(this.#calls.release()));
    }
  }

  end(): SplitAnswer {
    if (!this.#found) {
      if (!this.options.isTyped?.()) this.#pushPlain(this.#channels.push("", true));
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
    if (this.options.isTyped?.()) return this.#add("text", piece);
    this.#pushPlain(this.#channels.push(piece));
  }

  #pushPlain(text: string): void {
    this.#take(this.#think.push(this.#calls ? this.#calls.push(text) : text));
  }

  #pushReasoning(piece: string): void {
    if (this.#isApart) return this.#add("reasoning", piece);
    this.#blank += piece;
    if (piece.trim() === "") return;
    this.#isApart = true;
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
