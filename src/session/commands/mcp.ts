/** `/mcp`: the MCP servers of the session; and their prompts, which are commands, too. @module */

import type { McpServer } from "../../mcp/server.ts";
import { oneLine } from "../../text/one_line.ts";
import { notePart } from "../../text/parts.ts";
import { reasonOf } from "../../text/reason.ts";
import type { CommandInfo, McpApproval, Report } from "../report.ts";
import { type McpSource, mcpState, serverQuestion } from "../mcp.ts";
import type { Command, SessionState } from "../state.ts";

export const mcpCommand: Command = {
  name: "mcp",
  argument: "[NAME]",
  help: "list the MCP servers, or show one; /mcp approve NAME approves it, or its changed tools",
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
  if (!mcp) return { type: "mcp", servers: [] };
  if (argument === "") return { type: "mcp", servers: mcp.all.servers.map(mcpState) };
  const [, approves, name = ""] = /^(approve\s+)?(\S+)$/.exec(argument) ?? [];
  const server = mcp.all.named(name);
  if (!server) return { type: "unknown", what: "mcp_server", name: argument };
  if (approves) return await approve(server, mcp, signal);
  try {
    await server.refresh(signal);
    await server.listOthers(signal);
  } catch (error) {
    signal.throwIfAborted();
    return { type: "failed", why: oneLine(reasonOf(error)) };
  }
  const { tools = [], memory: { prompts = [], resources = [] } } = server;
  return { type: "mcp", servers: [mcpState(server)], has: { tools, prompts, resources } };
}

/** Approves a server, or tools of it that changed, once the person saw all of it and said yes. */
async function approve(
  server: McpServer,
  { confirm, tools }: McpSource,
  signal: AbortSignal,
): Promise<Report> {
  const { standing, name, changes } = server;
  const isOpen = standing === "pending" || standing === "declined";
  const report = (result: McpApproval): Report => ({ type: "mcp_approval", server: name, result });
  if (!isOpen && changes.length === 0) return report("none");
  if (!confirm) return report("elsewhere");
  const answer = await confirm(serverQuestion(server, isOpen ? [] : changes), signal);
  if (isOpen && answer !== undefined) await server.decide(answer);
  else if (answer) await server.approveTools(changes);
  if (!answer) return report(isOpen ? "declined" : "tools_declined");
  if (!isOpen) return report("tools");
  return report(tools.length > 0 ? "now" : "next_session");
}

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

/** Sends a prompt of a server as the person's message; undefined for a name that is none. */
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
  if (missing) return { type: "missing_argument", command: name, argument: missing.name };
  const given = entries.filter((entry): entry is [string, string] => entry[1] !== undefined);
  const text = await found.prompt(definition.name, Object.fromEntries(given), signal);
  if (text.trim() === "") return { type: "empty_prompt", name };
  const line = `/${name}${argument && ` ${argument}`}`;
  return { type: "turn", parts: [{ type: "text", text: line }, notePart(text)] };
}
