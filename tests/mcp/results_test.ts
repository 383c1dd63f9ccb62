import { assertEquals } from "@std/assert/equals";
import { contentText } from "../../src/mcp/results.ts";

Deno.test("mcp: a structured result is told once", () => {
  const text = (text: string) => [{ type: "text", text }];
  const rows: [content: unknown, structured: unknown, told: string][] = [
    [text('{"b":1,"a":2}'), { a: 2, b: 1 }, '{"b":1,"a":2}'],
    [text("hello\n"), { content: "hello\n" }, "hello\n"],
    [text("5"), { result: 5 }, "5"],
    [text("[1,2]"), { result: [1, 2] }, "[1,2]"],
    [text("5"), { result: 6 }, '5\n{"result":6}'],
    [text("5"), { result: 5, unit: "m" }, '5\n{"result":5,"unit":"m"}'],
    [[], { a: 1 }, '{"a":1}'],
    [text("see"), undefined, "see"],
  ];
  for (const [content, structured, told] of rows) {
    assertEquals(contentText(content, structured), told);
  }
});
