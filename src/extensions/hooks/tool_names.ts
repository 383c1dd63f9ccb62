/** Calls in the terms of hooks for Claude Code. Pure. @module */

import { CLAUDE_TOOL_NAMES } from "../../safety/rules_elsewhere.ts";
import { resolvePath } from "../../text/paths.ts";

export function toolNamedLike(matcher: string): string | undefined {
  const names = Object.entries(CLAUDE_TOOL_NAMES).flat();
  if (names.includes(matcher)) return undefined;
  return names.find((name) => name.toLowerCase() === matcher.toLowerCase());
}

interface HookCall {
  /** The names of the tool, the usual one first. */
  names: string[];
  input: Record<string, unknown>;
}

/** Returns a call for hooks. Paths of files are absolute. */
export function hookCall(
  tool: { name: string; ruleName?: string | undefined },
  args: Readonly<Record<string, unknown>>,
  workingDir: string,
): HookCall {
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
