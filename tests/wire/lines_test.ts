import { assert, assertEquals, assertThrows } from "@std/assert";
import { BackendError } from "../../src/errors.ts";
import { LineDecoder } from "../../src/wire/lines.ts";
import { forEverySplit } from "../helpers/split.ts";
import { cpuTime } from "../helpers/cpu_time.ts";

/** The most characters of one line, as the doc comment of {@linkcode LineDecoder} says. */
const MAX_ANSWER_CHARS = 64 * 2 ** 20;

function decode(pieces: Uint8Array[], options?: { loneCr?: boolean }): string[] {
  const lines: string[] = [];
  const decoder = new LineDecoder((line) => lines.push(line), options);
  for (const piece of pieces) decoder.push(piece);
  decoder.end();
  return lines;
}

const utf8 = (text: string) => new TextEncoder().encode(text);

Deno.test("NET-01 NET-02 LineDecoder gives the same lines at every split", () => {
  const others = "a\u2028b\u2029c\u0085d\x0be\x0cf";
  const broken = ["a\ufffd\ufffd", "\ufffd\ufffd\ufffd\ufffd"];
  const rows: [bytes: Uint8Array, lines: string[], linesWithLoneCr: string[]][] = [
    [utf8(""), [], []],
    [utf8("\n"), [""], [""]],
    [utf8("a"), ["a"], ["a"]],
    [utf8("a\nb\n"), ["a", "b"], ["a", "b"]],
    [utf8("a\r\nb\r\n\r\n"), ["a", "b", ""], ["a", "b", ""]],
    [utf8("a\rb\r\rc"), ["a\rb\r\rc"], ["a", "b", "", "c"]],
    [utf8("a\n\rb\r\n\nc\r"), ["a", "\rb", "", "c"], ["a", "", "b", "", "c"]],
    [utf8("a\r\r\nb"), ["a\r", "b"], ["a", "", "b"]],
    [utf8("\r"), [""], [""]],
    [utf8("\u{feff}é€😀\n\u{feff}b"), ["é€😀", "\u{feff}b"], ["é€😀", "\u{feff}b"]],
    // Unicode's own line separators are no ends of lines.
    [utf8(`${others}\n`), [others], [others]],
    // What is no UTF-8, also when it is cut by the end.
    [Uint8Array.of(0x61, 0xff, 0xe2, 0x82, 0x0a, 0xed, 0xa0, 0x80, 0xf0, 0x9f), broken, broken],
    [utf8("\0\n\0"), ["\0", "\0"], ["\0", "\0"]],
  ];
  for (const [bytes, lines, linesWithLoneCr] of rows) {
    forEverySplit(bytes, (pieces) => {
      assertEquals(decode(pieces), lines);
      assertEquals(decode(pieces, { loneCr: true }), linesWithLoneCr);
    });
  }
});

Deno.test("LineDecoder delivers a line as soon as its end is there", () => {
  const lines: string[] = [];
  const decoder = new LineDecoder((line) => lines.push(line), { loneCr: true });
  decoder.push(utf8("a\r"));
  assertEquals(lines, ["a"]);
  decoder.push(utf8("\nb\n"));
  assertEquals(lines, ["a", "b"]);
});

Deno.test("LineDecoder takes linear time, in small pieces and with many ends", () => {
  const size = 2 ** 20;
  const begin = cpuTime();
  const decoder = new LineDecoder(() => {});
  for (let sent = 0; sent < size; sent += 4) decoder.push(utf8("four"));
  decoder.end();
  for (const text of ["\r", "\n", "\r\n", "\n\n\n\n\n\n\n\r"]) {
    decode([utf8(text.repeat(size / text.length))], { loneCr: true });
  }
  // Some 200 ms; to search the pending text or the chunk again for each piece would take minutes.
  assert(cpuTime() - begin < 10_000);
});

Deno.test("LineDecoder bounds the length of a line", () => {
  const decoder = new LineDecoder(() => {});
  const piece = new Uint8Array(2 ** 20).fill(97);
  for (let sent = 0; sent < MAX_ANSWER_CHARS; sent += piece.length) decoder.push(piece);
  const error = assertThrows(() => decoder.push(Uint8Array.of(97)), BackendError);
  assertEquals(error.kind, "protocol");
});
