import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { CopilotAgent } from "../../../src/agent/agent.ts";
import { processTurn } from "../../../src/agent/turn.ts";
import { openPermissions } from "../../../src/session/permissions.ts";
import { startDemoServer } from "../../../src/cli/demo/server.ts";
import { localConfig } from "../../../src/config.ts";
import type { Policy } from "../../../src/types/policy.ts";

// The rules read what the tools write: these turns go through the real agent, backend and tools.

async function withAgent(
  body: (agent: CopilotAgent, dir: string) => Promise<void>,
  policy?: Policy,
) {
  const dir = await Deno.makeTempDir();
  const { host, model, close } = startDemoServer();
  try {
    await Deno.writeTextFile(`${dir}/README.md`, "# Fizz\n\nFizz counts sheep. It never sleeps.\n");
    await Deno.mkdir(`${dir}/src`);
    await Deno.writeTextFile(`${dir}/src/sheep.ts`, "// All about sheep.\nexport let sheep = 0;\n");
    await Deno.writeTextFile(`${dir}/crlf.txt`, "\ufeffone\r\ntwo\r\n");
    await body(
      new CopilotAgent({ local: localConfig({ host, model }) }, dir, policy ? { policy } : {}),
      dir,
    );
  } finally {
    await close();
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("demo, through the agent: a question is answered from the folder", () =>
  withAgent(async (agent) => {
    const { response, toolExecutions, stopReason, inputTokens } = await processTurn(
      agent,
      "How are sheep counted?",
    );
    assertEquals(stopReason, "done");
    assertEquals(toolExecutions.filter((exec) => exec.isError), []);
    assertStringIncludes(response, "**Fizz**: Fizz counts sheep. It never sleeps. (`README.md`)");
    assertStringIncludes(response, "Here: 2 files and 1 folder: `README.md`, `crlf.txt`, `src/`");
    assertMatch(response, /`src\/sheep\.ts:[12]`/);
    assertEquals(inputTokens > 0, true);
    const nothing = await processTurn(agent, "Where is `no such words`?");
    assertStringIncludes(
      nothing.response,
      "A search for `no such words`, `TODO`, `main` found nothing.",
    );
  }));

Deno.test("demo, through the agent: a command in plain words runs, and an order it does not know does nothing", () =>
  withAgent(async (agent) => {
    const ran = await processTurn(agent, "Run ls src.");
    assertStringIncludes(
      ran.response,
      "I ran `ls src`; exit code 0:\n````\nstdout:\nsheep.ts\n````",
    );
    const unknown = await processTurn(agent, "run the app");
    assertEquals(unknown.toolExecutions, []);
    assertStringIncludes(unknown.response, "Nothing was done.");
    const { response } = await processTurn(agent, "What does src/sheep.ts do?");
    assertStringIncludes(response, "- begins with `// All about sheep.` (`src/sheep.ts`)");
  }));

Deno.test("demo, through the agent: edits and commands are done", () =>
  withAgent(async (agent, dir) => {
    for (
      const [prompt, path, after] of [
        ["create notes/a.txt with hello", "notes/a.txt", "hello\n"],
        ["create notes/a.txt with other", "notes/a.txt", "hello\n"],
        ["add a line 'bye' to notes/a.txt", "notes/a.txt", "hello\nbye\n"],
        [
          "replace sheep with goats in src/sheep.ts",
          "src/sheep.ts",
          "// All about goats.\nexport let goats = 0;\n",
        ],
        ["add a line three to crlf.txt", "crlf.txt", "\ufeffone\r\ntwo\r\nthree\r\n"],
        ["replace two with 2 in crlf.txt", "crlf.txt", "\ufeffone\r\n2\r\nthree\r\n"],
      ] as const
    ) {
      const { response } = await processTurn(agent, prompt);
      // `fatal` and `ignoreBOM`: byte for byte.
      const bytes = await Deno.readFile(`${dir}/${path}`);
      assertEquals(
        new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
        after,
        response,
      );
    }
    const { response } = await processTurn(agent, "run `echo out; exit 3`");
    assertMatch(response, /exit code 3:[^]*out/);
    await Deno.writeTextFile(`${dir}/Makefile`, "test:\n\t@echo one failed; false\n");
    const tests = await processTurn(agent, "run the tests");
    assertMatch(tests.response, /`make test`; exit code [12]:/);
  }));

const permissions = await openPermissions({}, () => undefined);
Deno.test("demo, through the agent: what is refused is told and not done", () =>
  withAgent(async (agent, dir) => {
    const { response } = await processTurn(agent, "create a.txt with hello");
    assertStringIncludes(response, "Refused: write_file needs an approval");
    assertStringIncludes(response, "`--yes`");
    assertEquals([...Deno.readDirSync(dir)].map(({ name }) => name).sort(), [
      "README.md",
      "crlf.txt",
      "src",
    ]);
  }, permissions.policy(undefined)));
