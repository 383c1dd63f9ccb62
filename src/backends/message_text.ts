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

  constructor(private readonly convert: (message: Message) => readonly unknown[]) {}

  /** The JSON array of `messages`. */
  list(messages: readonly Message[]): string {
    const texts = messages.map((message) => this.#textOf(message));
    return `[${texts.filter((text) => text !== "").join(",")}]`;
  }

  #textOf(message: Message): string {
    const { content, parts, toolCalls, reasoning } = message;
    const known = this.#known.get(message);
    const isSame = known && known.content === content && known.parts === parts &&
      known.toolCalls === toolCalls && known.reasoning === reasoning;
    if (isSame) return known.text;
    const text = this.convert(message).map(jsonText).join(",");
    this.#known.set(message, {
      ...{ content, text },
      ...parts && { parts },
      ...toolCalls && { toolCalls },
      ...reasoning !== undefined && { reasoning },
    });
    return text;
  }
}

/** A body of JSON whose last field is `messages`: an array as JSON text. */
export function bodyEndingIn(body: Record<string, unknown>, messages: string): string {
  const text = jsonText(body).slice(0, -1);
  return `${text}${text === "{" ? "" : ","}"messages":${messages}}`;
}
