/** The conversation as a file in the format of Claude Code, for hooks that read one. @module */

import { attempt } from "../../attempt.ts";
import { messagesToHostedFormat } from "../../models/anthropic/request.ts";
import { makeTempFolder, removeTempFolder } from "../../temp_folder.ts";
import type { Message } from "../../types/message.ts";
import type { VariableReader } from "../../user_files.ts";
import { hookCall } from "./tool_names.ts";

export class HookTranscript {
  #folder: string | undefined;

  constructor(private readonly env: VariableReader) {}

  /** Writes a conversation, and returns the file's path, or "" if that fails. */
  write(messages: readonly Message[], sessionId: string, cwd: string): string {
    const lines = messages.map((message, i) => {
      const parentUuid = messages[i - 1]?.id ?? null;
      return transcriptLine(message, { parentUuid, isSidechain: false, cwd, sessionId }, cwd);
    });
    const written = attempt(() => {
      const folder = this.#folder ??= makeTempFolder("copilot-hooks-", this.env);
      const path = `${folder}/${sessionId}.jsonl`;
      // A hook may be reading the old one.
      Deno.writeTextFileSync(`${path}.new`, lines.join(""), { mode: 0o600 });
      Deno.renameSync(`${path}.new`, path);
      return path;
    });
    return written ?? "";
  }

  end(): void {
    if (this.#folder !== undefined) removeTempFolder(this.#folder);
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
  const written = { role, content: isPlain && role === "user" ? content : blocks };
  const timestamp = new Date().toISOString();
  return `${
    JSON.stringify({ ...shared, type: role, uuid: message.id, timestamp, message: written })
  }\n`;
}
