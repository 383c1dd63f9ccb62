import { assertEquals } from "@std/assert";
import { mayCall } from "../../../src/extensions/agents/agent_file.ts";
import { definitionIn } from "../../../src/extensions/skills/load.ts";

const TOOLS = [
  { name: "read_file", access: "read" },
  { name: "grep_code", access: "read" },
  { name: "write_file", access: "write" },
  { name: "run_bash", access: "execute" },
  { name: "git__log", ruleName: "mcp__git__log", access: "execute" },
  { name: "git__log__x", ruleName: "mcp__git__log__x", access: "execute" },
  { name: "gitlab__log", ruleName: "mcp__gitlab__log", access: "execute" },
  { name: "call_tool", access: "network" },
  { name: "search_web", access: "network" },
  { name: "explore", access: "read" },
];
const ALL = TOOLS.map(({ name }) => name).filter((name) => name !== "explore").join(" ");

const ROWS: [fields: string, allowed: string][] = [
  ["", ALL],
  ["tools: '*'", ALL],
  ["tools: Read, Grep", "read_file grep_code"],
  ["tools: WebSearch", "search_web"],
  ["tools: [read_file, Bash]", "read_file run_bash"],
  ["tools:\n  - Read\n  - Write", "read_file write_file"],
  ["tools: Bash(git *), Read", "read_file"],
  ["tools: Bash(*)", ""],
  ["tools: Read, mcp__git__*", "read_file git__log git__log__x call_tool"],
  ["tools: mcp__git", "git__log git__log__x call_tool"],
  ["tools: mcp__git__log", "git__log call_tool"],
  ["tools: Nothing", ""],
  ["tools:\n  write: true\n  Bash: false", ""],
  [
    "disallowedTools: Bash, mcp__gitlab",
    "read_file grep_code write_file git__log git__log__x call_tool search_web",
  ],
  ["tools: Read, Bash\ndisallowedTools: Bash", "read_file"],
  ["permissionMode: plan", "read_file grep_code"],
  ["permissionMode: bypassPermissions\ntools: Read", "read_file"],
];

for (const [fields, allowed] of ROWS) {
  Deno.test(`sub-agents in files: tools of ${JSON.stringify(fields)}`, () => {
    const read = definitionIn("agent", `---\ndescription: D\n${fields}\n---\nBody\n`, "one.md");
    if (typeof read === "string") throw new Error(read);
    const names = TOOLS.filter((tool) => mayCall(read.limits!, tool)).map(({ name }) => name);
    assertEquals(names.join(" "), allowed);
  });
}

const FILES: [text: string, name: string, read: string, inPlugin?: string][] = [
  ["---\nname: Reviewer\ndescription: D\n---\nBody", "x.md", "reviewer"],
  ["---\ndescription: D\n---\nBody", "code-review.md", "code-review"],
  ["---\ndescription: D\n---\nBody", "net-4.8.md", "net-4.8"],
  [
    "---\ndescription: D\n---\nBody",
    "Explore.md",
    "a built-in sub-agent has this name",
    "explore: D",
  ],
  ["---\nname: \x1b[31mred\ndescription: D\n---\nBody", "x.md", "x"],
  [
    "---\nname: ../../etc\ndescription: D\n---\nBody",
    "\x1b.md",
    "its name must be letters, digits and hyphens",
  ],
  ["---\nname: a\n---\nBody", "x.md", "it has no description"],
  ["---\nname: Explore\ndescription: D\n---\nBody", "x.md", "a built-in sub-agent has this name"],
  ["---\nname: a\ndescription: D\n---\n", "x.md", "it has no text"],
  ["# The judge\nBody", "x.md", "it has no description", "x: The judge"],
];

for (const [text, name, expected, inPlugin] of FILES) {
  Deno.test(`sub-agents in files: ${JSON.stringify(text)} is ${expected}`, () => {
    const read = definitionIn("agent", text, name);
    assertEquals(typeof read === "string" ? read : read.name, expected);
    if (inPlugin === undefined) return;
    const other = definitionIn("agent", text, name, { name: "p", root: "/" });
    assertEquals(
      typeof other === "string" ? other : `${other.name}: ${other.description}`,
      inPlugin,
    );
  });
}

Deno.test("sub-agents in files: their model and rounds, as far as they make sense", () => {
  const read = (fields: string) => {
    const found = definitionIn("agent", `---\ndescription: D\n${fields}\n---\nBody`, "x.md");
    if (typeof found === "string") throw new Error(found);
    return [found.limits?.model, found.limits?.maxRounds];
  };
  assertEquals(read("model: qwen3:8b\nmaxTurns: 5"), ["qwen3:8b", 5]);
  assertEquals(read("model: inherit\nmaxTurns: -1"), ["inherit", undefined]);
  assertEquals(read("maxTurns: lots"), [undefined, undefined]);
});
