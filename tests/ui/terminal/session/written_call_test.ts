import { assertEquals } from "@std/assert";
import { WrittenCall } from "../../../../src/ui/terminal/session/written_call.ts";
import { forEveryTextSplit } from "../../../helpers/split.ts";

function read(pieces: Iterable<string>) {
  const call = new WrittenCall("x");
  for (const piece of pieces) call.push(piece);
  return { args: call.args, file: call.file };
}

const rows: [json: string, args: Record<string, string>, lines?: number, tail?: string][] = [
  ["", {}],
  ['{"file_path": "a', { file_path: "a" }],
  ['{"file_path": "a\\"b\\u00e9\\/c", "limit": 3, "x": "y"}', { file_path: 'a"bé/c', x: "y" }],
  ['{"a": {"content": "no", "b": ["content"]}, "c": "d"}', { c: "d" }],
  ['{"file_path": "a", "content": "', { file_path: "a" }, 0, ""],
  ['{"file_path": "a", "content": "b', { file_path: "a" }, 1, "b"],
  ['{"content": "b\\n\\tc\\nd\\\\n", "file_path": "a"}', { file_path: "a" }, 3, "b\n\tc\nd\\n"],
  ['{"old_string": "a\\nb", "new_string": "c"}', {}, 1, "c"],
  ['no JSON at all "content": "x" }}}} "', {}],
];
for (const [json, args, lines, tail] of rows) {
  Deno.test(`a call that is being written, cut anywhere: ${json}`, () => {
    const file = lines === undefined ? undefined : { lines, tail: tail! };
    forEveryTextSplit(json, (pieces) => {
      const found = read(pieces);
      assertEquals({ ...found, args: { ...found.args } }, { args, file });
    });
  });
}

Deno.test("of a file of any size its lines are counted, and little of it is kept", () => {
  const line = `${"x".repeat(50)}\\n`;
  const { file } = read(['{"content": "', ...Array(40_000).fill(line), 'end"']);
  assertEquals([file!.lines, file!.tail.length < 10_000], [40_001, true]);
  assertEquals(file!.tail.endsWith("x\nend"), true);
  const { args } = read([`{"file_path": "${"x".repeat(100_000)}`]);
  assertEquals(args.file_path!.length, 1000);
});
