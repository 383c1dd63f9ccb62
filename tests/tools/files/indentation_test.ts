import { assertEquals } from "@std/assert";
import { reindented } from "../../../src/tools/files/indentation.ts";
import { cpuTime } from "../../helpers/cpu_time.ts";
import { randomBelow } from "../../helpers/split.ts";

/** Edits `text`; undefined where it is refused. */
function edited(text: string, before: string, after: string): string | undefined {
  const found = reindented(text, before, after);
  if (!found) return undefined;
  assertEquals(text.slice(found.at, found.at + found.before.length), found.before);
  return text.slice(0, found.at) + found.after + text.slice(found.at + found.before.length);
}

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
  [
    "one depth of tabs for spaces",
    "\t\tx = 1\n",
    "        x = 1",
    "        x = 2\n            y",
    "\t\tx = 2\n\t\t\ty\n",
  ],
  [
    "two spaces for four",
    "a\n    b\n        c\n",
    "a\n  b\n    c",
    "a\n  b\n    c\n      d",
    "a\n    b\n        c\n            d\n",
  ],
  ["blank lines with spaces", "  a\n   \n  b\n", "a\n\nb", "a\n\n\nc", "  a\n\n\n  c\n"],
  ["the last line, without an end", "x\n  y", "y", "z", "x\n  z"],
  ["lines removed", "a\n  b\nc\n", "    b\n", "", "a\nc\n"],
  ["part of a longer line stays", "  ab\n    a\n", "\ta", "\tc", "  ab\n    c\n"],
  ["two places", "  a\n    a\n", "\ta", "\tb"],
  ["part of a line", "  a b\n", "\ta", "\tb"],
  ["within a line", "a  b\n", "a b", "c"],
  ["white space at the end", "  a \n", "a", "b"],
  ["one depth that is two", "  a\n    b\n", "a\nb", "a\nc"],
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

/** A line by its depth; `align` blanks stand behind its indentation, as in a comment of several lines. */
interface Nested {
  depth: number;
  align: string;
  word: string;
}

function nestedLines(below: (most: number) => number, count: number, name: string): Nested[] {
  let depth = below(3);
  return Array.from({ length: count }, (_, i) => {
    const before = depth;
    depth = Math.max(0, depth + [1, 1, 0, 0, -1, -2][below(6)]!);
    const align = i > 0 && depth === before && below(4) === 0 ? " " : "";
    return { depth, align, word: `${name}${i}` };
  });
}

Deno.test("lines of another indentation: whatever the edit, it is nested as it was meant or refused", () => {
  const units = ["  ", "    ", "\t", "        "];
  let done = 0;
  for (let seed = 0; seed < 3000; seed++) {
    const below = randomBelow(seed);
    const [real, given] = [units[below(4)]!, units[below(4)]!];
    const file = [
      { depth: 0, align: "", word: "head" },
      { depth: 1, align: "", word: "body" },
      ...nestedLines(below, 3 + below(10), "line"),
    ];
    const from = below(file.length);
    const old = file.slice(from, from + 1 + below(4));
    if (old[0]!.align !== "") continue;
    const shown = below(2) === 0 ? Math.min(...old.map(({ depth }) => depth)) : 0;
    // A step and a blank may be the file's own step: nobody could tell.
    const isAligned = given.length + 1 !== real.length;
    const added = nestedLines(below, 1 + below(2), "new").map((line) => ({
      ...line,
      align: isAligned ? line.align : "",
      depth: Math.max(shown, old[0]!.depth) + Math.min(line.depth, 1),
    }));
    const at = below(old.length + 1);
    const after = [...old.slice(0, at), ...added, ...old.slice(at)];
    const text = (lines: Nested[], unit: string, less = 0) =>
      lines.map(({ depth, align, word }) => unit.repeat(depth - less) + align + word).join("\n");
    const [whole, before] = [text(file, real), text(old, given, shown)];
    const result = whole.includes(before)
      ? undefined
      : edited(whole, before, text(after, given, shown));
    if (result === undefined) continue;
    done++;
    const meant = [...file.slice(0, from), ...after, ...file.slice(from + old.length)];
    assertEquals(result, text(meant, real), `seed ${seed}: ${JSON.stringify(before)}`);
  }
  assertEquals(done > 500, true, String(done));
});
