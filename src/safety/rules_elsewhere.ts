/** Rules in the form of other agents. @module */

const TOOLS: Readonly<Record<string, string>> = {
  Bash: "run_bash",
  Edit: "write",
  MultiEdit: "write",
  Write: "write",
  Read: "read",
  Grep: "grep_code",
  Glob: "glob_files",
  LS: "list_directory",
  WebFetch: "fetch_url",
  Task: "explore",
};

/**
 * Returns a rule such as `Bash(npm test:*)` as one of ours, `run_bash(npm test *)`; others as they are. As there, a rule
 * that allows writing is for the folder, and only `//` begins an absolute path.
 */
export function ruleElsewhere(effect: "allow" | "deny", rule: string): string {
  const [, name = "", inner] = /^(\w+)(?:\(([^]*)\))?$/.exec(rule) ?? [];
  const tool = Object.hasOwn(TOOLS, name) ? TOOLS[name]! : undefined;
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
