import { assertEquals } from "@std/assert";
import { sanitize, sanitizeProse, stripEscapes } from "../../src/text/sanitize.ts";

/** [name, text, shown, shown as prose where that differs] */
const rows: [name: string, text: string, strict: string, prose?: string][] = [
  ["plain text", "a b\n\tc é 日本 😀", "a b\n\tc é 日本 😀"],
  ["TTY-01 clipboard write", "a\x1b]52;c;eA==\x07b", "a␛]52;c;eA==␇b"],
  ["TTY-01 title, ended by ST", "\x1b]0;t\x1b\\", "␛]0;t␛\\"],
  ["TTY-01 screen, cursor, report", "\x1b[2J\x1b[10A\x1b[6n\x1bc", "␛[2J␛[10A␛[6n␛c"],
  ["TTY-01 8-bit CSI and OSC", "\x9b2J\x9d0;t\x9c", "\\u{9b}2J\\u{9d}0;t\\u{9c}"],
  ["TTY-01 overwriting", "safe\rrm\b\x7f\0\v\f", "safe␍rm␈␡␀␋␌"],
  ["TTY-02 reordering", "\u202ea\u2066b\u061c\u200f", "\\u{202e}a\\u{2066}b\\u{61c}\\u{200f}"],
  ["TTY-02 invisible", "a\u200bb\u00adc\u2060\ufeff", "a\\u{200b}b\\u{ad}c\\u{2060}\\u{feff}"],
  ["TTY-02 fillers", "\u115f\u3164\uffa0\u034f", "\\u{115f}\\u{3164}\\u{ffa0}\\u{34f}"],
  ["TTY-02 tag letters", "\u{e0041}\u{e0001}", "\\u{e0041}\\u{e0001}"],
  ["TTY-02 variation selectors", "a\ufe01\u{e0100}", "a\\u{fe01}\\u{e0100}"],
  ["TTY-02 line separators", "a\u2028b\u2029\x85", "a\\u{2028}b\\u{2029}\\u{85}"],
  [
    "TTY-02 other spaces",
    "\u00a0b\u3000\u2009",
    "\\u{a0}b\\u{3000}\\u{2009}",
    "\u00a0b\u3000\u2009",
  ],
  ["TTY-02 empty braille", "\u2800", "\\u{2800}", "\u2800"],
  ["emoji", "👩\u200d💻 ⚠\ufe0f", "👩\\u{200d}💻 ⚠\\u{fe0f}", "👩\u200d💻 ⚠\ufe0f"],
  ["Persian", "می\u200cخواهم", "می\\u{200c}خواهم", "می\u200cخواهم"],
  ["half pairs", "\ud83d \ude00 \ude00\ud83d", "\ufffd \ufffd \ufffd\ufffd"],
  ["the first and the last half", "\ud800 \udfff", "\ufffd \ufffd"],
  ["long runs", "\x1b".repeat(1000), "␛".repeat(1000)],
];

Deno.test("TTY-02 no character has more than eight marks", () => {
  for (const mark of ["\u0301", "\u0e49", "\u1161", "\u{1e8d0}"]) {
    for (const shown of [sanitize, sanitizeProse]) {
      const eight = `a${mark.repeat(8)}`;
      assertEquals(shown(`${eight}b`), `${eight}b`);
      assertEquals(shown(`${eight}${mark.repeat(100_000)}b${mark}`), `${eight}\ufffdb${mark}`);
    }
  }
  // What is invisible among marks does not begin a new count.
  const mixed = sanitizeProse(`a${"\u0301\u200d".repeat(1000)}`);
  assertEquals(mixed, `a${"\u0301\u200d".repeat(4)}\ufffd`);
});

for (const [name, text, strict, prose = strict] of rows) {
  Deno.test(`sanitize: ${name}`, () => {
    assertEquals(sanitize(text), strict);
    assertEquals(sanitizeProse(text), prose);
    assertEquals(sanitize(strict), strict, "once is enough");
    assertEquals([...text].map(sanitize).join(""), strict, "piece by piece");
    assertEquals([...text].map(sanitizeProse).join(""), prose, "piece by piece");
  });
}

Deno.test("TTY-01 sanitize: no code point below U+3000 slips through that moves or hides", () => {
  for (let code = 0; code < 0x3000; code++) {
    const char = String.fromCodePoint(code);
    const control = code < 0x20 && char !== "\n" && char !== "\t" || code >= 0x7f && code < 0xa0;
    const bidi = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(char);
    if (!control && !bidi) continue;
    for (const shown of [sanitize(char), sanitizeProse(char)]) {
      assertEquals(/^(?:[\u2400-\u2421]|\\u\{[\da-f]+\})$/.test(shown), true, code.toString(16));
    }
  }
});

const escapes: [name: string, text: string, expected: string][] = [
  ["nothing to do", "a [0m b\n\té", "a [0m b\n\té"],
  ["colours", "\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3mx\x1b[m", "red x"],
  ["colon parameters, private modes, intermediates", "\x1b[4:3ma\x1b[?25lb\x1b[1 qc", "abc"],
  ["title ended by BEL, by ST", "\x1b]0;t\x07a\x1b]0;t\x1b\\b", "ab"],
  ["link", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"],
  ["device strings", "\x1bPq#0\x1b\\a\x1b_x\x1b\\b\x1b^x\x07c", "abc"],
  ["8-bit forms", "\x9b31mred\x9d0;t\x9c.\x85", "red."],
  ["character sets, cursor save, reset", "\x1b(Ba\x1b7b\x1bcc\x1b=d", "abcd"],
  ["a string without an end loses only its beginning", "\x1b]0;rest\nmore", "0;rest\nmore"],
  ["a string ends with its line", "\x1b]0;rest\nmore\x07", "0;rest\nmore\x07"],
  ["a string broken off by another escape", "\x1b]0;a\x1b[1mb", "0;ab"],
  ["a lone ESC", "a\x1b", "a"],
  ["a sequence cut off", "a\x1b[12", "a12"],
  ["what is no escape stays", "a\r\b\x07\0", "a\r\b\x07\0"],
];

for (const [name, text, expected] of escapes) {
  Deno.test(`PRC-05 stripEscapes: ${name}`, () => assertEquals(stripEscapes(text), expected));
}

Deno.test("sanitize and stripEscapes: a million of anything completes", () => {
  for (const piece of ["\x1b", "\x1b]", "\x9d", "\x1b[0", "\x1b[;", "\x1bP;\x1b", "a\u202e", "é"]) {
    const text = piece.repeat(1_000_000 / piece.length);
    assertEquals(stripEscapes(text).includes("\x1b"), false, piece);
    assertEquals(sanitizeProse(text).includes("\x1b"), false, piece);
  }
});
