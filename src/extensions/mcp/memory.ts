/** The stored state of servers, by definition: the era, what they listed last, the approved tools. @module */

import { attempt } from "../../attempt.ts";
import { readJsonFile, replaceUserFile } from "../../user_files.ts";
import type { Era, PromptDefinition, ResourceDefinition, ToolDefinition } from "./protocol.ts";

export interface ServerMemory {
  era?: Era;
  tools?: readonly ToolDefinition[];
  prompts?: readonly PromptDefinition[];
  resources?: readonly ResourceDefinition[];
  pins?: readonly ToolDefinition[];
}

/** The files of {@linkcode ServerMemory}. Without a folder, the state lasts for this session. */
export class MemoryStore {
  readonly #known = new Map<string, ServerMemory>();

  constructor(private readonly folder: string | undefined) {}

  of(id: string): ServerMemory {
    // Without the file, or if it is truncated or too long, the server is listed again.
    const memory = this.#known.get(id) ??
      (this.folder && attempt(() => readJsonFile(this.#path(id))) || {});
    this.#known.set(id, memory);
    return memory;
  }

  /** Changes the state of a server. If its file cannot be written, the change lasts for this session. */
  async change(id: string, change: Partial<ServerMemory>): Promise<void> {
    const memory = { ...this.of(id), ...change };
    this.#known.set(id, memory);
    if (this.folder === undefined) return;
    await replaceUserFile(this.#path(id), `${JSON.stringify(memory)}\n`).catch(() => {});
  }

  #path(id: string): string {
    return `${this.folder}/${id}.json`;
  }
}
