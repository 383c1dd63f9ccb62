/** The limits of sub-agents that Markdown files define, in the format of Claude Code. Pure. @module */

import { hookCall } from "../hooks/tool_names.ts";
import { type FrontmatterFile, textField } from "../skills/frontmatter.ts";
import { EXPLORE } from "../../tools/explore.ts";

/** The permissions that a file gives a sub-agent. They never exceed those of its parent. */
export interface AgentLimits {
  /** Its tools, by their names here or in Claude Code. Default: all of its parent's. */
  tools?: readonly string[];
  without: readonly string[];
  isReader: boolean;
  /** True for a sub-agent that works in a worktree of its own. */
  isIsolated?: true;
  /** The requested model: a role, `SERVER#MODEL`, a model of the session's server, or `inherit`. */
  model?: string;
  maxRounds?: number;
}

export function limitsIn(fields: FrontmatterFile["fields"]): AgentLimits {
  const { tools, disallowedTools, permissionMode, maxTurns, isolation, model: wanted } = fields;
  const model = textField(wanted)?.trim() ?? "";
  const rounds = Number(textField(maxTurns) ?? "");
  // A value that is not a list allows no tools.
  const names = toolNames(textField(tools ?? "*") ?? "");
  return {
    ...!names.includes("*") && { tools: names },
    without: toolNames(textField(disallowedTools) ?? ""),
    isReader: textField(permissionMode)?.trim() === "plan",
    ...textField(isolation)?.trim() === "worktree" && { isIsolated: true },
    ...model !== "" && { model },
    ...Number.isInteger(rounds) && rounds > 0 && { maxRounds: rounds },
  };
}

/** Returns the names in a list. `Bash(git *)` is dropped: it would allow more than it says. */
function toolNames(list: string): string[] {
  const names = list.match(/[^\s,()]+(?:\([^)]*\))?/g) ?? [];
  return names.filter((name) => !name.includes("("));
}

export function mayCall(
  { tools, without, isReader }: AgentLimits,
  tool: { name: string; ruleName?: string | undefined; access: string },
): boolean {
  if (tool.name === EXPLORE) return false;
  // Dispatches to tools of MCP servers, which are checked individually.
  if (tool.name === "find_tool" || tool.name === "call_tool") {
    return !isReader && (tools === undefined || tools.some((name) => /^mcp__/i.test(name)));
  }
  const { names } = hookCall(tool, {}, "/");
  const isIn = (list: readonly string[]) => list.some((entry) => names.some(isNamedBy(entry)));
  if (isReader && tool.access !== "read") return false;
  return (tools === undefined || isIn(tools)) && !isIn(without);
}

/** Matches a tool's name against an entry. `mcp__server` and `mcp__server__*` are all tools of a server. */
const isNamedBy = (entry: string) => {
  const wanted = entry.toLowerCase().replace(/(?:__)?\*$/, "");
  return (name: string) => {
    const lower = name.toLowerCase();
    return lower === wanted || /^mcp__(?!.*__)/.test(wanted) && lower.startsWith(`${wanted}__`);
  };
};
