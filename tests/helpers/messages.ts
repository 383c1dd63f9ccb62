/** Messages in tests, where their ids are of no interest. */

import type { Message } from "../../src/types/message.ts";

/** `messages` without their ids and what they stand for. */
export function plain(messages: readonly Message[]): Message[] {
  return messages.map(({ id: _id, standsFor: _standsFor, ...message }) => message);
}
