/** Messages without their ids, for tests. */

import type { Message } from "../../src/types/message.ts";

/** Returns `messages` without ids and metadata. */
export function plain(messages: readonly Message[]): Message[] {
  return messages.map(({ id: _id, standsFor: _standsFor, ...message }) => message);
}
