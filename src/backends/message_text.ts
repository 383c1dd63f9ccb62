/** Messages as JSON text on the wire, made once for each message: requests repeat them. @module */

import type { Message } from "../types/message.ts";
import { jsonText } from "./wire_values.ts";

/** The text of a message, and what it was made of, which callers may have changed since. */
interface KnownText extends Pick<Message, "content" | "parts" | "toolCalls" | "reasoning"> {
  text: string;
}

/** The texts of messages as `convert` makes values of them: none, one or several of one message. */
export class MessageTexts {
  readonly #known = new WeakMap<Message, KnownText>();
  /** The messages of the newest list with their texts, and the list up to behind each. */
  readonly #listed: { message: Message; known: KnownText; list: string }[] = [];

  constructor(private readonly convert: (message: Message) => readonly unknown[]) {}

  /** The JSON array of `messages`; what begins it as the one before is not put together again. */
  list(messages: readonly Message[]): string {
    const listed = this.#listed;
    let at = 0;
    while (at < messages.length && at < listed.length) {
      const before = listed[at]!;
      const message = messages[at]!;
      if (before.message !== message || !isOf(before.known, message)) {
        // The system's message is another one each time, with the same text.
        const known = this.#textOf(message);
        if (known.text !== before.known.text) break;
        Object.assign(before, { message, known });
      }
      at++;
    }
    listed.length = at;
    let list = listed[at - 1]?.list ?? "";
    for (; at < messages.length; at++) {
      const known = this.#textOf(messages[at]!);
      if (known.text !== "") list += `${list && ","}${known.text}`;
      listed.push({ message: messages[at]!, known, list });
    }
    return `[${list}]`;
  }

  #textOf(message: Message): KnownText {
    const { content, parts, toolCalls, reasoning } = message;
    const before = this.#known.get(message);
    if (before && isOf(before, message)) return before;
    const known = {
      ...{ content, text: this.convert(message).map(jsonText).join(",") },
      ...parts && { parts },
      ...toolCalls && { toolCalls },
      ...reasoning !== undefined && { reasoning },
    };
    this.#known.set(message, known);
    return known;
  }
}

function isOf(known: KnownText, { content, parts, toolCalls, reasoning }: Message): boolean {
  return known.content === content && known.parts === parts && known.toolCalls === toolCalls &&
    known.reasoning === reasoning;
}

/** A body of JSON whose last field is `messages`: an array as JSON text. */
export function bodyEndingIn(body: Record<string, unknown>, messages: string): string {
  const text = jsonText(body).slice(0, -1);
  return `${text}${text === "{" ? "" : ","}"messages":${messages}}`;
}
