import { assertEquals } from "@std/assert";
import { processTurn, type TurnOptions } from "../../src/agent/turn.ts";
import { announcesStep, claimsChange, UNFOUNDED_QUESTIONS } from "../../src/agent/unfounded.ts";
import type { Tool } from "../../src/types/tool.ts";
import type { Step } from "../helpers/strict_server.ts";
import { scripted } from "./backends.ts";

Deno.test("a claim is one that a change was made, for a message that asks for one", () => {
  const rows: [asked: string, answer: string, isClaim: boolean][] = [
    ["Fix the failing test.", "Done.", true],
    ["please rename foo to bar", "I have renamed foo to bar in all files.", true],
    ["Look at cart.ts and fix the sum", "The bug has been fixed: the sum starts at 0 now.", true],
    ["There is a bug in cart.ts.\n- add a test", "I've added a test. It covers the sum.", true],
    ["I want you to remove b.txt", "Removed b.txt.", true],
    ["In src/cart.ts set the sum to 0", "Done.", true],
    ["Append a line to b.txt", "I added it.", true],
    ["Create a.py", "Here it is:\n```python\nx = 1\n```\nThe file has been created.", true],
    // Not asked for a change.
    ["What did you change?", "I changed a.ts.", false],
    ["How do I add a test", "Tests are added in tests/. Done.", false],
    ["Can you fix the test?", "Done.", false],
    ["Review cart.ts. Do not change it", "Done.", false],
    ["Say hello", "Done.", false],
    ["The update is slow", "Done.", false],
    // No claim.
    ["Fix the test", "The test is already fixed.", false],
    ["Fix the test", "Nothing was changed.", false],
    ["Fix the test", "I could not fix it: it has not been found.", false],
    ["Fix the test", "This can be done in two ways.", false],
    ["Add a test", "Should I put it in tests/? All others were added there. Which one?", false],
    ["Fix the test", "```\n# fixed\n```\nApply this.", false],
    ["Fix the test", "Once the file is there, it will be updated.", false],
  ];
  for (const [asked, answer, isClaim] of rows) {
    assertEquals(claimsChange(asked, answer), isClaim, `${asked} ${answer}`);
  }
});

Deno.test("an answer that ends in a step of its own announces it", () => {
  // OpenHands/software-agent-sdk#1896, Classla/ClasslaV2#238.
  const rows: [answer: string, forWords: boolean, announces: boolean][] = [
    ["I will now edit the file.", false, true],
    ["I see the bug. Let me fix it now.", false, true],
    ["First, let me look at the code.", true, true],
    ["Now I'll make the change:", true, true],
    ["I will now edit the file.", true, false],
    ["Let me know if it works.", false, false],
    ["Once you agree, I will delete it.", false, false],
    ["I'll fix it. It was in cart.ts:3.", false, false],
    ["Shall I fix it?", false, false],
    ["I'll leave it as it is.", false, false],
    ["Fixed: the sum starts at 0.", false, false],
  ];
  for (const [answer, forWords, announces] of rows) {
    assertEquals(announcesStep(answer, () => forWords), announces, answer);
  }
});

const tool = (name: string, access: Tool["access"]): Tool => ({
  ...{ name, description: name, access },
  parameters: { type: "object", properties: {} },
  run: () => {
    if (name === "fail") throw new Error("no");
    return { content: "ok", ...name === "run" && { exitCode: 1 } };
  },
});
const TOOLS = [tool("look", "read"), tool("put", "write"), tool("fail", "write")];
const use = (name: string): Step => ({ toolCalls: [{ name, arguments: {} }] });

Deno.test("done without a change is objected to, once", async () => {
  type Row = [name: string, steps: Step[], reminders: number, tools?: Tool[], more?: TurnOptions];
  const rows: Row[] = [
    ["nothing ran", [], 1],
    ["it only read", [use("look")], 1],
    ["the call failed", [use("fail")], 1],
    ["it wrote", [use("put")], 0],
    ["the call was refused", [use("look"), use("put")], 0],
    ["the command failed", [use("run")], 1, [...TOOLS, tool("run", "execute")]],
    ["it may only read", [], 0, TOOLS, { isReadOnly: () => true }],
    ["there is only reading", [], 0, [TOOLS[0]!]],
  ];
  for (const [name, steps, reminders, tools = TOOLS, options = {}] of rows) {
    const refusal = { allow: false, reason: "No.", summary: "no" } as const;
    const policy = {
      decide: ({ access }: Tool) =>
        name.endsWith("refused") && access === "write" ? refusal : { allow: true as const },
    };
    const script = [...steps, { text: "Done." }, { text: "All fixed." }];
    await using run = scripted(script, { tools, policy, backend: "compat" });
    const { agent } = run;
    const codes: (string | undefined)[] = [];
    const { response } = await processTurn(agent, "Fix the test", {
      ...options,
      onEvent: (event) => event.type === "notice" && codes.push(event.code),
    });
    const { claim } = UNFOUNDED_QUESTIONS;
    const asked = agent.state.messages.filter(({ content }) => content === claim);
    assertEquals(asked.map(({ standsFor }) => standsFor), Array(reminders).fill("reminder"), name);
    assertEquals(codes, Array(reminders).fill("asked_again"), name);
    assertEquals(response, reminders ? "All fixed." : "Done.", name);
  }
});
