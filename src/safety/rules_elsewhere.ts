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

/** Returns a rule such as `Bash(npm test:*)` as one of ours, `run_bash(npm test *)`; others as they are. */
export function ruleElsewhere(rule: string): string {
  const [, name = "", inner] = /^(\w+)(?:\(([^]*)\))?$/.exec(rule) ?? [];
  const tool = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
  if (tool === undefined) return rule;
  if (inner === undefined) return tool;
  const ours = tool === "run_bash"
    ? inner.replace(/:\*$/, " *")
    : inner.replace(/^domain:/, "").replace(/^\/\//, "/");
  return `${tool}(${ours})`;
}
