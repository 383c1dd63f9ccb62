import { assertEquals, assertThrows } from "@std/assert";
import { promptParts, userBlocks } from "../../../src/ui/acp/content.ts";
import type { Part } from "../../../src/types/message.ts";

const link = (uri: string, name?: unknown) => ({ type: "resource_link", uri, name });
const resource = (more: Record<string, unknown>) => ({
  type: "resource",
  resource: { uri: "file:///ws/a", ...more },
});

Deno.test("acp: blocks of a prompt are parts of a message", () => {
  const text = (text: string): Part => ({ type: "text", text });
  const rows: [block: unknown, part: Part][] = [
    [text("a"), text("a")],
    [{ type: "image", data: "d", mimeType: "image/png" }, {
      ...{ type: "image", mediaType: "image/png", data: "d" },
    }],
    [link("file:///ws/src/a.ts"), text('@"src/a.ts"')],
    [link("file:///ws/src/a.ts#L3"), text('@"src/a.ts"')],
    [link("file:///ws"), text('@"."')],
    [link("file:///other/a%20b"), text('@"/other/a b"')],
    [link("file:///ws/a%22b", "n"), text("n: file:///ws/a%22b")],
    [link("file:///", 5), text("link: file:///")],
    [link("https://a/b", "n"), text("n: https://a/b")],
    [link("file://%zz/a"), text("link: file://%zz/a")],
    [resource({ text: "t" }), { type: "resource", kind: "file", name: "a", text: "t" }],
    [resource({ text: "\ufffdPNG\r\n\x1a\n\0\0" }), text('@"a"')],
    [resource({ uri: "x:y", text: "\0" }), text("file: x:y")],
    [resource({ uri: "x:y", text: "t" }), {
      type: "resource",
      kind: "file",
      name: "x:y",
      text: "t",
    }],
    [resource({ blob: "b", mimeType: "image/png" }), {
      ...{ type: "image", mediaType: "image/png", data: "b", name: "a" },
    }],
  ];
  for (const [block, part] of rows) assertEquals(promptParts([block], "/ws", true), [part]);
  assertEquals(promptParts(rows.map(([block]) => block), "/ws", true).length, rows.length);
  const tagged = (said: string) => text(`<previous_user_message>${said}</previous_user_message>`);
  const note = text("<system_context>Continuing from previous session with 2 recent user messages");
  const blocks = [link("file:///ws/a"), tagged("/new\none"), tagged("old"), note];
  const newest = [text("/new\none"), text('@"a"')];
  assertEquals(promptParts(blocks, "/ws", false), newest);
  assertEquals(promptParts(blocks, "/ws", true), [...newest, tagged("old")]);
});

Deno.test("acp: what is no prompt is refused, with its place", () => {
  const rows: [blocks: unknown, why: string][] = [
    [undefined, "prompt must be a list of content blocks"],
    [[], "prompt must be a list of content blocks"],
    [[{ type: "text", text: "" }, { type: "audio", data: "d" }], "prompt[1] cannot be used: audio"],
    [[5], "prompt[0] cannot be used: no object"],
    [[{ type: "text" }], "prompt[0] cannot be used: text"],
    [[{ type: "image", data: "d" }], "prompt[0] cannot be used: image"],
    [[{ type: "image", mimeType: "image/png" }], "cannot be used: image"],
    [[{ type: "resource_link" }], "cannot be used: resource_link"],
    [[{ type: "resource" }], "cannot be used: resource"],
    [[{ type: "other", resource: { uri: "a", text: "t" } }], "cannot be used: other"],
    [[{ type: "resource", resource: { text: "t" } }], "cannot be used: resource"],
    [[resource({ blob: "b", mimeType: "text/plain" })], "cannot be used: resource"],
    [[resource({ blob: "b" })], "cannot be used: resource"],
    [[resource({ mimeType: "image/png" })], "cannot be used: resource"],
    [[{ type: "x".repeat(101) }], `cannot be used: ${"x".repeat(99)}…`],
  ];
  for (const [blocks, why] of rows) {
    assertThrows(() => promptParts(blocks, "/ws", true), Error, why);
  }
});

Deno.test("acp: what a person said is shown again, its images too", () => {
  const image = { type: "image", mediaType: "image/png", data: "d" } as const;
  assertEquals(userBlocks({ role: "user", content: "hi" }), [{ type: "text", text: "hi" }]);
  assertEquals(userBlocks({ role: "user", content: "", parts: [image] }), [
    { type: "image", mimeType: "image/png", data: "d" },
  ]);
});
