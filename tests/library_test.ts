import { assertEquals } from "@std/assert";
import { builtinTools, CopilotAgent, localConfig, processTurn, type Tool } from "../src/mod.ts";
import { strictServer } from "./helpers/strict_server.ts";

Deno.test("the README's library example: a tool of one's own, onEvent, a loop over turns", async () => {
  await using server = strictServer([
    { toolCalls: [{ name: "today", arguments: {} }] },
    { text: "It is today." },
    { text: "A test." },
  ]);
  const today: Tool = {
    name: "today",
    description: "Today's date",
    parameters: { type: "object", properties: {} },
    access: "read",
    run: () => new Date(0).toISOString(),
  };
  const config = { local: localConfig({ model: "test", host: server.url }) };
  const agent = new CopilotAgent(config, Deno.cwd(), { tools: [...builtinTools, today] });
  const started: string[] = [];
  const responses: string[] = [];
  for (const question of ["What day is it?", "What does this project do?"]) {
    const { response } = await processTurn(agent, question, {
      onEvent: (event) => event.type === "tool_start" && started.push(event.name),
    });
    responses.push(response);
  }
  assertEquals(responses, ["It is today.", "A test."]);
  assertEquals(started, ["today"]);
});
