import { assertEquals } from "@std/assert";
import { CopilotAgent } from "../../../src/agent/agent.ts";
import { localConfig } from "../../../src/config.ts";
import { copyCommand } from "../../../src/session/commands/copy.ts";
import type { CommandAnswer } from "../../../src/session/data.ts";
import type { SessionState } from "../../../src/session/extension.ts";

Deno.test("/copy takes the last answer, or the block of code with a number", async () => {
  const agent = new CopilotAgent({ local: localConfig({ model: "m" }) }, "/");
  const session = { agent } as SessionState;
  const { signal } = new AbortController();
  const copied = (argument: string) => copyCommand.run(session, argument, signal);
  assertEquals(await copied(""), "There is no answer to copy yet.");
  const text = "Do:\n```sh\nmake\n```\nthen\n```\na\nb\n```\n";
  agent.state.messages = [{ role: "assistant", content: text }];
  const effect = (copied: string, what: string): CommandAnswer => (
    {
      type: "copy",
      copied,
      what,
      text: "Copy in the editor: programs cannot use the clipboard here.",
    }
  );
  assertEquals(await copied(""), effect(text, "the last answer, 9 lines"));
  assertEquals(await copied("1"), effect("make", "block 1, 1 line"));
  assertEquals(await copied("2"), effect("a\nb", "block 2, 2 lines"));
  for (const none of ["0", "3", "x"]) {
    assertEquals(await copied(none), "The last answer has 2 code blocks: /copy 1 copies the first");
  }
  agent.state.messages = [{ role: "assistant", content: "none" }];
  assertEquals(await copied("1"), "The last answer has no code block: /copy copies all of it");
});
