import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { CopilotAgent } from "../../../src/agent/agent.ts";
import { processTurn } from "../../../src/agent/turn.ts";
import { startDemo } from "../../../src/cli/demo/server.ts";
import { localConfig } from "../../../src/config.ts";
import { openPermissions } from "../../../src/safety/permissions.ts";

// The scenes go through the real agent, backend and tools.

Deno.test("demo: the tour repairs its project, again after /undo, and removes it at its end", async () => {
  const demo = startDemo("tour");
  const { host, model, folder } = demo;
  try {
    const agent = new CopilotAgent({ local: localConfig({ host, model }) }, folder!);
    const broken = await Deno.readTextFile(`${folder}/cart.sh`);
    for (const _ of ["first", "again"]) {
      const { response, toolExecutions, inputTokens } = await processTurn(agent, "Fix the tests.");
      assertEquals(toolExecutions.map(({ toolName, isError }) => [toolName, isError]), [
        ["run_bash", false],
        ["read_file", false],
        ["edit_file", false],
        ["run_bash", false],
      ]);
      assertMatch(toolExecutions[0]!.result, /exit code: 1[^]*FAILED {2}two books/);
      assertMatch(toolExecutions[3]!.result, /exit code: 0/);
      assertStringIncludes(response, "all three tests pass");
      assertEquals(inputTokens > 0, true);
      const later = await processTurn(agent, "And now?");
      assertEquals(later.toolExecutions, []);
      assertStringIncludes(later.response, "`/setup` chooses a real model.");
      // What /undo does.
      agent.state.messages.splice(0);
      await Deno.writeTextFile(`${folder}/cart.sh`, broken);
    }
  } finally {
    await demo.close();
    await demo.close();
  }
  await assertRejects(() => Deno.stat(folder!), Deno.errors.NotFound);
});

Deno.test("demo: a call that is refused ends the tour's turn", async () => {
  const demo = startDemo("tour");
  try {
    const { host, model, folder } = demo;
    const policy = (openPermissions({}, () => undefined)).policy(undefined);
    const agent = new CopilotAgent({ local: localConfig({ host, model }) }, folder!, { policy });
    for (const _ of ["once", "again"]) {
      const { response } = await processTurn(agent, "Fix the tests.");
      assertStringIncludes(response, "Nothing was changed.");
    }
  } finally {
    await demo.close();
  }
});

const ROWS = [
  ["an empty one", {}, /The folder has 0 entries\.\n\nFor a real answer/],
  [
    "one with a README",
    { "a.ts": "1\n", "README.md": "\n# Fizz\n\nCounts sheep.\n" },
    /has 2 entries: `README\.md`, `a\.ts`\.\n\n`README\.md` begins with: # Fizz\n/,
  ],
  ["one with an unknown file", { "a.bin": "1\n" }, /has 1 entry: `a\.bin`\.\n\nFor/],
] as const;
for (const [name, files, expected] of ROWS) {
  Deno.test(`demo: -p looks at the folder: ${name}`, async () => {
    const demo = startDemo("look");
    const folder = await Deno.makeTempDir();
    try {
      for (const [path, text] of Object.entries(files)) {
        await Deno.writeTextFile(`${folder}/${path}`, text);
      }
      const { host, model } = demo;
      const agent = new CopilotAgent({ local: localConfig({ host, model }) }, folder);
      const { response } = await processTurn(agent, "What does this project do?");
      assertMatch(response, /^This is the demo: a script plays the model/);
      assertMatch(response, expected);
    } finally {
      await demo.close();
      await Deno.remove(folder, { recursive: true });
    }
  });
}
