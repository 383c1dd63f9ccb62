import { assertEquals } from "@std/assert/equals";
import {
  dominantEnding,
  hasBom,
  lineEndsIn,
  utf16Label,
} from "../../../src/tools/files/line_endings.ts";

Deno.test("a mark at the beginning says how bytes are to be read", () => {
  const rows: [bytes: number[], isUtf8: boolean, label: string | undefined][] = [
    [[0xef, 0xbb, 0xbf], true, undefined],
    [[0xef, 0xbb, 0xbf, 0x61], true, undefined],
    [[0xef, 0xbb, 0xbe], false, undefined],
    [[0xef, 0xba, 0xbf], false, undefined],
    [[0xee, 0xbb, 0xbf], false, undefined],
    [[0xef, 0xbb], false, undefined],
    [[0x61, 0xef, 0xbb, 0xbf], false, undefined],
    [[0xff, 0xfe], false, "utf-16le"],
    [[0xfe, 0xff], false, "utf-16be"],
    [[0xff, 0xff], false, undefined],
    [[0xfe, 0xfe], false, undefined],
    [[0xff], false, undefined],
    [[0x61, 0xff, 0xfe], false, undefined],
    [[], false, undefined],
  ];
  for (const [bytes, isUtf8, label] of rows) {
    const all = Uint8Array.from(bytes);
    assertEquals([hasBom(all), utf16Label(all)], [isUtf8, label], `${bytes}`);
  }
});

Deno.test("most lines say which ending a text has; on a draw it is LF", () => {
  const rows: [text: string, ending: string | undefined][] = [
    ["", undefined],
    ["a", undefined],
    ["a\n", "\n"],
    ["\n", "\n"],
    ["a\r\n", "\r\n"],
    ["\r\n", "\r\n"],
    ["a\rb", "\r"],
    ["a\rb\rc\n", "\n"],
    ["a\rb\r\n", "\r\n"],
    ["a\r\nb\n", "\n"],
    ["a\nb\r\n", "\n"],
    ["a\r\nb\r\nc\n", "\r\n"],
    ["a\r\nb\nc\n", "\n"],
  ];
  for (const [text, ending] of rows) assertEquals(dominantEnding(text), ending, text);
});

Deno.test("the ends of lines are counted from one place up to another", () => {
  type Row = [
    text: string,
    ending: string,
    from: number | undefined,
    to: number | undefined,
    count: number,
  ];
  const rows: Row[] = [
    ["", "\n", undefined, undefined, 0],
    ["a\nb\n\n", "\n", undefined, undefined, 3],
    ["\n\n\n", "\n", 1, undefined, 2],
    ["\n\n\n", "\n", 1, 2, 1],
    ["\n\n\n", "\n", 0, 0, 0],
    ["\n\n\n", "\n", 3, undefined, 0],
    ["a\nb\rc\n", "\r", undefined, undefined, 1],
  ];
  for (const [text, ending, from, to, count] of rows) {
    assertEquals(lineEndsIn(text, ending, from, to), count, JSON.stringify([text, from, to]));
  }
});
