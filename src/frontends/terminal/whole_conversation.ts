/**
 * The conversation as a person saw it: what the model's summary stands for is kept, and so is the
 * answer that is being written. @module
 */

import type { TurnEvent } from "../../types/event.ts";
import type { Message } from "../../types/message.ts";
import type { Called } from "../call_text.ts";

/** The characters kept of what the model does not have any more; beyond, the oldest is shown as it has it. */
export const MAX_KEPT_CHARS = 4 * 2 ** 20;

export class WholeConversation {
  /** The answer that is being written, and the calls that run. */
  readonly written = { reasoning: "", text: "", running: [] as Called[] };
  /** The messages at the last look. */
  #known: readonly Message[] = [];
  /** The messages that a summary stands for. */
  #replaced: Message[] = [];
  /** Results as they were before they were cut, by their calls. */
  readonly #results = new Map<string, Message>();
  readonly #ids = new Map<string, Called>();

  /** @param messages those that the model has now */
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
        // The answer that asks for the call is a message by now.
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

  /** What was being written is a message now, or is none. */
  end(messages: readonly Message[]): void {
    this.#look(messages);
    this.written.reasoning = this.written.text = "";
    this.written.running = [];
  }

  /** All messages of the conversation of which the model has `messages`. */
  of(messages: readonly Message[]): readonly Message[] {
    this.#look(messages);
    const kept = messages.map((message) => this.#results.get(message.toolCallId ?? "") ?? message);
    if (this.#replaced.length === 0) return kept;
    return [...this.#replaced, ...kept.filter(({ standsFor }) => standsFor !== "summary")];
  }

  /** Looks which of the messages are gone, and keeps those that a summary stands for. */
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

  /** Drops the oldest of what is kept until the rest has room: messages, then results. */
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

/** A result that is cut becomes a message of its own for the same call. */
const keyOf = ({ id, toolCallId }: Message) => toolCallId ?? id ?? "";
