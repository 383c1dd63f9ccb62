import { assertEquals } from "@std/assert";
import {
  changeLines,
  changeNotes,
  changeOf,
  changeRows,
  changeWritten,
} from "../../../src/frontends/terminal/change.ts";
import { graphemeWidth } from "../../../src/text/width.ts";

const shown = (args: Record<string, unknown>, before?: string) => {
  const change = changeOf(args, before)!;
  return [...changeLines(change).map(([text]) => text), ...changeNotes(change)];
};
const numbers = (n: number) => Array.from({ length: n }, (_, i) => `${i + 1}\n`).join("");

const ROWS: [
  name: string,
  before: string | undefined,
  args: [string, string, boolean?],
  string[],
][] = [
  [
    "the whole line, and those around it",
    "def f():\n  a\n  return x - y\n\nb\nc\n",
    ["x - y", "x"],
    ["1   def f():", "2     a", "3 -   return x - y", "3 +   return x", "4   ", "5   b"],
  ],
  ["without what is not there", "a\nb\n", ["c", "d"], ["- c", "+ d"]],
  ["of an unknown file", undefined, ["a\nb", "a\nc"], ["  a", "- b", "+ c"]],
  ["of an ambiguous place", "a\na\n", ["a", "b"], ["- a", "+ b"]],
  ["a new file", undefined, ["", "a\nb\n"], ["1 + a", "2 + b"]],
  [
    "as the tool indents it",
    "if x:\n\ta\n\tb\n",
    ["    a\n    b\n", "    a\n    c\n"],
    ["1   if x:", "2   \ta", "3 - \tb", "3 + \tc"],
  ],
  ["lines taken out", "a\nb\nc\n", ["b\n", ""], ["1   a", "2 - b", "2   c"]],
  ["lines joined", "a\nb\nc\n", ["b\n", "b"], ["1   a", "2 - b", "3 - c", "2 + bc"]],
  ["CRLF", "a\r\nb\r\n", ["a\nb", "a\nc"], ["1   a", "2 - b", "2 + c"]],
  ["a lone CR", "a\nb\n", ["b", "b\r"], ["1   a", "2 - b", "2 + b␍"]],
  ["the end of the last line", "a\nb", ["b", "b\n"], ["(adds a line end at the end of the text)"]],
  ["lines that are too long to read", `${"x".repeat(5000)}a\n`, ["a", "b"], ["- a", "+ b"]],
  [
    "places whose lines meet, and others",
    `a\n${numbers(3)}a\n${numbers(6)}a a\n`,
    ["a", "b\nb", true],
    [
      ...[
        " 1 - a",
        " 1 + b",
        " 2 + b",
        " 3   1",
        " 4   2",
        " 5   3",
        " 5 - a",
        " 6 + b",
        " 7 + b",
        " 8   1",
        " 9   2",
      ],
      ...["12   5", "13   6", "12 - a a", "14 + b", "15 + b b", "16 + b"],
    ],
  ],
  [
    "the first few of many places",
    "a\n".repeat(8),
    ["a", "b", true],
    [
      ...[1, 2, 3, 4, 5].map((n) => `${n} - a`),
      ...[1, 2, 3, 4, 5].map((n) => `${n} + b`),
      "(and in 3 more places)",
    ],
  ],
];
for (const [name, before, [old_string, new_string, replace_all], expected] of ROWS) {
  Deno.test(`an edit is shown: ${name}`, () => {
    assertEquals(shown({ old_string, new_string, replace_all }, before), expected);
  });
}

Deno.test("a change of what holds secrets shows no lines around it", () => {
  const before = { stamp: "", bytes: new TextEncoder().encode("KEY=1\nA=1\n") };
  const args = { old_string: "A=1", new_string: "A=2" };
  const lines = (path: string) => changeWritten(args, { path, stamp: "", before })!.lines.length;
  assertEquals([lines("/x/.env"), lines("/x/env")], [2, 3]);
  assertEquals(changeWritten({ content: "x" }, { path: "/x/.env", stamp: "", before }), undefined);
});

Deno.test("TTY-02 the rows of a change are few, no wider than the terminal, and safe", () => {
  const content = `\x1b[2J${"漢".repeat(300)}\u202e\n`.repeat(100);
  const rows = changeRows(changeOf({ content }, "")!, 40, (text) => text);
  assertEquals(rows.at(-1), "    … 97 more lines");
  for (const row of rows) {
    assertEquals(Array.from(row, graphemeWidth).reduce((sum, one) => sum + one) <= 40, true, row);
    // deno-lint-ignore no-control-regex
    assertEquals(/\x1b|\u202e/.test(row), false);
  }
});
