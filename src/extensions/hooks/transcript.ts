/** The conversation as a file in the format of Claude Code, for hooks that read one. @module */

import { attempt } from "../../attempt.ts";
import { messagesToHostedFormat } from "../../models/anthropic/request.ts";
import type { Message } from "../../types/message.ts";
import { hookCall } from "./tool_names.ts";

const MAX_LEFT_MS = 24 * 60 * 60_000;

export class HookTranscript {
  #path: string | undefined;

  constructor(private readonly folder: string | undefined) {}

  /** Writes a conversation, and returns the file's path, or "" without one. */
  write(messages: readonly Message[], sessionId: string, cwd: string): string {
    const path = this.folder && `${this.folder}/${sessionId}.jsonl`;
    const lines = messages.map((message, i) => {
      const parentUuid = messages[i - 1]?.id ?? null;
      return transcriptLine(message, { parentUuid, isSidechain: false, cwd, sessionId }, cwd);
    });
    const isDone = path && attempt(() => {
      if (path !== this.#path) this.#begin(path);
      // A hook may be reading the old one.
      Deno.writeTextFileSync(`${path}.new`, lines.join(""), { mode: 0o600 });
      Deno.renameSync(`${path}.new`, path);
      return true;
    });
    return isDone ? path : "";
  }

  /** Makes the folder, and removes what killed programs left there long ago. */
  #begin(path: string): void {
    this.end();
    Deno.mkdirSync(this.folder!, { recursive: true, mode: 0o700 });
    for (const { name } of Deno.readDirSync(this.folder!)) {
      const at = `${this.folder}/${name}`;
      const { mtime } = attempt(() => Deno.lstatSync(at)) ?? {};
      if (mtime && Date.now() - mtime.getTime() > MAX_LEFT_MS) attempt(() => Deno.removeSync(at));
    }
    this.#path = path;
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
  const isPlain = typeof content === "string";
  const blocks = isPlain ? [{ type: "text", text: content }] : content.map((block) => {
    if (block.type !== "tool_use") return block;
    const { names: [name], input } = hookCall(
      { name: `${block.name}` },
      block.input as Record<string, unknown>,
      workingDir,
    );
    return { ...block, name, input };
  });
  const told = { role, content: isPlain && role === "user" ? content : blocks };
  const timestamp = new Date().toISOString();
  return `${
    JSON.stringify({ ...shared, type: role, uuid: message.id, timestamp, message: told })
  }\n`;
}
