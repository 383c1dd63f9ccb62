/** All servers of a session, and the tools offered: the servers' if they are few, otherwise two for all. @module */

import { didYouMean } from "../../text/nearest.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { isObject, jsonOrUndefined } from "../../text/json.ts";
import { foreignText } from "../../text/sanitize.ts";
import type { JsonSchema, Tool, ToolContext } from "../../types/tool.ts";
import { PLUGGED } from "../../safety/rules.ts";
import { broughtBy, definitionId, type McpDefinition } from "./definition.ts";
import type { ToolDefinition } from "./protocol.ts";
import { searchTools, toolLine, wholeTool } from "./search.ts";
import { McpServer, type ServerOptions } from "./server.ts";

/** The maximum length of tools that are offered directly, as JSON: a first request stays within 5 KB (small models: 3). */
const DIRECT_CHARS = 400;
/** The longest time that a wrong name waits for servers whose tools are not known, in ms. */
const OTHERS_MS = 10_000;
const MAX_OVERVIEW = 3000;

export class McpServers implements AsyncDisposable {
  private constructor(readonly servers: readonly McpServer[], private readonly lookMs: number) {}

  /** Reads the stored state of the servers without starting them. Of two with the same name, the first counts. */
  static async open(
    definitions: readonly McpDefinition[],
    options: ServerOptions,
  ): Promise<McpServers> {
    const taken = new Set<string>();
    const servers: McpServer[] = [];
    for (const given of definitions) {
      const key = given.name.replaceAll(".", "_");
      const isTaken = taken.has(key);
      taken.add(key);
      const definition = isTaken
        ? { ...given, problem: "a server of that name comes before it" }
        : given;
      const trust = definition.scope === "folder"
        ? await options.folderTrust.of(broughtBy(definition))
        : {};
      servers.push(new McpServer(definition, await definitionId(definition), options, trust));
    }
    return new McpServers(servers, options.lookMs ?? OTHERS_MS);
  }

  get usable(): readonly McpServer[] {
    return this.servers.filter(({ standing }) => standing === "ready");
  }

  find(name: string): McpServer | undefined {
    return this.servers.find((server) => server.name === name);
  }

  get pending(): readonly McpServer[] {
    return this.servers.filter(({ standing, trust }) =>
      standing === "unapproved" && trust.isApproved === undefined
    );
  }

  /** The tools to offer now. */
  get tools(): readonly Tool[] {
    const { usable } = this;
    if (usable.length === 0) return [];
    const tools = this.known();
    const isKnown = usable.every((server) => server.tools !== undefined);
    const sent = tools.map(({ name, description, parameters }) => (
      { type: "function", function: { name, description, parameters } }
    ));
    if (isKnown && JSON.stringify(sent).length <= DIRECT_CHARS) return tools;
    return [this.#findTool(), this.#callTool()];
  }

  names(): string[] {
    return this.usable.flatMap(({ name, memory }) =>
      (memory.resources ?? []).map(({ uri }) => `${name}:${uri}`)
    );
  }

  /** Returns the text of a resource; undefined if there is no such server. */
  attach(name: string, signal: AbortSignal): Promise<string> | undefined {
    const [, server, uri] = /^([^:]+):(.+)$/s.exec(name) ?? [];
    const found = server === undefined ? undefined : this.find(server);
    return found?.standing === "ready" ? found.read(uri!, signal) : undefined;
  }

  known(): Tool[] {
    return this.usable.flatMap((server) =>
      (server.tools ?? []).map((tool) => toolOf(server, tool, modelNameOf(server.name, tool.name)))
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server.end()));
  }

