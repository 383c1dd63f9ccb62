import { assertEquals } from "@std/assert";
import { changedWords, diffLines } from "../../src/text/diff.ts";

const shown = (before: string, after: string, context?: number) =>
  diffLines(before, after, context).map(({ kind, text }) => `${kind} ${text}`);

const ROWS: [before: string, after: string, expected: string[]][] = [
  ["", "", []],
  ["a\n", "a\n", []],
  ["", "a\nb\n", ["+ a", "+ b"]],
  ["a\nb\n", "", ["- a", "- b"]],
  ["a\nb\nc\nd\ne\nf", "a\nb\nc\nX\ne\nf", ["  b", "  c", "- d", "+ X", "  e", "  f"]],
  ["x\np", "n\nx\nq", ["+ n", "  x", "- p", "+ q"]],
  ["a\na\na", "a\na", ["  a", "  a", "- a"]],
  ["1\n2\n3\n4\n5\n6\n7\n8\n9", "1\nX\n3\n4\n5\n6\n7\nY\n9", [
    ...["  1", "- 2", "+ X", "  3", "  4"],
    ...["  6", "  7", "- 8", "+ Y", "  9"],
  ]],
];

for (const [before, after, expected] of ROWS) {
  Deno.test(`diffLines ${JSON.stringify([before, after])}`, () => {
    assertEquals(shown(before, after), expected);
  });
}

Deno.test("diffLines of what is the same has no lines, whatever the context", () => {
  assertEquals(shown("a\nb", "a\nb\n", Infinity), []);
});

Deno.test("diffLines replaces a region with over 4 million pairs of lines as a whole", () => {
  const text = (name: string, n: number) =>
    Array.from({ length: n }, (_, i) => i === n >> 1 ? "same" : `${name}${i}`).join("\n");
  for (const [n, isWhole] of [[2000, false], [2001, true]] as const) {
    const same = shown(text("a", n), text("b", n)).filter((line) => line.endsWith("same"));
    assertEquals(same, isWhole ? ["- same", "+ same"] : ["  same"]);
  }
});

Deno.test("diffLines leads from the one text to the other", () => {
  let seed = 7;
  const random = (n: number) => (seed = seed * 48271 % 2147483647) % n;
  const text = () => Array.from({ length: random(12) }, () => "abc"[random(3)]).join("\n");
  for (let i = 0; i < 500; i++) {
    const [before, after] = [text(), text()];
    const lines = diffLines(before, after, Infinity);
    const side = (kind: string) =>
      lines.filter((line) => line.kind === " " || line.kind === kind).map((line) => line.text);
    const linesOf = (value: string) => value === "" ? [] : value.split("\n");
    const sides = before === after ? [[], []] : [linesOf(before), linesOf(after)];
    assertEquals([side("-"), side("+")], sides);
  }
});

Deno.test("diffLines of large texts that have nothing in common stays quick", () => {
  const lines = (name: string) =>
    Array.from({ length: 20_000 }, (_, i) => `${name}${i}`).join("\n");
  assertEquals(diffLines(lines("a"), lines("b")).length, 40_000);
});

Deno.test("the words in which two lines differ, and none of lines that have little in common", () => {
  const rows: [before: string, after: string, shown: string | undefined][] = [
    ["  result = 0", "  result = 0.0", "  result = 0|  result = 0[.0]"],
    ["total - b", "total * (b / 2)", "total [-] b|total [* (]b[ / 2)]"],
    ["return x", "return y", "return [x]|return [y]"],
    ["one two three four", "one 2 3 four", "one [two three] four|one [2 3] four"],
    ["same", "same", undefined],
    ["one two three", "something = else()", undefined],
    ["", "a", undefined],
    ["x ".repeat(300), "x ".repeat(301), undefined],
    // 200 words each are compared, and one more is too many.
    [",".repeat(200), `${",".repeat(199)};`, `${",".repeat(199)}[,]|${",".repeat(199)}[;]`],
    [",".repeat(200), `${",".repeat(200)};`, undefined],
    // Three letters of ten are enough in common, and of eleven not. Signs do not count.
    ["abc defghij", "abc klmnopq", "abc [defghij]|abc [klmnopq]"],
    ["abc defghijk", "abc lmnopqrs", undefined],
    ['print(f"Total: {cart():.2f}")', 'print(f"unknown: {name}", file=err)', undefined],
  ];
  const marked = (text: string, ranges: readonly (readonly [number, number])[]) =>
    ranges.toReversed().reduce(
      (shown, [from, to]) => `${shown.slice(0, from)}[${shown.slice(from, to)}]${shown.slice(to)}`,
      text,
    );
  for (const [before, after, shown] of rows) {
    const found = changedWords(before, after);
    const text = found && `${marked(before, found.before)}|${marked(after, found.after)}`;
    assertEquals(text, shown);
  }
});
