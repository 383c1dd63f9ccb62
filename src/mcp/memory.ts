/**
 * What is kept of a server between sessions, by the id of its definition: that the person approved it,
 * the era that it speaks, its tools as they were last listed, and those that were approved. @module
 */

import { readJsonFile, replaceUserFile } from "../user_files.ts";
import { defined, sorted } from "./definition.ts";
import {
  type Era,
  type PromptDefinition,
  promptDefinitionOf,
  type ResourceDefinition,
  resourceDefinitionOf,
  type ToolDefinition,
  toolDefinitionOf,
} from "./protocol.ts";

export interface ServerMemory {
  /** True where the person approved the definition. */
  isApproved: boolean;
  /** True where the person said no: they are not asked again. */
  isDeclined?: boolean;
  era?: Era;
  /** The tools as last listed; undefined until they were. */
  tools?: readonly ToolDefinition[];
  prompts?: readonly PromptDefinition[];
  resources?: readonly ResourceDefinition[];
  /** The tools as they were approved; undefined until some were listed. */
  pins?: readonly ToolDefinition[];
}

/** True where a model is told the same of two tools. */
export const isSameTool = (one: ToolDefinition, other: ToolDefinition): boolean =>
  JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));

/** The files of {@linkcode ServerMemory}; without a folder, all is kept for this session alone. */
export class MemoryStore {
  readonly #known = new Map<string, ServerMemory>();
  #written: Promise<void> = Promise.resolve();

  /** @param folder the folder of the files; undefined where there is none */
  constructor(private readonly folder: string | undefined) {}

  of(id: string): ServerMemory {
    const known = this.#known.get(id) ?? this.#read(id);
    this.#known.set(id, known);
    return known;
  }

  /** Changes what is kept of a server; a file that cannot be written is kept for this session alone. */
  async change(id: string, change: Partial<ServerMemory>): Promise<void> {
    const memory = { ...this.of(id), ...change };
    this.#known.set(id, memory);
    if (this.folder === undefined) return;
    const text = `${JSON.stringify(memory)}\n`;
    // One after the other: what is written last must be the newest.
    this.#written = this.#written.then(() => replaceUserFile(this.#path(id), text))
      .then(() => {}, () => {});
    await this.#written;
  }

  #path(id: string): string {
    return `${this.folder}/${id}.json`;
  }

  #read(id: string): ServerMemory {
    const none: ServerMemory = { isApproved: false };
    if (this.folder === undefined) return none;
    let value: Record<string, unknown> | undefined;
    try {
      value = readJsonFile(this.#path(id), false);
    } catch {
      // A file that was cut or is too long: the server is asked anew, and the person too.
      return none;
    }
    if (value === undefined) return none;
    const { era, isApproved, isDeclined, tools, prompts, resources, pins } = value;
    const list = <T>(given: unknown, read: (one: unknown) => T | string | undefined) =>
      Array.isArray(given)
        ? given.map(read).filter((one): one is T => one !== undefined && typeof one !== "string")
        : undefined;
    const memory = {
      isApproved: isApproved === true,
      isDeclined: isDeclined === true || undefined,
      era: era === "modern" || era === "legacy" ? era : undefined,
      tools: list(tools, toolDefinitionOf),
      prompts: list(prompts, promptDefinitionOf),
      resources: list(resources, resourceDefinitionOf),
      pins: list(pins, toolDefinitionOf),
    };
    return defined(memory) as unknown as ServerMemory;
  }
}
