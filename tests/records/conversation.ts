/** A conversation for tests of records; each message has an id of its own. */

import { newMessageId } from "../../src/text/parts.ts";
import { type Recorded, Recorder } from "../../src/records/recorder.ts";
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

/** A recorder whose `sync` is given what it records, and throws what it tells. */
export class TestRecorder extends Recorder {
  readonly given: Recorded;

  constructor(root: string, folder = "/f", isPrint = false) {
    const given: Recorded = { folder, messages: [], executions: new Map() };
    let fault: string | undefined;
    super(root, () => given, (why) => fault = why, isPrint);
    this.given = given;
    this.fault = () => fault;
  }

  readonly fault: () => string | undefined;

  record(
    messages: Message[],
    used?: Recorded["used"],
    executions: Recorded["executions"] = new Map(),
    mode?: string,
  ): void {
    Object.assign(this.given, { used, mode, executions, messages });
    this.sync();
    const fault = this.fault();
    if (fault !== undefined) throw new Error(fault);
  }
}
