/** An answer while it arrives: split, reported as events, and checked for repetition. @module */

import { AnswerSplitter } from "../models/answer_splitter.ts";
import type { Delta, SplitAnswer, Splitter } from "../models/backend.ts";
import { namesAndSchemas } from "../models/reply.ts";
import { HIDDEN_CYCLE, REPETITION_WARNING, RepetitionWatcher } from "../text/repetition.ts";
import { CHARS_PER_TOKEN } from "../text/count.ts";
import { ToolCallFilter } from "../models/toolcalls/extract.ts";
import type { TurnEvent } from "../types/event.ts";
import type { Tool } from "../types/tool.ts";

type Kind = "text" | "reasoning";
/** The kinds of pieces that are batched. The arguments of calls are not split. */
type BatchedKind = Kind | "arguments";

interface AnswerStreamOptions {
  tools: readonly Tool[];
  emit: (event: TurnEvent) => void;
  /** Called if the model repeats itself without end. */
  onRunaway: () => void;
  /** True if the text contains neither calls nor reasoning; by default false. */
  hasBlocks?: () => boolean;
  /** The maximum tokens of thinking without text after it. `onOverthought` is called once if there are more. */
  maxThought?: number | undefined;
  onOverthought?: () => void;
}

/** Receives the pieces of one answer. A repetition ends it with a warning. */
export class AnswerStream implements Splitter {
  readonly #splitter: AnswerSplitter;
  readonly #batcher: DeltaBatcher;
  readonly #watchers = { text: new RepetitionWatcher(), reasoning: new RepetitionWatcher() };
  /** Watch the raw pieces, because hidden text may be endless, too. */
  readonly #hidden = {
    text: new RepetitionWatcher(HIDDEN_CYCLE),
    reasoning: new RepetitionWatcher(HIDDEN_CYCLE),
    tool_arguments: new RepetitionWatcher(HIDDEN_CYCLE),
  };
  /** The kinds of pieces that arrived. */
  readonly received = new Set<Delta["type"]>();
  #callName = "";
  /** The answer up to its repetition, which ended it. */
  #stopped: SplitAnswer | undefined;

  constructor(private readonly options: AnswerStreamOptions) {
    const { tools, hasBlocks = () => false } = options;
    this.#splitter = new AnswerSplitter({
      hasBlocks,
      ...(tools.length > 0 && { calls: new ToolCallFilter(namesAndSchemas(tools)) }),
      onPiece: (kind, piece) => this.#show(kind, piece),
      onRetracted: () => this.#retract(),
    });
    this.#batcher = new DeltaBatcher((type, text) => {
      if (type !== "arguments") this.#splitter.push({ type, text });
      else if (!this.#stopped) options.emit({ type: "call_delta", name: this.#callName, text });
    });
  }

  push(delta: Delta): void {
    if (this.#stopped) return;
    this.received.add(delta.type);
    if (delta.type === "prompt_progress") return this.options.emit(delta);
    if (delta.type !== "tool_call" && this.#hidden[delta.type].push(delta.text) !== undefined) {
      this.options.onRunaway();
    }
    if (delta.type === "tool_arguments") return this.#batcher.push("arguments", delta.text);
    if (delta.type !== "tool_call") return this.#batcher.push(delta.type, delta.text);
    this.#batcher.flush();
    this.#splitter.push(delta);
    this.#callName = delta.name;
    this.options.emit({ type: "call_delta", name: delta.name, text: "" });
  }

  end(): SplitAnswer {
    this.#batcher.flush();
    const whole = this.#splitter.end();
    return this.#stopped ?? whole;
  }

  #show(kind: Kind, piece: string): void {
    if (this.#stopped) return;
    const at = this.#watchers[kind].push(piece);
    if (at === undefined) {
      const { maxThought = Infinity, onOverthought } = this.options;
      const { text, reasoning } = this.#splitter.soFar;
      if (reasoning.length > maxThought * CHARS_PER_TOKEN && text.trim() === "") onOverthought?.();
      return this.#report(kind, piece);
    }
    const whole = this.#splitter.soFar[kind];
    const left = whole.slice(0, at) + REPETITION_WARNING;
    this.#stopped = { ...this.#splitter.soFar, calls: [], [kind]: left };
    this.#report(kind, left.slice(Math.min(whole.length - piece.length, at)));
    this.options.onRunaway();
  }

  #report(kind: Kind, text: string): void {
    this.options.emit({ type: kind === "text" ? "text_delta" : "reasoning_delta", text });
  }

  /** The text so far was reasoning. The user has read it, so an event reports that. */
  #retract(): void {
    if (this.#stopped) return;
    this.options.emit({ type: "text_retracted" });
    this.#watchers.text = new RepetitionWatcher();
  }
}

/**
 * Batches pieces until the network's chunk is read, and emits them as one, in whole characters: 500 000 pieces
 * arrive in a few hundred chunks, and the following steps cost more per call than per character.
 */
class DeltaBatcher {
  #pending: { kind: BatchedKind; pieces: string[] } | undefined;
  #isScheduled = false;

  constructor(private readonly give: (kind: BatchedKind, text: string) => void) {}

  push(kind: BatchedKind, piece: string): void {
    if (this.#pending?.kind !== kind) {
      this.flush();
      this.#pending = { kind, pieces: [] };
    }
    this.#pending.pieces.push(piece);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.flush(false));
  }

  /** Emits the batch. Unless `isFinal`, half a character at the end waits for the rest. */
  flush(isFinal = true): void {
    this.#isScheduled = false;
    if (this.#pending === undefined) return;
    const { kind, pieces } = this.#pending;
    this.#pending = undefined;
    let text = pieces.join("");
    if (!isFinal && (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800) {
      this.#pending = { kind, pieces: [text.slice(-1)] };
      text = text.slice(0, -1);
    }
    this.give(kind, text);
  }
}
