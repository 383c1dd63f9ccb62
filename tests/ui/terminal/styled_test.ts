import { assertEquals } from "@std/assert";
import { brokenRow, rowsText, styledRow, styledRows } from "../../../src/ui/terminal/styled.ts";

const ROWS: [text: string, columns: number, expected: string][] = [
  ["", 10, "\n"],
  ["plain", 10, "plain\n"],
  ["abcdef", 3, "abc\ndef\n"],
  ["\x1b[1mabcd\x1b[m ef", 3, "\x1b[1mabc\x1b[m\n\x1b[1md\x1b[m e\nf\n"],
  ["\x1b[1m\x1b[2ma\x1b[mb", 9, "\x1b[1m\x1b[2ma\x1b[mb\n"],
  ["a\tb", 20, "a       b\n"],
  ["a漢字", 4, "a漢\n字\n"],
  ["\x1b]0;t\x07", 20, "\n"],
];

for (const [text, columns, expected] of ROWS) {
  Deno.test(`styledRows ${JSON.stringify(text)} in ${columns} columns`, () => {
    assertEquals(rowsText(styledRows(text, columns)), expected);
  });
}

Deno.test("styledRow cuts with an ellipsis", () => {
  assertEquals(rowsText([styledRow("abcdef", 4)]), "abc…\n");
  assertEquals(rowsText([styledRow("abcd", 4)]), "abcd\n");
  assertEquals(rowsText([styledRow("漢字漢", 4)]), "漢…\n");
});

const BROKEN: [text: string, columns: number, expected: string][] = [
  ["", 5, "\n"],
  ["one two three", 8, "one two \nthree\n"],
  ["one two three", 7, "one two\nthree\n"],
  ["one two  three", 7, "one two\nthree\n"],
  ["> abcdefghijk", 8, "> abcdef\nghijk\n"],
  ["abcdefghijk", 4, "abcd\nefgh\nijk\n"],
  ["  ab cd", 5, "  ab \ncd\n"],
  ["ab 漢字漢", 6, "ab 漢\n字漢\n"],
  ["abcd 漢字漢", 8, "abcd \n漢字漢\n"],
  ["漢", 1, "漢\n"],
  ["one two · three four", 15, "one two · \nthree four\n"],
  ["a · two three four", 15, "a · two three \nfour\n"],
];

for (const [text, columns, expected] of BROKEN) {
  Deno.test(`brokenRow ${JSON.stringify(text)} in ${columns} columns`, () => {
    assertEquals(rowsText(brokenRow(styledRows(text, 100)[0]!, columns)), expected);
  });
}
