import { assertEquals, assertStringIncludes } from "@std/assert";
import { explainMiss } from "../../../src/tools/files/closest_lines.ts";

const file = [
  "import { a } from './a';",
  "",
  "function first() {",
  "\treturn compute(1);",
  "}",
  "",
  "function second() {",
  "    const value = compute(2);",
  "    return value;",
  "}",
].join("\n");

// Each row: what was looked for, and parts of the explanation.
// deno-fmt-ignore
const MISSES: [name: string, wanted: string, parts: string[]][] = [
  ["spaces for a tab", "    return compute(1);", [
    "whitespace alone",
    "4\t→return compute(1);",
    "Line 1 of old_string is: ····return compute(1);",
  ]],
  [
    "other indentation, several lines, a line break at the end",
    "  const value = compute(2);\n  return value;\n",
    ["whitespace alone", "8\t····const value = compute(2);\n9\t····return value;", "is: ··const value"],
  ],
  ["space at the end", "function first() { ", ["whitespace alone", "3\tfunction first() {", "{·"]],
  ["two spaces within", "function  second() {", ["whitespace alone", "function··second"]],
  ["a no-break space", "function\u00a0second() {", ["whitespace alone", "function\\u{a0}second"]],
  ["a slip in one of two lines", "function second() {\n    const valeu = compute(2);", [
    "Closest lines",
    "7\tfunction second() {\n8\t····const value",
    "Line 2 of old_string is: ····const valeu",
  ]],
  ["a slip in the only line", "functon second() {", ["Closest lines", "7\tfunction second() {"]],
  ["a space before the first line", " import { a } from './a';", ["alone", "1\timport", "is: ·i"]],
  ["line numbers of other lines", "7\tfunction first() :", ["Closest lines", "3\tfunction"]],
  ["a line number alone", "7\t", ["No line"]],
  ["escapes of other lines", "function third() {\\n", ["Closest lines", "is: function third() {\\n"]],
  ["nothing like it", "SELECT * FROM users WHERE id = 42", ["No line of the file is like it"]],
];

Deno.test.each(MISSES)("tells why it is not found: %s", (_name, wanted, parts) => {
  const text = explainMiss(file, wanted);
  for (const part of parts) assertStringIncludes(text, part);
});

Deno.test("a difference far down is shown", () => {
  const lines = Array.from({ length: 100 }, (_, i) => `this is line number ${i}`);
  const wanted = lines.with(80, "this is line number eighty").slice(10);
  const text = explainMiss(lines.join("\n"), wanted.join("\n"));
  const shown = lines.slice(80 - 10, 80 + 5).map((line, i) => `${71 + i}\t${line}`);
  assertEquals(
    text,
    `Closest lines (· is a space, → a tab):\n${shown.join("\n")}\n` +
      "Line 71 of old_string is: this is line number eighty",
  );
});

Deno.test("as many lines are shown as were given, up to 15", () => {
  const kind = "It differs from these lines in whitespace alone (· is a space, → a tab):";
  const lines = Array.from({ length: 17 }, (_, i) => `line ${i + 1}`);
  const rows = lines.map((line, i) => `${i + 1}\t${line}`);
  for (const count of [1, 2, 15, 16]) {
    const text = explainMiss(lines.join("\n"), ` ${lines.slice(0, count).join("\n")}`);
    const shown = rows.slice(0, Math.min(count, 15)).join("\n");
    assertEquals(text, `${kind}\n${shown}\nLine 1 of old_string is: ·line 1`);
  }
  // Only the line break at the end is missing in the file.
  assertEquals(explainMiss("abcd", "abcd\n"), `${kind}\n1\tabcd`);
});

// Each row: the file's lines, the text's, and the number of the first line that is shown.
Deno.test.each([
  ["the place of most lines", "done abcd done fill", "done fill", 3],
  ["the first of two", "x done y done", "done z", 2],
  ["short lines, where there are no others", "end bar end foo", "end foo", 3],
  ["not short lines, where there are others", "x end foo y done", "done end foo", 5],
  ["short lines say nothing beside one that is only alike", "a end value3 end", "velue3 end", 3],
  ["a line that is there twice in the text", "x abcd y", "abcd abcd", 2],
  ["more than half of the pairs", "abcdx", "abcde", 1],
  ["half of the pairs", "abcxx", "abcde", undefined],
  ["the first of two that are as much alike", "x abcdx abcdy", "abcde", 2],
  ["the one that is most alike", "abcd12 x abcde1", "abcdef", 3],
  ["twice as long", "aaaaaa", "aaa", 1],
  ["longer than that", "aaaaaaa", "aaa", undefined],
  ["the same letters in another order", "edcba", "abcde", undefined],
  ["a single letter", "b", "a", undefined],
])("the closest lines: %s", (_name, lines, wanted, expected) => {
  const text = explainMiss(lines.replaceAll(" ", "\n"), wanted.replaceAll(" ", "\n"));
  const [, number] = /\):\n(\d+)\t/.exec(text) ?? [];
  assertEquals(number, expected?.toString(), text);
});

Deno.test("limits of what is looked through, and of what is shown", () => {
  const long = (line: string) => explainMiss(line, ` ${line}`);
  assertStringIncludes(long(`y${"x".repeat(199)}`), `1\ty${"x".repeat(199)}\n`);
  assertStringIncludes(long(`y${"x".repeat(200)}`), `1\ty${"x".repeat(199)}...\n`);
  const far = (before: number) => explainMiss(`${"x".repeat(before)}\nneedle`, " needle");
  assertStringIncludes(far(2 ** 25 - 7), "needle");
  assertStringIncludes(far(2 ** 25), "No line");
});
