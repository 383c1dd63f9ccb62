import { assert, assertEquals } from "@std/assert";
import {
  contentText,
  progressText,
  resourceText,
  resultOutcome,
} from "../../../src/extensions/mcp/results.ts";

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
    [[{ type: "other" }, 5], { a: 1 }, '[a part of the kind other, not shown]\n{"a":1}'],
    [[5, ...text('{"a":1}')], { a: 1 }, '{"a":1}'],
  ];
  for (const [content, structured, told] of rows) {
    assertEquals(contentText(content, structured), told);
  }
});

/** A PNG of 5 by 5 pixels. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==";

Deno.test("mcp: images go to a model that sees, within its limits; else they are one line", () => {
  const image = (data: unknown) => ({ type: "image", mimeType: "image/png", data });
  const blob = { uri: "a:1", mimeType: "image/png", blob: PNG };
  const content = [{ type: "text", text: "see" }, image(PNG), { type: "resource", resource: blob }];
  const limits = { maxBytes: 1000, maxSide: 10 };
  const seen = resultOutcome({ content }, limits);
  assert(typeof seen === "object");
  assertEquals(
    seen.content,
    "see\n[image: PNG, 5x5, 85 bytes]\n[a:1]\n[image: PNG, 5x5, 85 bytes]",
  );
  assertEquals(seen.images?.map(({ type, mediaType, data }) => [type, mediaType, data]), [
    ["image", "image/png", PNG],
    ["image", "image/png", PNG],
  ]);
  const line = "[image/png, 87 bytes, not shown]";
  assertEquals(resultOutcome({ content: [image(PNG)] }), line);
  // Too wide, too large, no base64, no image.
  assertEquals(resultOutcome({ content: [image(PNG)] }, { ...limits, maxSide: 4 }), line);
  assertEquals(resultOutcome({ content: [image(PNG)] }, { ...limits, maxBytes: 4 }), line);
  for (const data of ["%%", "aGVsbG8=", 5]) {
    const told = resultOutcome({ content: [image(data)] }, limits);
    assert(typeof told === "string" && told.endsWith("not shown]"), String(told));
  }
  const many = resultOutcome({ content: Array(50).fill(0).map(() => image(PNG)) }, limits);
  assert(typeof many === "object");
  assertEquals(many.images?.length, 10);
});

Deno.test("mcp: each kind of part has its text, or a line in its place", () => {
  const data = (bytes: number) => "x".repeat(Math.ceil(bytes * 4 / 3));
  const rows: [content: unknown, told: string][] = [
    [undefined, ""],
    [{ type: "text", text: "one" }, "one"],
    [[5, { type: "text" }, { type: "text", text: "" }, { type: "text", text: "a" }], "a"],
    [
      [{ type: "audio", mimeType: "audio/wav", data: data(999) }],
      "[audio/wav, 999 bytes, not shown]",
    ],
    [[{ type: "audio", data: data(1000) }], "[unknown, 1 KB, not shown]"],
    [[{ type: "image", data: "abcd" }], "[unknown, 3 bytes, not shown]"],
    [[{ type: "image" }], "[unknown, 0 bytes, not shown]"],
    [[{ type: "resource", resource: { uri: "a:1", text: "b" } }], "[a:1]\nb"],
    [[{ type: "resource", resource: { text: "b" } }], "b"],
    [
      [{ type: "resource", resource: { blob: "abcd", mimeType: "x/y" } }],
      "[x/y, 3 bytes, not shown]",
    ],
    [[{ type: "resource", resource: {} }], ""],
    [[{ type: "resource" }], "[a part of the kind resource, not shown]"],
    [[{ type: "resource_link", uri: "a:1", name: "n", description: 5 }], "[link: a:1 · n]"],
    [[{ type: "resource_link", uri: "a:1", description: "d" }], "[link: a:1 · d]"],
    [[{ type: "resource_link" }], "[a part of the kind resource_link, not shown]"],
    [{ type: "text", text: "\x1b[2Jred\x1b[0m \u202eabc" }, "red \\u{202e}abc"],
    [[{}], "[a part of the kind undefined, not shown]"],
    [[{ type: "t".repeat(301) }], `[a part of the kind ${"t".repeat(300)}, not shown]`],
  ];
  for (const [content, told] of rows) assertEquals(contentText(content), told);
});

Deno.test("mcp: the contents of a resource are text, or a line in its place", () => {
  assertEquals(resourceText([5, { blob: "abcd" }, { text: "" }]), "[unknown, 3 bytes, not shown]");
  assertEquals(resourceText("a"), "");
});

Deno.test("mcp: progress is told in words and numbers", () => {
  const rows: [params: Record<string, unknown>, text: string][] = [
    [{ progress: 1, total: 4 }, "1 of 4"],
    [{ progress: 1, total: 0 }, "1"],
    [{ progress: 0, total: 0.5 }, "0 of 0.5"],
    [{ progress: 2 }, "2"],
    [{ message: "at\nit" }, "at it"],
    [{ progress: 2, message: "m" }, "m · 2"],
    [{ progress: "2", message: 5 }, ""],
    [{ message: "m".repeat(201) }, "m".repeat(200)],
  ];
  for (const [params, text] of rows) assertEquals(progressText(params), text);
});
