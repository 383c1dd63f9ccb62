import { assert, assertEquals } from "@std/assert";
import { carriedParts } from "../../src/agent/carried.ts";
import { isSummary, summaryMessages } from "../../src/agent/summary.ts";
import { parseTasks, tasksIn, tasksPart, tasksTool } from "../../src/tools/tasks.ts";
import { userMessage } from "../../src/text/parts.ts";
import type { Message } from "../../src/types/message.ts";

const LISTS: [list: string, expected: [text: string, isDone: boolean][]][] = [
  ["", []],
  ["[x] one\n[ ] two", [["one", true], ["two", false]]],
  ["Tasks:\n- [X] one\n 2. [✓] two\n[] three\n", [["one", true], ["two", true], ["three", false]]],
  ["* [~] one\n", [["one", false]]],
  ["one\n\ntwo", [["one", false], ["two", false]]],
  ["[ ] " + "x".repeat(300), [["x".repeat(200), false]]],
];
for (const [list, expected] of LISTS) {
  Deno.test(`the steps in ${JSON.stringify(list.slice(0, 60))}`, () => {
    assertEquals(parseTasks(list).map(({ text, isDone }) => [text, isDone]), expected);
  });
}

Deno.test("no more than a hundred steps are kept", () => {
  assertEquals(parseTasks("[ ] x\n".repeat(101)).length, 100);
});

Deno.test("the tool for steps takes at most 200 bytes of a request", () => {
  const { name, description, parameters } = tasksTool;
  const { length } = JSON.stringify({ name, description, parameters });
  assert(length <= 200, `${length}`);
});

Deno.test("the newest list in a conversation counts, also where a summary has it", () => {
  const called = (list: string): Message => {
    const toolCalls = [{ id: list, name: "tasks", arguments: { list } }];
    return { role: "assistant", content: "", toolCalls };
  };
  const steps = tasksPart(parseTasks("[x] a\n[ ] b"));
  const summary = userMessage([{ type: "text", text: "Sum." }, steps]);
  assertEquals(summary.content, "Sum.\n\n[Tasks]\n[x] a\n[ ] b");
  const texts = (...messages: Message[]) => tasksIn(messages).map(({ text }) => text);
  assertEquals(texts(), []);
  assertEquals(texts(called("[ ] a"), { role: "user", content: "x" }), ["a"]);
  assertEquals(texts(called("[ ] a"), summary, called("[ ] c")), ["c"]);
  assertEquals(texts(called("[ ] c"), summary), ["a", "b"]);
  assertEquals(tasksIn([summary]).map(({ isDone }) => isDone), [true, false]);
  const carried = carriedParts([called("[x] a\n[ ] b")], [], [], Infinity, () => 1);
  const [summed] = summaryMessages("Sum.", carried);
  assertEquals([isSummary(summed), tasksIn([summed!])], [true, tasksIn([summary])]);
  // An empty list ends it.
  assertEquals(texts(summary, called("")), []);
});
