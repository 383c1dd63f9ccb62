import { assertEquals } from "@std/assert";
import { hooksIn } from "../../../src/session/hooks/definition.ts";

const SLIPS: [events: unknown, why: string[]][] = [
  [{ PreToolUs: [] }, ["hooks do not run at PreToolUs: did you mean PreToolUse?"]],
  [{ pretooluse: [] }, ["hooks do not run at pretooluse: did you mean PreToolUse?"]],
  [{ PostToolUseFailure: [], Notification: [], SubagentStop: [], PreCompact: [] }, []],
  [{ Stop: {} }, ["Stop must be a list"]],
  [
    { PreToolUse: [{ matcher: "bash", hooks: [] }] },
    ["no tool is called bash: did you mean Bash?"],
  ],
  [{ PreToolUse: [{ matcher: "Bash", hooks: [] }, { matcher: "mcp__a__b", hooks: [] }] }, []],
];
for (const [events, why] of SLIPS) {
  Deno.test(`hooks: what is told of ${JSON.stringify(events)}`, () => {
    const { problems } = hooksIn(events as Record<string, unknown>, {
      path: "/hooks.json",
      scope: "user",
    });
    assertEquals(problems, why.map((one) => ({ path: "/hooks.json", why: one })));
  });
}
