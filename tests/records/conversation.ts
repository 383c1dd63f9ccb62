/** A conversation for tests of records; each message has an id of its own. */

import { newMessageId } from "../../src/text/parts.ts";
import type { Message } from "../../src/types/message.ts";

export const user = (content: string): Message => ({ id: newMessageId(), role: "user", content });
export const says = (content: string, ...ids: string[]): Message => ({
  id: newMessageId(),
  role: "assistant",
  content,
  ...(ids.length > 0 && { toolCalls: ids.map((id) => ({ id, name: "read_file", arguments: {} })) }),
});
export const result = (toolCallId: string, content = "it"): Message => (
  { id: newMessageId(), role: "tool", toolName: "read_file", toolCallId, content }
);

export const whole = [user("hi"), says("", "1", "2"), result("1"), result("2"), says("done")];
