import { assertEquals } from "@std/assert";
import { wrapped, wrappedParts } from "../../src/text/wrap.ts";

const rows: [name: string, text: string, columns: number, expected: string][] = [
  ["a row is as long as it may be", "one two three", 7, "one two\nthree"],
  ["one column less", "one two three", 6, "one\ntwo\nthree"],
  ["below the place where it begins", "· one two three\nfour", 9, "· one two\n  three\nfour"],
  ["below its indentation", "  /help   lists", 12, "  /help\n  lists"],
  ["half a row of indentation at most", "         a b", 4, "         a\n  b"],
  ["a word that is too long", "unbreakable", 4, "unbreakable"],
  ["a path that is too long", "in ~/one/two/three now", 9, "in ~/one/\ntwo/three\nnow"],
  ["an address that is too long", "http://ab/cd", 8, "http://ab/\ncd"],
  ["empty lines stay", "a\n\nb", 4, "a\n\nb"],
];

for (const [name, text, columns, expected] of rows) {
  Deno.test(`wrapped: ${name}`, () => assertEquals(wrapped(text, columns), expected));
}

Deno.test("wrappedParts breaks between parts, in place of their dot", () => {
  assertEquals(wrappedParts("a b · c · d e f", 8), "a b · c\nd e f");
});
