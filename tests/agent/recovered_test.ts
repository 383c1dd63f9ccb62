import { assertEquals } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { processTurn } from "../../src/agent/turn.ts";
import { localConfig } from "../../src/config.ts";
import type { TurnEvent } from "../../src/types/event.ts";
import { strictServer } from "../helpers/strict_server.ts";

Deno.test("calls that come as text are told of once, with what makes the server read them", async () => {
  const call = (path: string) => ({
    text: `<tool_call>\n{"name": "list_directory", "arguments": {"path": "${path}"}}\n</tool_call>`,
  });
  const end = { text: "Done." };
  await using server = strictServer([call("/"), end, call("/usr"), call("/bin"), end]);
  const config = { local: localConfig({ host: server.url, model: "test" }) };
  const agent = new CopilotAgent(config, "/");
  const events: TurnEvent[] = [];
  const onEvent = (event: TurnEvent) => void events.push(event);
  const told = () =>
    events.filter((event) => event.type === "notice" && /come as text/.test(event.message)).length;
  await processTurn(agent, "one", { onEvent });
  assertEquals(told(), 0);
  await processTurn(agent, "two and three", { onEvent });
  assertEquals(told(), 1);
  assertEquals(events.filter(({ type }) => type === "tool_call_recovered").length, 3);
});
