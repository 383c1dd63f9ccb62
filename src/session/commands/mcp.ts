/** `/mcp`: the MCP servers of the session; and their prompts, which are commands, too. @module */

import type { McpServer } from "../../mcp/server.ts";
import { oneLine } from "../../text/one_line.ts";
import { type CommandInfo, type Report, sentence } from "../report.ts";
import type { Command, SessionState } from "../state.ts";

export const mcpCommand: Command = {
  name: "mcp",
  argument: "[NAME]",
  help:
    "list the MCP servers, or what one has; /mcp approve NAME approves one, or its changed tools",
  run: runMcpCommand,
  values: ({ mcp }) => (mcp?.all.servers ?? []).flatMap(argumentsFor),
};

function argumentsFor({ name, standing, changes }: McpServer): string[] {
  const isOpen = standing === "pending" || standing === "declined" || changes.length > 0;
  return [name, ...isOpen ? [`approve ${name}`] : []];
}

async function runMcpCommand(
  { mcp }: SessionState,
  argument: string,
  signal: AbortSignal,
): Promise<Report> {
  if (!mcp) {
    return sentence("No MCP server is defined. copilot mcp add adds one; a new session has it.");
  }
  if (argument === "") return { type: "mcp", servers: mcp.all.servers.map(serverState) };
  const [, approves, name = ""] = /^(approve\s+)?(\S+)$/.exec(argument) ?? [];
  const server = mcp.all.named(name);
  if (!server) return sentence(`There is no MCP server ${oneLine(argument)}: see /mcp`);
  if (approves) return await approve(server, mcp.tools.length > 0);
  try {
    await server.refresh(signal);
    await server.listOthers(signal);
  } catch (error) {
    signal.throwIfAborted();
    return sentence(oneLine((error as Error).message));
  }
  const { tools = [], memory: { prompts = [], resources = [] } } = server;
  return { type: "mcp", servers: [serverState(server)], has: { tools, prompts, resources } };
}

async function approve(server: McpServer, isPlugged: boolean): Promise<Report> {
  const { standing, name, changes } = server;
  if (standing === "pending" || standing === "declined") {
    await server.decide(true);
    const when = isPlugged
      ? "find_tool finds its tools now."
      : "Its tools are there in the next session.";
    return sentence(`Approved ${name}. ${when}`);
  }
  if (changes.length === 0) return sentence(`${name} has nothing that waits for your approval.`);
  await server.approveTools();
  return sentence(`Approved the tools of ${name} as they are now.`);
}

/** The state of a server, as a list of them shows it. */
function serverState(server: McpServer): McpState {
  const { name, standing, definition, isRunning, failure, tools, changes } = server;
  return {
    name,
    standing,
    isRunning,
    ...definition.problem !== undefined && { problem: definition.problem },
    ...failure !== undefined && { problem: failure },
    ...tools && { tools: tools.length, tokens: Math.ceil(JSON.stringify(tools).length / 4) },
    changed: changes.map(({ now }) => now.name),
  };
}

type McpState = Extract<Report, { type: "mcp" }>["servers"][number];

/** The prompts of servers, as commands: `/server:prompt`. */
export function promptCommands({ mcp }: SessionState): CommandInfo[] {
  return (mcp?.all.usable ?? []).flatMap(({ name: server, memory: { prompts = [] } }) =>
    prompts.filter(({ name }) => /^[\w-]+$/.test(name) && /^[\w-]+$/.test(server)).map((
      prompt,
    ) => ({
      name: `${server}:${prompt.name}`,
      help: oneLine(prompt.description ?? "a prompt of an MCP server").slice(0, 200),
      ...prompt.arguments.length > 0 && {
        argument: prompt.arguments.map(({ name, required }) =>
          required ? oneLine(name) : `[${oneLine(name)}]`
        ).join(" "),
      },
    }))
  );
}

/** Takes a prompt of a server along with the next message; undefined for a name that is none. */
export async function runPrompt(
  session: SessionState,
  name: string,
  argument: string,
  signal: AbortSignal,
): Promise<Report | undefined> {
  const [, server, prompt] = /^([^:]+):(.+)$/.exec(name) ?? [];
  const found = server === undefined ? undefined : session.mcp?.all.named(server);
  const definition = found?.memory.prompts?.find((one) => one.name === prompt);
  if (!found || !definition) return undefined;
  const words = argument.match(/"[^"]*"|\S+/g) ?? [];
  const values = words.map((word) => word.replace(/^"|"$/g, ""));
  const last = definition.arguments.length - 1;
  // The last argument takes all that is left.
  const entries = definition.arguments.map(({ name }, i): [string, string | undefined] => [
    name,
    i === last && values.length > last ? values.slice(i).join(" ") : values[i],
  ]);
  const missing = definition.arguments.find(({ required }, i) => required && !entries[i]![1]);
  if (missing) return sentence(`/${name} needs ${oneLine(missing.name)}`);
  const given = entries.filter((entry): entry is [string, string] => entry[1] !== undefined);
  const text = await found.prompt(definition.name, Object.fromEntries(given), signal);
  session.pending.push({ type: "resource", kind: "note", name: "", text });
  return sentence(`The prompt ${name} goes along with your next message.`);
}
