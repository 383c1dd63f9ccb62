import { assertEquals } from "@std/assert";
import { displayWidth, graphemes, isWidthDisputed, rowsOf } from "../../src/text/width.ts";

/** From wcwidth 0.7.0 (Unicode 17), but for the last one. */
const rows: [text: string, width: number, graphemes: number][] = [
  ["", 0, 0],
  ["hello, world", 12, 12],
  ["日本語", 6, 3],
  ["ﾊﾟ", 2, 1],
  ["한글", 4, 2],
  ["\u1112\u1161\u11ab", 2, 1], // the same syllable in its parts
  ["ＡＢ", 4, 2],
  ["é", 1, 1],
  ["e\u0301", 1, 1],
  ["a\u0300\u0301\u0302\u0303", 1, 1],
  ["Z̸̡̛͔a̷̢lg̴o", 5, 5],
  ["👍", 2, 1],
  ["👍🏽", 2, 1],
  ["👨‍👩‍👧", 2, 1],
  ["🏳️‍🌈", 2, 1],
  ["🇩🇪", 2, 1],
  ["🇩🇪🇫🇷", 4, 2],
  ["🇩", 2, 1],
  ["1️⃣", 2, 1],
  ["❤", 1, 1],
  ["❤️", 2, 1],
  ["☺️", 2, 1],
  ["⚡", 2, 1],
  ["①", 1, 1],
  ["─│┌", 3, 3],
  ["नमस्ते", 4, 3],
  ["का", 2, 1],
  ["क्ष", 2, 1],
  ["กำ", 2, 1],
  ["שלום", 4, 4],
  ["العربية", 7, 7],
  ["\u{1fae0}", 2, 1],
  ["\u{20000}", 2, 1],
  ["\u4dc0", 2, 1], // wide since Unicode 16
  ["\u303f", 1, 1],
  ["\u200b", 0, 1],
  ["\u0301", 0, 1],
  ["ကျ", 2, 1],

  ["☝🏽", 2, 1], // wcwidth says 1, against UTS #51
];

Deno.test("TTY-08 columns and graphemes of text", () => {
  for (const [text, width, count] of rows) {
    assertEquals([displayWidth(text), graphemes(text).length], [width, count], text);
    assertEquals(graphemes(text).join(""), text);
  }
});

Deno.test("TTY-08 widths are the same however much text stands before", () => {
  const all = rows.map(([text]) => text).join(" ");
  assertEquals(displayWidth(all), rows.reduce((sum, [, width]) => sum + width, rows.length - 1));
});

Deno.test("TTY-08 terminals do not agree on emoji and on graphemes of several code points", () => {
  for (const grapheme of ["e\u0301", "👍", "❤", "🇩🇪", "का"]) {
    assertEquals(isWidthDisputed(grapheme), true, grapheme);
  }
  for (const grapheme of ["a", "é", "日", "─", "©"]) {
    assertEquals(isWidthDisputed(grapheme), false, grapheme);
  }
});

Deno.test("rows are as wide as they may be", () => {
  assertEquals(rowsOf("abcdef", 3), ["abc", "def"]);
  assertEquals(rowsOf("日本語", 5), ["日本", "語"]);
  assertEquals(rowsOf("a\tb", 3), ["a  ", "  b"]);
  assertEquals(rowsOf("日", 1), ["日"]);
  assertEquals(rowsOf("", 3), [""]);
  const broken: [line: string, rows: string[]][] = [
    ["a bcd ef", ["a bcd ", "ef"]],
    ["  abcdefgh", ["  abcd", "efgh"]],
    ["\tabcd", ["    ab", "cd"]],
    ["  ab cdef", ["  ab ", "cdef"]],
    ["        ab", ["      ", "  ab"]],
  ];
  for (const [line, rows] of broken) assertEquals(rowsOf(line, 6, true), rows);
});
