/** The conversation as a file in the format of Claude Code, for hooks that read one. @module */

import { attempt } from "../../attempt.ts";
import { messagesToHostedFormat } from "../../models/anthropic/request.ts";
import type { Message } from "../../types/message.ts";
import { hookCall } from "./tool_names.ts";

export class HookTranscript {
  #written: readonly Message[] = [];
  #path: string | undefined;

  constructor(private readonly folder: string | undefined) {}

  /** Writes what is new in a conversation, and returns the file's path, or "" without one. */
  write(messages: readonly Message[], sessionId: string, cwd: string): string {
    const path = this.folder && `${this.folder}/${sessionId}.jsonl`;
    const isLonger = path === this.#path &&
      this.#written.every((message, i) => message === messages[i]);
    const from = isLonger ? this.#written.length : 0;
    const lines = messages.slice(from).map((message, i) => {
      const before = messages[from + i - 1]?.id ?? null;
      const shared = { parentUuid: before, isSidechain: false, cwd, sessionId };
      return transcriptLine(message, { ...shared, timestamp: new Date().toISOString() }, cwd);
    });
    const isDone = path && attempt(() => {
      if (!isLonger) this.end();
      Deno.mkdirSync(this.folder!, { recursive: true, mode: 0o700 });
      Deno.writeTextFileSync(path, lines.join(""), { append: isLonger, mode: 0o600 });
      return true;
    });
    if (!isDone) return "";
    this.#path = path;
    this.#written = [...messages];
    return path;
  }

  end(): void {
    attempt(() => this.#path && Deno.removeSync(this.#path));
    this.#path = undefined;
  }
}

function transcriptLine(message: Message, shared: object, workingDir: string): string {
  const [, [hosted]] = messagesToHostedFormat([message]);
  if (!hosted) return "";
  const { role, content } = hosted;
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const named = blocks.map((block) => {
    const { type, name, input } = block as { type: string; name?: string; input?: object };
    if (type !== "tool_use" || name === undefined) return block;
    const call = hookCall({ name }, { ...input }, workingDir);
    return { ...block, name: call.names[0], input: call.input };
  });
  const isAnswer = role === "assistant";
  const told = isAnswer || typeof content !== "string" ? named : content;
  return `${
    JSON.stringify({
      ...shared,
      type: role,
      uuid: message.id,
      message: { role, ...isAnswer && { type: "message", id: message.id }, content: told },
    })
  }\n`;
}
