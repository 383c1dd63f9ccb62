import { assert, assertEquals } from "@std/assert";
import { excerpt, redact, secretsOf } from "../../src/wire/excerpt.ts";

Deno.test("NET-11 excerpt makes one short line that a terminal takes for text", () => {
  const rows: [text: string, shown: string][] = [
    ["", ""],
    ["plain", "plain"],
    ["  a \r\n\t b\n", "a b"],
    ["\x1b[31mred\x1b[0m \x1b[2J\x1b[1;1Hx", "red x"],
    ["\x9b31mred\x9bm", "red"],
    ["\x1b]0;title\x07 \x1b]8;;http://x\x1b\\link", "]0;title ]8;;http://x \\link"],
    ["a\0b\x08c\x7fd\x85e\u2028f", "a b c d e f"],
    ["left \u202eright\u2066 a\u200bb", "left right a b"],
    ["lone \ud800 half", "lone \ufffd half"],
    ["x".repeat(200), "x".repeat(200)],
    ["x".repeat(201), `${"x".repeat(199)}…`],
    [`${"x".repeat(198)}😀y`, `${"x".repeat(198)}…`],
    ["日本語 é", "日本語 é"],
  ];
  for (const [text, shown] of rows) assertEquals(excerpt(text), shown);
});

Deno.test("excerpt of a long text takes linear time", () => {
  const begin = performance.now();
  for (const text of ["\x1b[", "\x1b[1;", " ", "\x9b", "x ", "\u202e"]) excerpt(text.repeat(2e6));
  assert(performance.now() - begin < 5_000);
});

Deno.test("SEC-02 secretsOf finds the keys among headers", () => {
  assertEquals(
    secretsOf({
      "Authorization": "Bearer sk-1234567890",
      "x-api-key": "key-abcdef",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-short": "none",
    }),
    ["sk-1234567890", "key-abcdef"],
  );
});

Deno.test("SEC-02 redact hides a key in every form in which a proxy echoes it", () => {
  const key = "sk-test+7f/3=9a0b1c2d3e4f5a6b";
  const rows: [text: string, shown: string][] = [
    ["no key here: sk-other, sk-", "no key here: sk-other, sk-"],
    [key, "[redacted]"],
    [`{"authorization":"Bearer ${key}"}`, '{"authorization":"Bearer [redacted]"}'],
    [`a ${key} b ${key}`, "a [redacted] b [redacted]"],
    [`?key=${encodeURIComponent(key)}&x=1`, "?key=[redacted]&x=1"],
    [`cut short: ${key.slice(0, 14)}`, "cut short: [redacted]"],
    [btoa(key), "[redacted]"],
    [`header ${btoa(`user:${key}`)} end`, "header [redacted] end"],
    [btoa(key).replaceAll("+", "-").replaceAll("/", "_"), "[redacted]"],
    ["base64 of something else: aGVsbG8gd29ybGQ=", "base64 of something else: aGVsbG8gd29ybGQ="],
  ];
  for (const [text, shown] of rows) assertEquals(redact(text, [key]), shown);
  // Wherever the key lies within what was encoded.
  for (let before = 0; before < 7; before++) {
    const coded = btoa("x".repeat(before) + key + "yz");
    assertEquals(redact(`x=${coded}`, [key]), "x=[redacted]");
    assertEquals(redact(`/path/${coded}`, [key]), "[redacted]");
  }
  assertEquals(redact(key, []), key);
});

Deno.test("redact of a long text takes linear time", () => {
  const begin = performance.now();
  for (const text of ["a", "sk-secret-12 ", "=", "a b"]) {
    redact(text.repeat(65_536 / text.length), ["sk-secret-1234"]);
  }
  assert(performance.now() - begin < 5_000);
});
