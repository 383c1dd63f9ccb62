import { assertEquals } from "@std/assert";
import {
  EMPTY_FRAME,
  erase,
  eraseResized,
  type Frame,
  leave,
  paint,
} from "../../../../src/ui/terminal/screen/frame.ts";
import { cellsOf } from "../../../../src/ui/terminal/styled.ts";

const frame = (widths: number[], row: number, column = 0): Frame => ({
  rows: widths.map((width) => cellsOf("x".repeat(width), "")),
  cursor: { row, column },
});

Deno.test("a frame is taken off the screen from its first row on", () => {
  assertEquals(erase(frame([3], 0)), "\r\x1b[J");
  assertEquals(erase(frame([3, 3], 1)), "\x1b[A\r\x1b[K\x1b[B\x1b[J\x1b[A");
  assertEquals(erase(frame([3, 3, 3], 2)), "\x1b[2A\r\x1b[K\x1b[B\x1b[J\x1b[A");
});

Deno.test("TTY-07 rows that a smaller window has broken are taken off, too", () => {
  const rows: [frame: Frame, columns: number, up: string][] = [
    [frame([8, 8], 1), 8, "\x1b[A"],
    [frame([8, 8], 1), 7, "\x1b[2A"],
    [frame([0, 9, 0], 2), 4, "\x1b[4A"],
    [frame([9], 0, 3), 4, ""],
    [frame([9], 0, 4), 4, "\x1b[A"],
    [frame([9], 0, 8), 4, "\x1b[2A"],
    [frame([8], 0, 8), 4, "\x1b[A"],
    [frame([0], 0, 0), 4, ""],
    [frame([1], 0, 1), 1, ""],
    [frame([1, 5, 30], 1, 5), 2, "\x1b[3A"],
  ];
  for (const [before, columns, up] of rows) {
    assertEquals(eraseResized(before, columns, true), `${up}\r\x1b[J`);
    assertEquals(eraseResized(before, columns, false), erase(before));
  }
});

Deno.test("a frame that is left stays whole: what follows is below its last row", () => {
  assertEquals(leave(frame([3], 0)), "\r\n");
  assertEquals(leave(frame([3, 3], 1)), "\r\n");
  assertEquals(leave(frame([3, 3], 0)), "\x1b[B\r\n");
  assertEquals(leave(frame([3, 3, 3, 3], 1)), "\x1b[2B\r\n");
});

Deno.test("of a row what changed is written, and what follows only if it moves", () => {
  const rows: [old: string, row: string, output: string][] = [
    ["abcdef", "abcdef", ""],
    ["abcdef", "abXdef", "\x1b[3GX\r"],
    ["abcdef", "XbcdeX", "XbcdeX\r"],
    ["日bcd", "aabcd", "aa\r"],
    ["aabcd", "日bcd", "日\r"],
    // A terminal may have shown the heart in two columns, over the next cell.
    ["a❤️bcd", "aXXbcd", "\x1b[2GXXbcd\r"],
    ["abc", "abcd", "\x1b[4Gd\r"],
    ["abcd", "abc", "\x1b[4G\x1b[K\r"],
    ["abcdefgh", "Xabcdefgh", "Xabcdefgh\r"],
    ["Xabcdefgh", "abcdefgh", "abcdefgh\x1b[K\r"],
    // tmux keeps the width of a row that is not erased from its start.
    ["12345abcdefgh", "abcdefgh", "\x1b[Kabcdefgh\r"],
  ];
  for (const [old, row, output] of rows) {
    const [before, after] = [old, row].map((text): Frame => ({
      rows: [cellsOf(text, "")],
      cursor: { row: 0, column: 0 },
    }));
    assertEquals(paint(before!, after!, 20), output, row);
  }
});

Deno.test("each style is written once, and none is left on", () => {
  const styled = (...parts: [text: string, style: string][]): Frame => ({
    rows: [parts.flatMap(([text, style]) => cellsOf(text, style))],
    cursor: { row: 0, column: 0 },
  });
  const [plain, bold, dim] = ["", "\x1b[1m", "\x1b[2m"];
  const before = styled(["abcdef", plain]);
  const rows: [after: Frame, output: string][] = [
    [styled(["ab", bold], ["cdef", plain]), "\x1b[1mab\x1b[m\r"],
    [styled(["ab", bold], ["cd", dim], ["ef", plain]), "\x1b[1mab\x1b[m\x1b[2mcd\x1b[m\r"],
    [
      styled(["a", bold], ["b", plain], ["c", dim], ["def", plain]),
      [...["\x1b[1ma", "\x1b[mb", "\x1b[2mc", "\x1b[m\r"]].join(""),
    ],
  ];
  for (const [after, output] of rows) assertEquals(paint(before, after, 20), output);
});

Deno.test("the cursor is moved absolutely where terminals disagree on its column", () => {
  const rows: [text: string, column: number, output: string][] = [
    ["abcd", 3, "abcd\b"],
    ["abcde", 4, "abcde\x1b[5G"],
    ["abcd", 0, "abcd\r"],
    ["é", 1, "é"],
    ["👍", 2, "\x1b[?7l👍\x1b[3G\x1b[?7h"],
  ];
  for (const [text, column, output] of rows) {
    const after = { rows: [cellsOf(text, "")], cursor: { row: 0, column } };
    assertEquals(paint(EMPTY_FRAME, after, 5), output);
  }
});
