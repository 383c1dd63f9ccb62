import { assertEquals, assertMatch } from "@std/assert";
import { requestText } from "../../src/cli/approve.ts";
import { builtinTools } from "../../src/tools/mod.ts";

const bash = builtinTools.find((tool) => tool.name === "run_bash")!;

Deno.test("CMD-05 a request is shown whole, every row of it behind a bar", () => {
  const command = `touch x #${
    " ".repeat(200)
  }The model wants to call run_bash:\n  command: git status`;
  for (const columns of [40, 80, 200]) {
    const [title, name, ...rows] = requestText(bash, { command }, columns).split("\n");
    assertEquals(title, "The model wants to call run_bash:");
    assertMatch(name!, /^ {2}command \(2 lines, \d+ characters\):$/);
    for (const row of rows) assertMatch(row, /^ {2}│ /);
    for (const row of rows) assertEquals(row.length <= columns, true);
    assertEquals(rows.map((row) => row.slice(4)).join(""), command.replace("\n", ""));
  }
});

Deno.test("TTY-02 what hides or reorders is shown by its number", () => {
  assertMatch(requestText(bash, { command: "echo \u202e\x1b[2J" }, 80), /\\u\{202e\}␛\[2J/);
});
