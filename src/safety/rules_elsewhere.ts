/** Rules in the form of other agents. @module */

/** Claude Code's names for our tools, also for hooks and sub-agent files. */
export const CLAUDE_TOOL_NAMES: Readonly<Record<string, string>> = {
  run_bash: "Bash",
  edit_file: "Edit",
  write_file: "Write",
  read_file: "Read",
  grep_code: "Grep",
  glob_files: "Glob",
  list_directory: "LS",
  fetch_url: "WebFetch",
  search_web: "WebSearch",
  explore: "Task",
  tasks: "TodoWrite",
};

const RULE_NAMES = new Map([
  ...Object.entries(CLAUDE_TOOL_NAMES).map(([ours, theirs]) => [theirs, ours] as const),
  ...["Edit", "MultiEdit", "Write"].map((name) => [name, "write"] as const),
  ["Read", "read"],
]);

/**
 * Returns a rule such as `Bash(npm test:*)` as one of ours, `run_bash(npm test *)`; others as they are. As there, a rule
 * that allows writing is for the folder, and only `//` starts an absolute path.
 */
export function ruleElsewhere(effect: "allow" | "deny", rule: string): string {
  const [, name = "", inner] = /^(\w+)(?:\(([^]*)\))?$/.exec(rule) ?? [];
  const tool = RULE_NAMES.get(name);
  if (tool === undefined) return rule;
  const isFiles = tool === "write" || tool === "read";
  if (inner === undefined) return isFiles && effect === "allow" ? `${tool}(**)` : tool;
  const ours = tool === "run_bash"
    ? inner.replace(/:\*$/, " *")
    : isFiles
    ? inner.replace(/^\//, "").replace(/^\//, "/")
    : inner.replace(/^domain:/, "");
  return `${tool}(${ours})`;
}
