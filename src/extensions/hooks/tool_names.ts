/** Calls in the terms of hooks for Claude Code. Pure. @module */

import { resolvePath } from "../../text/paths.ts";

/** Claude Code's names for our tools, for hooks and sub-agent files. */
const HOOK_NAMES: Readonly<Record<string, string>> = {
  run_bash: "Bash",
  edit_file: "Edit",
  write_file: "Write",
  read_file: "Read",
  grep_code: "Grep",
  glob_files: "Glob",
  list_directory: "LS",
  fetch_url: "WebFetch",
  explore: "Task",
  tasks: "TodoWrite",
};

export function toolNamedLike(matcher: string): string | undefined {
  const names = Object.entries(HOOK_NAMES).flat();
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
  const alias = Object.hasOwn(HOOK_NAMES, name) ? HOOK_NAMES[name] : ruleName;
  const { file_path: path } = args;
  return {
    names: alias === undefined ? [name] : [alias, name],
    input: {
      ...args,
      ...typeof path === "string" && { file_path: resolvePath({ workingDir }, path) },
    },
  };
}
