/** Calls in the terms of hooks for Claude Code. Pure. @module */

import { CLAUDE_TOOL_NAMES } from "../../safety/rules_elsewhere.ts";
import { resolvePath } from "../../text/paths.ts";

/** Returns a call for hooks, with the names of its tool, the usual one first. Paths of files are absolute. */
export function hookCall(
  tool: { name: string; ruleName?: string | undefined },
  args: Readonly<Record<string, unknown>>,
  workingDir: string,
) {
  const { name, ruleName } = tool;
  const alias = Object.hasOwn(CLAUDE_TOOL_NAMES, name) ? CLAUDE_TOOL_NAMES[name] : ruleName;
  const { file_path: path } = args;
  return {
    names: alias === undefined ? [name] : [alias, name],
    input: {
      ...args,
      ...typeof path === "string" && { file_path: resolvePath({ workingDir }, path) },
    },
  };
}
