/** The session as the user saw it, with messages that a summary replaced and the current answer. @module */

import type { TurnEvent } from "../../../types/event.ts";
import type { Message } from "../../../types/message.ts";
import { truncateMiddle } from "../../../text/truncate.ts";
import type { CallFacts } from "../../call_text.ts";

/** Of more characters in results that the model no longer has, the oldest are cut: they would fill the memory. */
const MAX_OLD_CHARS = 2_000_000;
/** The maximum characters of a result that is cut. */
const MAX_CUT_CHARS = 1000;

type RunningCall = CallFacts & { id: string };

export class WholeConversation {
  written = { reasoning: "", text: "", running: [] as RunningCall[] };
  #known: ReadonlySet<unknown> = new Set();
  /** All messages of the session by key, each result as it first was. */
  #all = new Map<unknown, Message>();

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
        const { id, name: toolName, args, subject } = event;
        const call = { id, toolName, arguments: args, ...subject && { subject } };
        this.written.running = [...running, call];
        return;
      }
      case "tool_done": {
        const { toolCallId } = event.exec;
        this.written.running = this.written.running.filter(({ id }) => id !== toolCallId);
      }
    }
  }

  /** Ends the answer: its text is a message now, or was discarded. */
  end(messages: readonly Message[]): void {
    this.#scan(messages);
    this.written = { reasoning: "", text: "", running: [] };
  }

  /** Returns all messages of the session; the model has `messages` of them. */
  of(messages: readonly Message[]): readonly Message[] {
    this.#scan(messages);
    const all = [...this.#all.values()];
    return isOfSummary(all[0]) ? all : all.filter((message) => !isOfSummary(message));
  }

  /** Adds new messages, and removes those that are gone, except those that a summary replaces. */
  #scan(messages: readonly Message[]): void {
    const known = this.#known;
    const now = new Map(messages.map((message) => [keyOf(message), message]));
    this.#known = new Set(now.keys());
    if (messages.some((one) => one.role === "assistant" && !known.has(keyOf(one)))) {
      this.written.reasoning = this.written.text = "";
    }
    const summary = messages.find(isOfSummary);
    const isOther = ![...known].some((key) => now.has(key));
    const isReplaced = (key: unknown) =>
      summary && !isOther && !now.has(key) && !(known.has(keyOf(summary)) && known.has(key));
    const replaced = [...this.#all].filter(([key]) => isReplaced(key));
    const current = [...now].map(([key, message]) => {
      const first = isOther || message.role !== "tool" ? undefined : this.#all.get(key);
      return [key, first ?? message] as const;
    });
    this.#all = new Map([...replaced, ...current]);
    let left = MAX_OLD_CHARS;
    for (const [key, message] of [...this.#all].reverse()) {
      if (message.role !== "tool" || now.get(key) === message) continue;
      left -= message.content.length;
      if (left < 0 && message.content.length > MAX_CUT_CHARS) {
        this.#all.set(key, shortResult(message));
      }
    }
  }
}

function shortResult({ parts: _, content, ...message }: Message): Message {
  const short = truncateMiddle(content, MAX_CUT_CHARS);
  // A part of a text keeps all of it in memory.
  return { ...message, content: new TextDecoder().decode(new TextEncoder().encode(short)) };
}

const isOfSummary = (message: Message | undefined): boolean => message?.standsFor === "summary";

/** A shortened result is a new message for the same call. */
const keyOf = (message: Message): unknown => message.toolCallId ?? message.id ?? message;
