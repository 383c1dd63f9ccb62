import { assertEquals } from "@std/assert";
import { erase, eraseResized, type Frame, leave } from "../../../src/terminal/screen/frame.ts";
import { cellsOf } from "../../../src/terminal/styled.ts";

/** A frame of rows as wide as told, with its cursor. */
const frame = (widths: number[], row: number, column = 0): Frame => ({
  rows: widths.map((width) => cellsOf("x".repeat(width), "")),
  cursor: { row, column },
});

Deno.test("a frame is taken off the screen from its first row on", () => {
  assertEquals(erase(frame([3], 0)), "\r\x1b[J");
  assertEquals(erase(frame([3, 3], 1)), "\x1b[A\r\x1b[J");
  assertEquals(erase(frame([3, 3, 3], 2)), "\x1b[2A\r\x1b[J");
});

Deno.test("TTY-07 rows that a smaller window has broken are taken off, too", () => {
  const rows: [frame: Frame, columns: number, up: string][] = [
    [frame([8, 8], 1), 8, "\x1b[A"],
    [frame([8, 8], 1), 7, "\x1b[2A"],
    [frame([0, 9, 0], 2), 4, "\x1b[4A"],
    // The cursor's own row
    [frame([9], 0, 3), 4, ""],
    [frame([9], 0, 4), 4, "\x1b[A"],
    [frame([9], 0, 8), 4, "\x1b[2A"],
    [frame([8], 0, 8), 4, "\x1b[A"],
    [frame([0], 0, 0), 4, ""],
    [frame([1, 5, 30], 1, 5), 2, "\x1b[3A"],
  ];
  for (const [before, columns, up] of rows) {
    assertEquals(eraseResized(before, columns, true), `${up}\r\x1b[J`);
    // A terminal that cuts rows off
    assertEquals(eraseResized(before, columns, false), erase(before));
  }
});

Deno.test("a frame that is left stays whole: what follows is below its last row", () => {
  assertEquals(leave(frame([3], 0)), "\r\n");
  assertEquals(leave(frame([3, 3], 1)), "\r\n");
  assertEquals(leave(frame([3, 3], 0)), "\x1b[B\r\n");
  assertEquals(leave(frame([3, 3, 3, 3], 1)), "\x1b[2B\r\n");
});
