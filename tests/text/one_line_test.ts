import { assertEquals } from "@std/assert";
import { oneLine, shortened } from "../../src/text/one_line.ts";

Deno.test("oneLine folds white space and shows control characters", () => {
  assertEquals(oneLine("  a\n\tb\r\n  c "), "a b c");
  assertEquals(oneLine("a\x1b[31mb\u202ec"), "a␛[31mb\\u{202e}c");
  assertEquals(oneLine(""), "");
});

Deno.test("oneLine reads the first 4096 characters", () => {
  assertEquals(oneLine("x".repeat(4096)).length, 4096);
  assertEquals(oneLine(`${"x".repeat(4096)}y`), "x".repeat(4096));
});

const SHORTENED: [text: string, max: number, expected: string][] = [
  ["abc", 3, "abc"],
  ["abcd", 3, "ab…"],
  ["", 0, ""],
  // No half of a surrogate pair is left.
  ["a😀bc", 3, "a\ufffd…"],
];

for (const [text, max, expected] of SHORTENED) {
  Deno.test(`shortened(${JSON.stringify(text)}, ${max})`, () => {
    assertEquals(shortened(text, max), expected);
  });
}
