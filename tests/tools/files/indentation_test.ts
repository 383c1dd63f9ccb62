import { assertEquals } from "@std/assert";
import { reindented } from "../../../src/tools/files/indentation.ts";
import { cpuTime } from "../../helpers/cpu_time.ts";

/** Edits `text`; undefined where it is refused. */
function edited(text: string, before: string, after: string): string | undefined {
  const found = reindented(text, before, after);
  if (!found) return undefined;
  assertEquals(text.slice(found.at, found.at + found.before.length), found.before);
  return text.slice(0, found.at) + found.after + text.slice(found.at + found.before.length);
}

// deno-fmt-ignore
const rows: [name: string, text: string, before: string, after: string, expected?: string][] = [
  [
    "moved to the left",
    "def f():\n    if x:\n        return 1\n",
    "if x:\n    return 1",
    "if x:\n    y()\n    return 2",
    "def f():\n    if x:\n        y()\n        return 2\n",
  ],
  [
    "moved to the right, deeper and shallower new lines",
    "  a {\n    b\n  }\nc",
    "      a {\n        b\n      }",
    "    z\n      a {\n        if {\n          b\n        }\n      }",
    "z\n  a {\n    if {\n      b\n    }\n  }\nc",
  ],
  [
    "spaces for tabs",
    "func f() {\n\tif x {\n\t\treturn 1\n\t}\n}\n",
    "    if x {\n        return 1\n    }\n",
    "    if x {\n        if y {\n            z()\n        }\n    }\n",
    "func f() {\n\tif x {\n\t\tif y {\n\t\t\tz()\n\t\t}\n\t}\n}\n",
  ],
  ["tabs for spaces", "  a\n    b\n", "\ta\n\t\tb", "\ta\n\t\t\tb", "  a\n      b\n"],
  ["one depth of tabs for spaces", "\t\tx = 1\n", "        x = 1", "        x = 2\n            y", "\t\tx = 2\n\t\t\ty\n"],
  ["two spaces for four", "a\n    b\n        c\n", "a\n  b\n    c", "a\n  b\n    c\n      d", "a\n    b\n        c\n            d\n"],
  ["blank lines with spaces", "  a\n   \n  b\n", "a\n\nb", "a\n\n\nc", "  a\n\n\n  c\n"],
  ["the last line, without an end", "x\n  y", "y", "z", "x\n  z"],
  ["lines removed", "a\n  b\nc\n", "    b\n", "", "a\nc\n"],
  ["part of a longer line stays", "  ab\n    a\n", "\ta", "\tc", "  ab\n    c\n"],
  ["two places", "  a\n    a\n", "\ta", "\tb"],
  ["part of a line", "  a b\n", "\ta", "\tb"],
  ["within a line", "a  b\n", "a b", "c"],
  ["white space at the end", "  a \n", "a", "b"],
  ["one depth that is two", "  a\n    b\n", "a\nb", "a\nc", "  a\n    c\n"],
  ["one depth that is two, and another line", "  a\n    b\n", "a\nb", "a\nb\nc"],
  ["a depth that has no whole number of tabs", "\ta\n", "    a", "    a\n      b"],
  ["further out than the margin", "a\n", "    a", "  b\n    a"],
  ["nothing but white space", "  \n", "\t", "x"],
  ["nothing but white space, in one place", "a\n  \nb", "\t", "x"],
  ["a line break that the last line lacks", "x\n  y", "y\n", "z\n", "x\n  z\n"],
  ["below blank lines", "\n\n  a\n", "\ta", "\tb", "\n\n  b\n"],
  ["one depth of more spaces", "  a\n", " a", " a\n  b", "  a\n   b\n"],
  ["one depth of fewer spaces", " a\n", "  a", "  a\n    b", " a\n   b\n"],
  ["spaces and tabs, the same depth", " \ta\n", "  a", "  b", " \tb\n"],
  ["spaces and tabs in the file, another depth", " \ta\n", "  a", "  a\n    b"],
  ["spaces and tabs in the call, another depth", "  a\n", " \ta", " \ta\n \t\tb"],
  ["new lines of another kind", "  a\n", "\ta", "  b"],
];
for (const [name, text, before, after, expected] of rows) {
  Deno.test(`lines of another indentation: ${name}`, () => {
    assertEquals(edited(text, before, after), expected);
  });
}

Deno.test("lines of another indentation: a million alike are looked through in linear time", () => {
  const start = cpuTime();
  assertEquals(edited("  x\n".repeat(1_000_000), "x\n".repeat(500_000), "y"), undefined);
  assertEquals(cpuTime() - start < 5_000, true);
});

Deno.test("lines of another indentation: over 16 Mi characters are not looked through", () => {
  const most = `${"x".repeat(16 * 1024 * 1024 - 4)}\n  a`;
  assertEquals(edited(most, "a", "b"), `${most.slice(0, -1)}b`);
  assertEquals(edited(`x${most}`, "a", "b"), undefined);
});
