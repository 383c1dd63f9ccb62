/** The wording of MCP servers: questions, notices and rows. @module */

import type { Confirmation } from "../../session/frontend.ts";
import { aboutTokens, count } from "../../text/count.ts";
import { diffLines } from "../../text/diff.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { sanitize } from "../../text/sanitize.ts";
import { approvedPart, runsFolder, variablesOf } from "./definition.ts";
import type { McpServer, ToolChange } from "./server.ts";

/** Asks about the whole of a definition and the variables that it gets, or about changed tools. */
export function serverQuestion(
  { definition, trust: { change } }: Pick<McpServer, "definition" | "trust">,
  changes: readonly ToolChange[] = [],
): Confirmation {
  const { name, file: path, network, program } = definition;
  const asked = { kind: "server", ...path !== undefined && { path } } as const;
  if (changes.length > 0) {
    const lines = [`Tools of the MCP server ${sanitize(name)}:`, ...changes.flatMap(toolLines)];
    return {
      ...asked,
      text: lines.join("\n"),
      title: "Offer these tools to the model?",
      files: [],
    };
  }
  const parts = Object.entries(approvedPart(definition))
    .map(([key, value]) => `  ${key}: ${sanitize(JSON.stringify(value))}`);
  const variables = variablesOf(definition).map(sanitize).join(", ");
  const open = network && runsFolder(definition) ? ", and commands can change what it runs" : "";
  const lines = [
    `The MCP server ${sanitize(name)}${path === undefined ? "" : ` of ${oneLine(path)}`}:`,
    ...parts,
    ...variables === "" ? [] : [`  It gets the values of ${variables}.`],
    ...program ? [`  It runs ${network ? "with the network" : "without a network"}${open}.`] : [],
  ];
  const changed = change?.type === "changed" ? [{ name, lines: parts.length, change }] : [];
  return { ...asked, text: lines.join("\n"), title: "Use this server?", files: changed };
}

function toolLines({ before, now }: ToolChange): string[] {
  const text = (tool: unknown) => tool === undefined ? "" : `${JSON.stringify(tool, null, 2)}\n`;
  const lines = diffLines(text(before), text(now));
  return [
    `${before ? "Changed" : "New"}: ${sanitize(now.name)}`,
    ...lines.map(({ kind, text }) => `  ${kind} ${sanitize(text)}`),
  ];
}

const MAX_WORDS_CHARS = 100;

/** Returns a row for each tool of a server, and for each prompt and resource as the user types it. */
export function listedRows({ name, tools = [], memory }: McpServer): string[] {
  const { prompts = [], resources = [] } = memory;
  const row = (name: string, words = "") =>
    `    ${oneLine(name)}${words && `: ${shortened(oneLine(words), MAX_WORDS_CHARS)}`}`;
  return [
    ...tools.map((one) => row(one.name, one.description)),
    ...prompts.map((one) => row(`/${name}:${one.name}`, one.description)),
    ...resources.map((one) => row(`@${name}:${one.uri}`, one.name)),
  ];
}

/** An MCP server in one line: `github: 12 tools, about 3400 tokens if all were shown · running`. */
export function mcpRow(
  { name, standing, definition, isRunning, failure, tools, changes }: McpServer,
  command: "/mcp" | "copilot mcp",
): string {
  const approve = `${command} approve ${oneLine(name)}`;
  const states: Readonly<Record<typeof standing, string>> = {
    ready: tools === undefined
      ? "its tools are not known yet"
      : `${count(tools.length, "tool")}, about ${
        aboutTokens(JSON.stringify(tools))
      } tokens if all were shown`,
    unapproved: `not approved: ${approve}`,
    disabled: "turned off",
    broken: "cannot be used",
  };
  const names = changes.slice(0, 10).map(({ now }) => oneLine(now.name)).join(", ");
  const waits = names && ` · changed, and not offered: ${names} (${approve})`;
  const problem = failure ?? definition.problem;
  const why = problem === undefined ? "" : ` · ${oneLine(problem)}`;
  return `${oneLine(name)}: ${states[standing]}${isRunning ? " · running" : ""}${why}${waits}`;
}
