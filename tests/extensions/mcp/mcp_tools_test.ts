import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import {
  builtinTools,
  CopilotAgent,
  localConfig,
  mcpTools,
  processTurn,
} from "../../../src/mod.ts";
import { left, living, marker } from "../../helpers/processes.ts";
import { strictServer, use } from "../../helpers/strict_server.ts";

const SCRIPT = fromFileUrl(new URL("bad_server.ts", import.meta.url));

Deno.test("mcpTools: an agent of the library finds and calls tools; the server ends with it", async () => {
  const mark = marker();
  {
    await using mcp = await mcpTools({
      bad: {
        command: Deno.execPath(),
        args: ["run", "-A", "--no-check", SCRIPT, "legacy", "", mark],
      },
    });
    assertEquals(mcp.tools.map(({ name }) => name), ["find_tool", "call_tool"]);
    assertEquals(await living(mark), []);
    await using server = strictServer([
      use("find_tool", { query: "say again" }),
      use("call_tool", { name: "bad__echo", arguments: { text: "hi" } }),
      { text: "done" },
    ]);
    const config = { local: localConfig({ host: server.url, model: "test" }) };
    const agent = new CopilotAgent(config, ".", { tools: [...builtinTools, ...mcp.tools] });
    const { response, toolExecutions } = await processTurn(agent, "hi");
    assertEquals(response, "done");
    assertStringIncludes(toolExecutions[0]!.result, "bad__echo");
    assertStringIncludes(toolExecutions[1]!.result, "echo hi from ");
  }
  assertEquals(await left(mark), []);
});

Deno.test("mcpTools: a definition that makes no sense is refused, and none is no tool", async () => {
  await assertRejects(() => mcpTools({ a: {} }), TypeError, "it has neither a command nor a url");
  await using none = await mcpTools({});
  assertEquals(none.tools, []);
});
