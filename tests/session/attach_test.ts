import { assertEquals } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { localConfig } from "../../src/config.ts";
import { attachFiles } from "../../src/session/attach.ts";
import type { Decision } from "../../src/types/policy.ts";
import { workspace } from "../tools/workspace.ts";

const { signal } = new AbortController();

Deno.test("a person is told which lines of a long file go along", async () => {
  using ws = workspace();
  ws.put("long", "a line\n".repeat(2001));
  ws.put("whole", "a line\n".repeat(2000));
  const agent = new CopilotAgent({ local: localConfig() }, ws.dir);
  const { notices } = await attachFiles(agent, "see @long and @whole", signal);
  assertEquals(notices, [
    "2 files go along",
    "@long: only its first 2000 of 2001 lines go along",
  ]);
});

Deno.test("a person is told why a file does not go along, in the words that are for them", async () => {
  using ws = workspace();
  ws.put("f", "");
  const agent = new CopilotAgent({ local: localConfig() }, ws.dir);
  const rows: [refusal: Decision, notice: string][] = [
    [{ allow: false, reason: "Refused: so. Do not try" }, "Refused: so. Do not try"],
    [{ allow: false, reason: "for the model", explanation: "for a person" }, "for a person"],
  ];
  for (const [decision, notice] of rows) {
    const policy = { decide: () => decision };
    const { parts, notices } = await attachFiles(agent, "see @f", signal, policy);
    assertEquals([parts, notices], [[], [`@f does not go along: ${notice}`]]);
  }
});
