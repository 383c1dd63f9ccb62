/**
 * The session as the user saw it, including messages replaced by a summary and the answer being written. @module
 */

import type { TurnEvent } from "../../../types/event.ts";
import type { Message } from "../../../types/message.ts";
import type { Called } from "../../call_text.ts";

/**
 * The maximum number of characters stored of what the model no longer has. Beyond it, the oldest messages are
 * shown as the model has them.
 */
export const MAX_KEPT_CHARS = 4 * 2 ** 20;

export class WholeConversation {
  /** The answer being written, and the running calls. */
  readonly written = { reasoning: "", text: "", running: [] as Called[] };
  /** The messages at the last check. */
  #known: readonly Message[] = [];
  /** The messages that a summary replaced. */
  #replaced: Message[] = [];
  /** Full results of shortened ones, by call. */
  readonly #results = new Map<string, Message>();
  readonly #ids = new Map<string, Called>();

  /** @param messages returns those that the model currently has */
  onEvent(event: TurnEvent, messages: readonly Message[]): void {
    switch (event.type) {
      case "thinking":
        return this.end(messages);
      case "reasoning_delta":
        this.written.reasoning += event.text;
        return;
      case "text_delta":
        this.written.text += event.text;
        return;
      case "text_retracted":
        this.written.text = "";
        return;
      case "tool_start": {
        // The answer with the call is a message now.
        const { running } = this.written;
        this.end(messages);
        const { subject } = event;
        this.#ids.set(event.id, {
          toolName: event.name,
          arguments: event.args,
          ...subject && { subject },
        });
        this.written.running = [...running, this.#ids.get(event.id)!];
        return;
      }
      case "tool_done": {
        const call = this.#ids.get(event.exec.toolCallId);
        this.#ids.delete(event.exec.toolCallId);
        this.written.running = this.written.running.filter((one) => one !== call);
      }
    }
  }

  /** The text being written is a message now, or was discarded. */
  end(messages: readonly Message[]): void {
    this.#look(messages);
    this.written.reasoning = this.written.text = "";
    this.written.running = [];
  }

  /** Returns all messages of the session; the model has `messages` of them. */
  of(messages: readonly Message[]): readonly Message[] {
    this.#look(messages);
    const kept = messages.map((message) => this.#results.get(message.toolCallId ?? "") ?? message);
    if (this.#replaced.length === 0) return kept;
    return [...this.#replaced, ...kept.filter(({ standsFor }) => standsFor !== "summary")];
  }

  /** Finds removed messages, and stores those that a summary replaced. */
  #look(messages: readonly Message[]): void {
    const known = this.#known;
    const isSame = (message: Message, at: number) => message === known[at];
    if (messages.length === known.length && messages.every(isSame)) return;
    this.#known = [...messages];
    const now = new Map(messages.map((message) => [keyOf(message), message]));
    const before = new Set(known.map(keyOf));
    const isOther = !known.some((message) => now.has(keyOf(message)));
    const summary = messages.find(({ standsFor }) => standsFor === "summary");
    if (isOther || summary === undefined) this.#replaced = [];
    if (isOther) return this.#results.clear();
    for (const message of known) {
      const later = now.get(keyOf(message));
      const id = message.toolCallId ?? "";
      if (later !== undefined && later.content !== message.content && !this.#results.has(id)) {
        if (message.role === "tool") this.#results.set(id, message);
      } else if (later === undefined && summary && !before.has(keyOf(summary))) {
        if (message.standsFor !== "summary") this.#replaced.push(this.#results.get(id) ?? message);
        this.#results.delete(id);
      }
    }
    this.#drop();
  }

  /** Drops the oldest stored messages, then results, until the rest fits. */
  #drop(): void {
    let size = 0;
    for (const { content } of [...this.#replaced, ...this.#results.values()]) {
      size += content.length;
    }
    while (size > MAX_KEPT_CHARS && this.#replaced.length > 0) {
      size -= this.#replaced.shift()!.content.length;
    }
    for (const [id, { content }] of this.#results) {
      if (size <= MAX_KEPT_CHARS) return;
      size -= content.length;
      this.#results.delete(id);
    }
  }
}

/** A shortened result becomes a new message for the same call. */
const keyOf = ({ id, toolCallId }: Message) => toolCallId ?? id ?? "";
