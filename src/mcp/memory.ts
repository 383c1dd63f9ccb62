/**
 * What is kept of a server between sessions, by the id of its definition: that the person approved it,
 * the era that it speaks, its tools as they were last listed, and those that were approved. @module
 */

import { isObject } from "../text/json.ts";
import { digestOf } from "../text/digest.ts";
import { readJsonFile, replaceUserFile } from "../user_files.ts";
import { sorted } from "./definition.ts";
import {
  type Era,
  type PromptDefinition,
  promptDefinitionOf,
  type ResourceDefinition,
  resourceDefinitionOf,
  type ToolDefinition,
  toolDefinitionOf,
} from "./protocol.ts";

/** A tool as it was approved: its text is kept to show later what changed. */
interface Pin {
  hash: string;
  tool: ToolDefinition;
}

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
  /** The tools as they were approved, by name; undefined until some were listed. */
  pins?: ReadonlyMap<string, Pin>;
}

/** The hash of what a model is told of a tool. */
export async function toolHash(
  { name, title, description, inputSchema }: ToolDefinition,
): Promise<string> {
  const titled = title === undefined ? [] : [title];
  const text = JSON.stringify([name, description ?? "", sorted(inputSchema), ...titled]);
  return await digestOf(text);
}

/** The pins that approve `tools` as they are. */
export async function pinsOf(tools: readonly ToolDefinition[]): Promise<Map<string, Pin>> {
  const pins = tools.map(async (tool): Promise<[string, Pin]> => [
    tool.name,
    { hash: await toolHash(tool), tool },
  ]);
  return new Map(await Promise.all(pins));
}

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
    const { pins, ...rest } = memory;
    const text = JSON.stringify({ ...rest, ...pins && { pins: Object.fromEntries(pins) } });
    // One after the other: what is written last must be the newest.
    this.#written = this.#written.then(() => replaceUserFile(this.#path(id), `${text}\n`))
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
    const list = <T>(given: unknown, read: (one: unknown) => T | string | undefined): T[] =>
      (Array.isArray(given) ? given : []).map(read)
        .filter((one): one is T => one !== undefined && typeof one !== "string");
    return {
      isApproved: isApproved === true,
      ...isDeclined === true && { isDeclined },
      ...(era === "modern" || era === "legacy") && { era },
      ...Array.isArray(tools) && { tools: list(tools, toolDefinitionOf) },
      ...Array.isArray(prompts) && { prompts: list(prompts, promptDefinitionOf) },
      ...Array.isArray(resources) && { resources: list(resources, resourceDefinitionOf) },
      ...isObject(pins) && { pins: pinsIn(pins) },
    };
  }
}

function pinsIn(given: Record<string, unknown>): Map<string, Pin> {
  return new Map(
    Object.entries(given).flatMap(([name, pin]) => {
      if (!isObject(pin) || typeof pin.hash !== "string") return [];
      const tool = toolDefinitionOf(pin.tool);
      return typeof tool === "string" ? [] : [[name, { hash: pin.hash, tool }]];
    }),
  );
}
