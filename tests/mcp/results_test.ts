import { assert } from "@std/assert/assert";
import { assertEquals } from "@std/assert/equals";
import { contentText, resultOutcome } from "../../src/mcp/results.ts";

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

/** A PNG of 5 by 5 pixels. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==";

Deno.test("mcp: images go to a model that sees, within its limits; else they are one line", async () => {
  const image = (data: unknown) => ({ type: "image", mimeType: "image/png", data });
  const blob = { uri: "a:1", mimeType: "image/png", blob: PNG };
  const content = [{ type: "text", text: "see" }, image(PNG), { type: "resource", resource: blob }];
  const limits = { maxBytes: 1000, maxSide: 10 };
  const seen = await resultOutcome({ content }, limits);
  assert(typeof seen === "object");
  assertEquals(seen.content, "see\n[image: PNG, 5x5, 85 bytes]\n[image: PNG, 5x5, 85 bytes]");
  assertEquals(seen.images?.map(({ type, mediaType, data }) => [type, mediaType, data]), [
    ["image", "image/png", PNG],
    ["image", "image/png", PNG],
  ]);
  const line = "[image/png, 87 bytes, not shown]";
  assertEquals(await resultOutcome({ content: [image(PNG)] }), line);
  // Too wide, too large, no base64, no image.
  assertEquals(await resultOutcome({ content: [image(PNG)] }, { ...limits, maxSide: 4 }), line);
  assertEquals(await resultOutcome({ content: [image(PNG)] }, { ...limits, maxBytes: 4 }), line);
  for (const data of ["%%", "aGVsbG8=", 5]) {
    const told = await resultOutcome({ content: [image(data)] }, limits);
    assert(typeof told === "string" && told.endsWith("not shown]"), String(told));
  }
  const many = await resultOutcome({ content: Array(50).fill(0).map(() => image(PNG)) }, limits);
  assert(typeof many === "object");
  assertEquals(many.images?.length, 10);
});