  #findTool(): Tool {
    return {
      name: "find_tool",
      description: "Find more tools, by words",
      parameters: {
        type: "object",
        properties: { query: { type: "string" } },
        required: ["query"],
      },
      access: "read",
      run: async ({ query }, { signal }) => await this.#find(String(query), signal),
    };
  }

  #callTool(): Tool {
    return {
      name: "call_tool",
      description: "Call a tool that find_tool found",
      parameters: {
        type: "object",
        properties: { name: { type: "string" }, arguments: { type: "object" } },
        required: ["name"],
        // Small models put the arguments next to the name.
        additionalProperties: true,
      },
      access: "network",
      forward: async (args, context) => await this.#forward(args, context),
      reaches: (wanted) => this.known().some(isCalled(wanted)),
      run: () => {
        throw new Error("Cannot call a tool without its name");
      },
    };
  }

  async #find(query: string, signal: AbortSignal): Promise<string> {
    const failures = await this.#listUnknown(signal);
    const tools = this.known();
    const exact = tools.find(({ name }) => name === query.trim());
    const found = exact ? [exact] : searchTools(tools, query);
    const lines = found.length === 1 ? found.map(wholeTool) : found.map(toolLine);
    if (found.length === 0) {
      const names = tools.map(({ name }) => name).join(", ") || "none";
      lines.push(`No tool fits. There are: ${shortened(names, MAX_OVERVIEW)}`);
    } else {
      lines.push(`Call one with call_tool {"name": "${found[0]!.name}", "arguments": {...}}.`);
    }
    return [...lines, ...failures].join("\n");
  }

  /** Lists the tools of servers without a known list. Returns a line for each server that cannot be used. */
  async #listUnknown(
    signal: AbortSignal,
    servers: readonly McpServer[] = this.usable,
    late?: AbortSignal,
  ): Promise<string[]> {
    const unknown = servers.filter(({ tools }) => tools === undefined);
    const lines = await Promise.all(unknown.map(async (server) => {
      try {
        await server.refresh(late ? AbortSignal.any([signal, late]) : signal);
        return [];
      } catch (error) {
        signal.throwIfAborted();
        // Its start continues.
        return [late?.aborted ? `The server ${server.name} is starting` : (error as Error).message];
      }
    }));
    return lines.flat();
  }

  /** Starts the server that a tool's name starts with, or else all whose tools are not known. */
  async #lookFor(tool: string, signal: AbortSignal): Promise<string[]> {
    const owner = this.usable.find(({ name }) =>
      tool.replace(PLUGGED, "").startsWith(`${safeName(name)}__`)
    );
    if (owner) return await this.#listUnknown(signal, [owner]);
    return await this.#listUnknown(signal, this.usable, AbortSignal.timeout(this.lookMs));
  }

  async #forward(
    { name, arguments: given, ...others }: Record<string, unknown>,
    { signal }: ToolContext,
  ): Promise<{ tool: Tool; args: Record<string, unknown> }> {
    const wanted = String(name).trim();
    let tools = this.#toolsNamed(wanted);
    const failures = tools.length > 0 ? [] : await this.#lookFor(wanted, signal);
    if (tools.length === 0) tools = this.#toolsNamed(wanted);
    const [tool, second] = tools;
    if (!tool || second) {
      const names = this.known().map((one) => one.name);
      const hint = tool
        ? `did you mean ${tools.map((one) => one.name).join(" or ")}?`
        : didYouMean(wanted, names, "look for one with find_tool");
      const why = [`There is no tool ${oneLine(wanted).slice(0, 100)}: ${hint}`, ...failures];
      throw new Error(why.join("\n"));
    }
    const inside = typeof given === "string" ? jsonOrUndefined(given) : given;
    // Small models also use both places at once: values next to the object are arguments, too.
    return { tool, args: { ...others, ...isObject(inside) && inside } };
  }

  /** Finds a tool by its name for models or in rules, or else those with that name of their own. */
  #toolsNamed(name: string): Tool[] {
    const tools = this.known();
    const found = tools.find(isCalled(name));
    if (found) return [found];
    const bare = name.replace(PLUGGED, "");
    const names = this.usable.map(({ name: server }) => {
      const before = [server, safeName(server)].find((one) => bare.startsWith(`${one}__`));
      return modelNameOf(server, before === undefined ? name : bare.slice(before.length + 2));
    });
    return tools.filter((tool) => names.includes(tool.name));
  }
}

const isCalled = (wanted: string) => ({ name, ruleName }: Tool): boolean =>
  name === wanted || ruleName === wanted;

function toolOf(server: McpServer, definition: ToolDefinition, name: string): Tool {
  const { title, description, inputSchema } = definition;
  const words = [title, description].filter((one) => one !== undefined).join(": ");
  return {
    name,
    ruleName: `${PLUGGED}${name}`,
    description: foreignText(words),
    parameters: { ...shownSchema(inputSchema), type: "object" },
    access: "network",
    run: async (args, context) => await server.call(definition.name, args, context),
  };
}

/** Returns a schema whose texts hide nothing from a model. The server gets the original. */
const shownSchema = (schema: JsonSchema): JsonSchema =>
  JSON.parse(JSON.stringify(schema), (key, value) => {
    const isWords = ["description", "title", "$comment"].includes(key) && typeof value === "string";
    return isWords ? foreignText(value) : value;
  });

/** The maximum length of a tool's name that model servers accept, in characters. */
const MAX_MODEL_NAME = 64;

const safeName = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, "_");

/**
 * Returns the name of a tool for models, `server__tool`, of at most 64 of the characters `[A-Za-z0-9_-]`. If it
 * has to differ from the tool's own name, it ends with a hash of that.
 */
export function modelNameOf(server: string, tool: string): string {
  const name = `${safeName(server)}__${safeName(tool)}`;
  if (safeName(tool) === tool && name.length <= MAX_MODEL_NAME) return name;
  let hash = 0x811c9dc5; // FNV-1a
  for (const byte of new TextEncoder().encode(tool)) hash = Math.imul(hash ^ byte, 0x01000193);
  const mark = (hash >>> 0).toString(16).padStart(8, "0").slice(0, 6);
  return `${name.slice(0, MAX_MODEL_NAME - 7)}_${mark}`;
}
