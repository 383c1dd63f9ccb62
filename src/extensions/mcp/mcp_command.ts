/** `/mcp`: the MCP servers of the session. Their prompts are commands, too. @module */

import type { McpServer } from "./server.ts";
import { oneLine } from "../../text/one_line.ts";
import { notePart } from "../../text/parts.ts";
import { reasonOf } from "../../text/reason.ts";
import { listedRows, mcpRow, serverQuestion } from "./mcp_text.ts";
import type { PromptDefinition } from "./protocol.ts";
import type { McpServers } from "./servers.ts";
import type { Command, SessionState } from "../../session/extension.ts";
import type { Confirmation } from "../../session/frontend.ts";
import { argumentWords } from "../skills/template.ts";
import { unknownText } from "../../session/commands/texts.ts";

export const mcpCommand = (source: McpServers | undefined): Command => ({
  name: "mcp",
  group: "Setup",
  argument: "[NAME]",
  help: "list the MCP servers, or show one; /mcp approve NAME approves it",
  run: (session, argument, signal) => runMcpCommand(source, session, argument, signal),
  values: () => (source?.servers ?? []).flatMap(argumentsFor),
});

function argumentsFor({ name, standing, changes }: McpServer): string[] {
  const isOpen = standing === "unapproved" || changes.length > 0;
  return [name, ...isOpen ? [`approve ${name}`] : []];
}

async function runMcpCommand(
  source: McpServers | undefined,
  session: SessionState,
  argument: string,
  signal: AbortSignal,
): Promise<string> {
  const { servers = [] } = source ?? {};
  if (!source || argument === "" && servers.length === 0) {
    return "No MCP servers are defined. Add one with copilot mcp add; new sessions use it.";
  }
  if (argument === "") return servers.map(serverRow).join("\n");
  const [, approves, name = ""] = /^(approve\s+)?(\S+)$/.exec(argument) ?? [];
  const server = source.find(name);
  if (!server) return unknownText(`MCP server ${argument}`, "/mcp");
  if (approves) {
    const ask = async (asked: Confirmation) => await session.confirm?.(asked, signal);
    const { isYes, line } = await approveServer(server, ask);
    if (!isYes) return line;
    const isFound = session.agent.tools.some(({ name }) => name === "find_tool");
    return `${line} ${isFound ? "find_tool finds its tools" : "New sessions have its tools"}.`;
  }
  try {
    await server.listAll(signal);
  } catch (error) {
    signal.throwIfAborted();
    return oneLine(reasonOf(error));
  }
  return [serverRow(server), ...listedRows(server)].join("\n");
}

const serverRow = (server: McpServer): string => `  ${mcpRow(server, "/mcp")}`;

/** Asks about the whole of a server, or about its changed tools. Returns the answer, and a line about it. */
export async function approveServer(
  server: McpServer,
  confirm: (question: Confirmation) => Promise<boolean | undefined>,
): Promise<{ isYes?: boolean | undefined; line: string }> {
  const { standing, name, changes } = server;
  const isOpen = standing === "unapproved";
  if (!isOpen && changes.length === 0) return { line: `Nothing of ${name} needs approval.` };
  const isYes = await confirm(serverQuestion(server, isOpen ? [] : changes));
  if (isOpen && isYes !== undefined) await server.decide(isYes);
  else if (isYes) await server.approveTools(changes);
  // An editor asks only with the first message.
  if (isYes === undefined) {
    return { line: `Run copilot mcp approve ${name} to review and approve it.` };
  }
  const what = isOpen ? name : `the changed tools of ${name}`;
  return { isYes, line: `${isYes ? "Approved" : "Not approved:"} ${what}.` };
}

export function promptCommands(source: McpServers | undefined): Command[] {
  return (source?.usable ?? []).flatMap((server) =>
    (server.memory.prompts ?? [])
      .filter(({ name }) => /^[\w-]+$/.test(name) && /^[\w-]+$/.test(server.name))
      .map((prompt) => promptCommand(server, prompt))
  );
}

function promptCommand(server: McpServer, prompt: PromptDefinition): Command {
  const name = `${server.name}:${prompt.name}`;
  return {
    name,
    group: "Work",
    help: oneLine(prompt.description ?? "a prompt of an MCP server").slice(0, 200),
    ...prompt.arguments.length > 0 && {
      argument: prompt.arguments.map(({ name, required }) =>
        required ? oneLine(name) : `[${oneLine(name)}]`
      ).join(" "),
    },
    async run(_, argument, signal) {
      const words = argumentWords(argument);
      const given: Record<string, string> = {};
      for (const [i, one] of prompt.arguments.entries()) {
        // The last argument gets the rest of the words.
        const value = words.splice(0, i + 1 < prompt.arguments.length ? 1 : Infinity).join(" ");
        if (value !== "") given[one.name] = value;
        else if (one.required) return `/${name} needs ${oneLine(one.name)}`;
      }
      const text = await server.prompt(prompt.name, given, signal);
      if (text.trim() === "") return `The prompt ${name} is empty.`;
      const line = `/${name}${argument && ` ${argument}`}`;
      return { type: "turn", parts: [{ type: "text", text: line }, notePart(text)] };
    },
  };
}
