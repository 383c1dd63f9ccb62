/** Reads the list of tools that a server answers. @module */

import { oneLine } from "../text/one_line.ts";
import { problemOfHeaders } from "./param_headers.ts";
import { type ToolDefinition, toolDefinitionOf } from "./protocol.ts";

/** The tools of a list that can be used, sorted by name, each name once; the reasons why others cannot. */
export function readTools(
  entries: readonly unknown[],
  isHttp: boolean,
): { tools: ToolDefinition[]; reasons: string[] } {
  const reasons: string[] = [];
  const tools = new Map<string, ToolDefinition>();
  for (const entry of entries) {
    const tool = toolDefinitionOf(entry);
    const problem = typeof tool === "string" ? tool : isHttp ? problemOfHeaders(tool) : undefined;
    if (problem !== undefined) reasons.push(oneLine(problem).slice(0, 200));
    else if (typeof tool !== "string" && !tools.has(tool.name)) tools.set(tool.name, tool);
  }
  const inOrder = [...tools.values()].sort((a, b) => a.name < b.name ? -1 : 1);
  return { tools: inOrder, reasons: [...new Set(reasons)].slice(0, 10) };
}
