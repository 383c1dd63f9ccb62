import { assertEquals } from "@std/assert";
import { writtenArguments, writtenText } from "../../../../src/ui/terminal/session/written_call.ts";

const rows: [json: string, args: Record<string, string>, file?: string][] = [
  ["", {}],
  ['{"file_path": "a', { file_path: "a" }],
  ['{"file_path": "a\\', { file_path: "a" }],
  ['{"file_path": "a\\u00e', { file_path: "a" }],
  ['{"file_path": "a\\\\', { file_path: "a\\" }],
  ['{"file_path": "a\\"b\\u00e9\\/c", "limit": 3, "x": "y"}', { file_path: 'a"bé/c', x: "y" }],
  ['{"a": {"content": "no", "b": ["content"]}, "c": "d"}', { c: "d" }],
  ['{"file_path": "a", "content": "', { file_path: "a", content: "" }, ""],
  ['{"file_path": "a", "content": "b', { file_path: "a", content: "b" }, "b"],
  ['{"content": "b\\n\\tc\\nd\\\\n"}', { content: "b\n\tc\nd\\n" }, "b\n\tc\nd\\n"],
  ['{"old_string": "a", "new_string": "c"}', { old_string: "a", new_string: "c" }, "c"],
  ['no JSON at all "content": "x" }}}} "', {}],
  ['{"a": "b\nc"}', { a: "b\nc" }],
];
for (const [json, args, file] of rows) {
  Deno.test(`a call that is being written: ${json}`, () => {
    for (let end = 0; end < json.length; end++) writtenArguments(json.slice(0, end));
    const found = writtenArguments(json);
    assertEquals([{ ...found }, writtenText(found)], [args, file]);
  });
}

Deno.test("of an argument that is no file little is read", () => {
  const args = writtenArguments(`{"file_path": "${"x".repeat(100_000)}`);
  assertEquals(args.file_path!.length, 1000);
});
