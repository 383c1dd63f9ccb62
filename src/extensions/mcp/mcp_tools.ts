/** The tools of MCP servers, for programs that use the library. @module */

import { definitionsIn } from "./definition.ts";
import type { Confine } from "../../types/confine.ts";
import type { Tool } from "../../types/tool.ts";
import { openMcp } from "./source.ts";

/** Options of {@linkcode mcpTools}. */
export interface McpToolsOptions {
  /** The working directory of programs; by default the current one. */
  folder?: string;
  /** Names of additional variables for programs. */
  env?: readonly string[];
  /** Sandboxes programs; if it is missing, they are not sandboxed. */
  confine?: Confine;
}

/** The tools of MCP servers. Disposing of it ends the servers and all processes that they started. */
export interface McpTools extends AsyncDisposable {
  /** `find_tool` and `call_tool`, the same for all servers, which they start when needed; empty without any. */
  readonly tools: readonly Tool[];
}

/**
 * Makes the tools of MCP servers ready for an agent; starts no server. Nothing asks whether a server may be
 * started: who names it here approves it. A token of `copilot mcp login` is used.
 *
 * @example
 * ```ts ignore
 * await using mcp = await mcpTools({ files: { command: "npx", args: ["-y", "some-server"] } });
 * const agent = new CopilotAgent(config, ".", { tools: [...builtinTools, ...mcp.tools] });
 * ```
 *
 * @param servers definitions by name, as `mcpServers` of a settings file has them
 * @throws {TypeError} when a definition makes no sense.
 */
export async function mcpTools(
  servers: Readonly<Record<string, unknown>>,
  { folder = ".", env = [], confine }: McpToolsOptions = {},
): Promise<McpTools> {
  const given = definitionsIn({ mcpServers: servers }, { scope: "given" });
  const wrong = given.find(({ problem }) => problem !== undefined);
  if (wrong) throw new TypeError(`Cannot use the MCP server ${wrong.name}: ${wrong.problem}`);
  return await openMcp({
    folder: await Deno.realPath(folder),
    files: [],
    given,
    env,
    forgets: true,
    ...confine && { confine: () => confine },
  });
}
