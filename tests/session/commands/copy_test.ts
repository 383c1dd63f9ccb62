import { assertEquals } from "@std/assert";
import { CopilotAgent } from "../../../src/agent/agent.ts";
import { localConfig } from "../../../src/config.ts";
import { copyCommand } from "../../../src/session/commands/copy.ts";
import type { SessionState } from "../../../src/session/state.ts";

Deno.test("/copy takes the last answer, or the block of code with a number", async () => {
  const agent = new CopilotAgent({ local: localConfig({ model: "m" }) }, "/");
  const session = { agent } as SessionState;
  const { signal } = new AbortController();
  const copied = (argument: string) => copyCommand.run(session, argument, signal);
  assertEquals(await copied(""), { type: "nothing_to_copy" });
  const text = "Do:\n```sh\nmake\n```\nthen\n```\na\nb\n```\n";
  agent.state.messages = [{ role: "assistant", content: text }];
  assertEquals(await copied(""), { type: "copy", text });
  assertEquals(await copied("1"), { type: "copy", text: "make", block: 1 });
  assertEquals(await copied("2"), { type: "copy", text: "a\nb", block: 2 });
  for (const none of ["0", "3", "x"]) {
    assertEquals(await copied(none), { type: "nothing_to_copy", blocks: 2 });
  }
});
