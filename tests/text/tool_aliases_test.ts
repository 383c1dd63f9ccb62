import { assertEquals } from "@std/assert";
import { isAlias, isMeantAlias } from "../../src/text/tool_aliases.ts";

const schemas = { read_file: { properties: { file_path: {}, limit: {} } } };

Deno.test("a plain word means a tool if all its arguments may be that tool's", () => {
  const rows: [
    name: string,
    args: string[],
    offered: Record<string, unknown>,
    expected: boolean,
  ][] = [
    ["view", ["path"], schemas, true],
    ["view", ["filePath", "limit"], schemas, true],
    ["view", ["path", "wish"], schemas, false],
    ["view", [], schemas, false],
    ["view", ["path"], {}, false],
    ["list", ["path"], schemas, false],
    // No plain word.
    ["openfile", ["wish"], schemas, true],
  ];
  for (const [name, args, offered, expected] of rows) {
    assertEquals(isMeantAlias(name, args, offered), expected, `${name} ${args}`);
  }
});

Deno.test("a plain word is another agent's name only if it may be a word", () => {
  const found = ["view", "openfile", "wish"].map((name) =>
    [false, true].map((mayBeWord) => isAlias(name, ["read_file"], mayBeWord))
  );
  assertEquals(found, [[false, true], [true, true], [false, false]]);
});
