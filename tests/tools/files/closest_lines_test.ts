import { assert, assertEquals, assertStringIncludes } from "@std/assert";
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
Deno.test.each([
  ["spaces for a tab", "    return compute(1);", [
    "whitespace alone",
    "4\t→return compute(1);",
    "Line 1 of old_string is: ····return compute(1);",
  ]],
  [
    "other indentation, several lines, a line break at the end",
    "  const value = compute(2);\n  return value;\n",
    [
      "whitespace alone",
      "8\t····const value = compute(2);\n9\t····return value;",
      "is: ··const value",
    ],
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
  ["line numbers", "7\tfunction second() {\n8\t    const value = compute(2);", ["line numbers"]],
  ["escapes", "function first() {\\n\\treturn compute(1);", ["backslash"]],
  ["nothing like it", "SELECT * FROM users WHERE id = 42", ["No line of the file is like it"]],
])("tells why it is not found: %s", (_name, wanted, parts) => {
  const text = explainMiss(file, wanted);
  for (const part of parts) assertStringIncludes(text, part);
});

Deno.test("says little, whatever the lines are", () => {
  const long = `${"x".repeat(10_000)}\n`.repeat(100);
  const text = explainMiss(long, long.replaceAll("x\n", "y\n"));
  assert(text.length < 5000, `${text.length} characters`);
  assertEquals(explainMiss("", "x"), "No line of the file is like it: read the file again.");
  assertEquals(explainMiss("", "\n"), "No line of the file is like it: read the file again.");
  assertEquals(explainMiss("a", " "), "No line of the file is like it: read the file again.");
  explainMiss("\n\n\n", "\n\n\n\n\n\n\n\n");
});

Deno.test("a difference far down is shown", () => {
  const lines = Array.from({ length: 100 }, (_, i) => `this is line number ${i}`);
  const wanted = lines.with(80, "this is line number eighty").slice(10);
  const text = explainMiss(lines.join("\n"), wanted.join("\n"));
  assertStringIncludes(text, "81\tthis is line number 80");
  assertStringIncludes(text, "Line 71 of old_string is: this is line number eighty");
});
