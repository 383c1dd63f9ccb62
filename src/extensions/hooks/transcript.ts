/** The conversation as a file in the format of Claude Code, for hooks that read one. @module */

import { attempt } from "../../attempt.ts";
import { messagesToHostedFormat } from "../../models/anthropic/request.ts";
import { isLeft } from "../../safety/sandbox/own_folder.ts";
import type { Message } from "../../types/message.ts";
import { hookCall } from "./tool_names.ts";

export class HookTranscript {
  #written: readonly Message[] = [];
  #path: string | undefined;
  #held: Deno.FsFile | undefined;

  constructor(private readonly folder: string | undefined) {}

  /** Writes what is new in a conversation, and returns the file's path, or "" without one. */
  write(messages: readonly Message[], sessionId: string, cwd: string): string {
    const path = this.folder && `${this.folder}/${sessionId}.jsonl`;
    const isLonger = path === this.#path &&
      this.#written.every((message, i) => message === messages[i]);
    const from = isLonger ? this.#written.length : 0;
    const lines = messages.slice(from).map((message, i) => {
      const parentUuid = messages[from + i - 1]?.id ?? null;
      return transcriptLine(message, { parentUuid, isSidechain: false, cwd, sessionId }, cwd);
    });
    const isDone = path && attempt(() => {
      if (!isLonger) this.#begin(path);
      Deno.writeTextFileSync(path, lines.join(""), { append: true });
      return true;
    });
    if (!isDone) return "";
    this.#written = [...messages];
    return path;
  }

  /** Makes the file, and removes those that killed programs left, whose locks the system released. */
  #begin(path: string): void {
    this.end();
    Deno.mkdirSync(this.folder!, { recursive: true, mode: 0o700 });
    for (const { name } of Deno.readDirSync(this.folder!)) {
      const at = `${this.folder}/${name}`;
      if (isLeft(at)) attempt(() => Deno.removeSync(at));
    }
    this.#path = path;
    this.#held = Deno.openSync(path, { write: true, create: true, truncate: true, mode: 0o600 });
    attempt(() => this.#held!.tryLockSync(true));
  }

  end(): void {
    attempt(() => this.#path && Deno.removeSync(this.#path));
    attempt(() => this.#held?.close());
    this.#path = this.#held = undefined;
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
