/** Messages as JSON text. Messages that a request repeats are not converted again. @module */

import type { Message } from "../types/message.ts";
import { jsonText } from "./wire_values.ts";

/** The text of a message, and a copy of its values, because callers may change the message. */
type KnownText =
  & { text: string }
  & {
    [K in "content" | "parts" | "toolCalls" | "reasoning"]: Message[K];
  };

/** The texts of messages as `convert` returns them: any number per message. */
export class MessageTexts {
  /** The messages of the newest list with their texts, and their ends in it. */
  readonly #listed: { message: Message; known: KnownText; end: number }[] = [];
  /** The newest list. One string, because a longer one for each message would keep all of them in memory. */
  #list = "";

  constructor(private readonly convert: (message: Message) => readonly unknown[]) {}

  /** Returns the JSON array of `messages`. Reuses the text of the messages that the previous list started with. */
  list(messages: readonly Message[]): string {
    const listed = this.#listed;
    let at = 0;
    while (at < messages.length && at < listed.length) {
      const before = listed[at]!;
      const message = messages[at]!;
      if (before.message !== message || !isOf(before.known, message)) {
        // The system message is a new object each time, with the same text.
        const known = this.#textOf(message);
        if (known.text !== before.known.text) break;
        Object.assign(before, { message, known });
      }
      at++;
    }
    listed.length = at;
    let list = this.#list.slice(0, listed[at - 1]?.end ?? 0);
    for (; at < messages.length; at++) {
      const known = this.#textOf(messages[at]!);
      if (known.text !== "") list += `${list && ","}${known.text}`;
      listed.push({ message: messages[at]!, known, end: list.length });
    }
    this.#list = list;
    return `[${list}]`;
  }

  #textOf(message: Message): KnownText {
    const { content, parts, toolCalls, reasoning } = message;
    const text = this.convert(message).map(jsonText).join(",");
    return { text, content, parts, toolCalls, reasoning };
  }
}

function isOf(known: KnownText, { content, parts, toolCalls, reasoning }: Message): boolean {
  return known.content === content && known.parts === parts && known.toolCalls === toolCalls &&
    known.reasoning === reasoning;
}

/** Returns a JSON body whose last field is `messages`, an array as JSON text. */
export function bodyEndingIn(body: Record<string, unknown>, messages: string): string {
  const text = jsonText(body).slice(0, -1);
  return `${text}${text === "{" ? "" : ","}"messages":${messages}}`;
}
