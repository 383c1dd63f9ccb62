/** The limits of sub-agents that Markdown files define, in the format of Claude Code. Pure. @module */

import { hookCall } from "../hooks/tool_names.ts";
import { type FrontmatterFile, textField } from "../prompt_files/frontmatter.ts";
import { EXPLORE } from "./explore_tool.ts";

/** What a file allows a sub-agent; none of it is more than its parent may do. */
export interface AgentLimits {
  /** The tools that it has, by their names here or in Claude Code; left out, all of its parent's. */
  tools?: readonly string[];
  /** The tools that it does not have. */
  without: readonly string[];
  /** True where it may only read. */
  isReader: boolean;
  /** The model that it asks for; left out for its parent's. */
  model?: string;
  /** The most rounds of calls. */
  maxRounds?: number;
}

/** The limits in the frontmatter of a file. */
export function limitsIn(fields: FrontmatterFile["fields"]): AgentLimits {
  const { tools, disallowedTools, permissionMode, maxTurns, model: wanted } = fields;
  const model = textField(wanted)?.trim() ?? "";
  const rounds = Number(textField(maxTurns) ?? "");
  const isMap = tools !== undefined && textField(tools) === undefined;
  // OpenCode turns tools on and off by name.
  const off = isMap
    ? Object.entries(tools as Record<string, string>).filter(([, on]) => on !== "true")
      .map(([name]) => name)
    : [];
  const names = isMap ? ["*"] : toolNames(textField(tools) ?? "*");
  return {
    ...!names.includes("*") && { tools: names },
    without: [...off, ...toolNames(textField(disallowedTools) ?? "")],
    isReader: textField(permissionMode)?.trim() === "plan",
    ...model !== "" && model !== "inherit" && { model },
    ...Number.isInteger(rounds) && rounds > 0 && { maxRounds: rounds },
  };
}

/** The names in a list; one with a condition, such as `Bash(git *)`, would allow more than it says. */
function toolNames(list: string): string[] {
  const names = list.match(/[^\s,()]+(?:\([^)]*\))?/g) ?? [];
  return names.filter((name) => !name.includes("("));
}

/** True where a sub-agent with these limits may call a tool. */
export function mayCall(
  { tools, without, isReader }: AgentLimits,
  tool: { name: string; ruleName?: string | undefined; access: string },
): boolean {
  if (tool.name === EXPLORE) return false;
  // The way to tools of MCP servers, which are decided on by themselves.
  if (tool.name === "find_tool" || tool.name === "call_tool") {
    return !isReader && (tools === undefined || tools.some((name) => /^mcp__/i.test(name)));
  }
  const { names } = hookCall(tool, {}, "/");
  const isIn = (list: readonly string[]) => list.some((entry) => names.some(isNamedBy(entry)));
  if (isReader && tool.access !== "read") return false;
  return (tools === undefined || isIn(tools)) && !isIn(without);
}

/** Holds a tool's name against an entry: `mcp__server` and `mcp__server__*` are all tools of a server. */
const isNamedBy = (entry: string) => {
  const wanted = entry.toLowerCase().replace(/(?:__)?\*$/, "");
  return (name: string) => {
    const lower = name.toLowerCase();
    return lower === wanted || wanted.startsWith("mcp__") && lower.startsWith(`${wanted}__`);
  };
};
