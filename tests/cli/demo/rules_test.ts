import { assertEquals } from "@std/assert";
import { demoReply } from "../../../src/cli/demo/rules.ts";

Deno.test("beside a test file in Python the tests run, with pytest or where that is missing without", () => {
  const tools = ["list_directory", "run_bash"].map((name) => ({ function: { name } }));
  const results = [
    "cart.py\ntest_cart.py\n[2 entries]",
    "exit code: 1\n/usr/bin/python3: No module named pytest",
    "exit code: 0",
  ];
  for (const content of ["run the tests", "The tests fail. Fix it."]) {
    const messages: Parameters<typeof demoReply>[0]["messages"][number][] = [
      { role: "user", content },
    ];
    const commands = results.map((result) => {
      const { toolCalls: [call, ...more] = [] } = demoReply({ messages, tools });
      assertEquals(more, []);
      messages.push({ role: "assistant", tool_calls: [{ function: call! }] });
      messages.push({ role: "tool", content: result });
      return call!.arguments.command;
    });
    assertEquals(commands, [undefined, "python3 -m pytest", "python3 test_cart.py"]);
    const text = demoReply({ messages, tools }).text!;
    assertEquals(text.includes("I ran `python3 test_cart.py`; exit code 0."), true, text);
  }
});
