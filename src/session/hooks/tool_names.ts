/** Calls as hooks that were written for Claude Code know them. Pure. @module */

import { resolvePath } from "../../text/paths.ts";

/** The names of our tools there. */
const TOOL_ALIASES: Readonly<Record<string, string>> = {
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

/** The tool that a matcher names but for the case of its letters, which counts; undefined for none. */
export function toolNamedLike(matcher: string): string | undefined {
  const names = Object.entries(TOOL_ALIASES).flat();
  if (names.includes(matcher)) return undefined;
  return names.find((name) => name.toLowerCase() === matcher.toLowerCase());
}

/** A call as a hook is told of it. */
interface HookCall {
  /** The names that a matcher may have for the tool, the usual one first. */
  names: string[];
  input: Record<string, unknown>;
}

/** The call of a tool; paths of files are absolute there. */
export function hookCall(
  tool: { name: string; ruleName?: string | undefined },
  args: Readonly<Record<string, unknown>>,
  workingDir: string,
): HookCall {
  const { name, ruleName } = tool;
  const alias = Object.hasOwn(TOOL_ALIASES, name) ? TOOL_ALIASES[name] : ruleName;
  const { file_path: path } = args;
  return {
    names: alias === undefined ? [name] : [alias, name],
    input: {
      ...args,
      ...typeof path === "string" && { file_path: resolvePath({ workingDir }, path) },
    },
  };
}
