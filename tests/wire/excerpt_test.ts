import { assert, assertEquals } from "@std/assert";
import { excerpt, keepSecrets } from "../../src/wire/excerpt.ts";
import { cpuTime } from "../helpers/cpu_time.ts";

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
    // The rest of a long text is not looked at.
    [`${" ".repeat(9_999)}x`, "x"],
    [`${" ".repeat(10_000)}x`, ""],
  ];
  for (const [text, shown] of rows) assertEquals(excerpt(text), shown);
});

Deno.test("SEC-02 a piece of eight characters is hidden, a key used again stays the longest", () => {
  keepSecrets({ "x-api-key": "abcdefghijklmnopq" });
  assertEquals(excerpt("a cdefghij b cdefghi"), "a [redacted] b cdefghi");
  for (let i = 10; i < 41; i++) keepSecrets({ "x-api-key": `other-key-${i}` });
  keepSecrets({ "x-api-key": "abcdefghijklmnopq" });
  // 32 keys are remembered: one more, and the one that was used least recently goes.
  keepSecrets({ "x-api-key": "1234567890" });
  assertEquals(excerpt("abcdefghijklmnopq 1234567890"), "[redacted] [redacted]");
  keepSecrets({ "x-api-key": "first-of-32" });
  for (let i = 0; i < 31; i++) keepSecrets({ "x-api-key": `${i}!`.padStart(10, "#") });
  assertEquals(excerpt("first-of-32"), "[redacted]");
  keepSecrets({ "x-api-key": "^^^^^^^^^^" });
  assertEquals(excerpt("first-of-32"), "first-of-32");
});

Deno.test("excerpt of a long text takes linear time", () => {
  const begin = cpuTime();
  for (const text of ["\x1b[", "\x1b[1;", " ", "\x9b", "x ", "\u202e"]) excerpt(text.repeat(2e6));
  assert(cpuTime() - begin < 5_000);
});

const KEY = "sk-test+7f/3=9a0b'1c2d,3e4f&5a6b;7\"8";
const base64 = (text: string) => btoa(text);

Deno.test("SEC-02 excerpt hides a key in every form in which a server echoes it", () => {
  assertEquals(excerpt(KEY), KEY);
  keepSecrets({ "Authorization": `Bearer ${KEY}`, "anthropic-version": "2023-06-01" });
  const rows: [text: string, shown: string][] = [
    ["no key here: sk-other, sk-", "no key here: sk-other, sk-"],
    ["2023-06-01", "2023-06-01"],
    [KEY, "[redacted]"],
    [`a ${KEY} b ${KEY}`, "a [redacted] b [redacted]"],
    [JSON.stringify({ key: KEY }), '{"key":"[redacted]"}'],
    [JSON.stringify({ key: KEY }).replaceAll("/", "\\/"), '{"key":"[redacted]"}'],
    [[...KEY].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join(""), "[redacted]"],
    [`?key=${encodeURIComponent(KEY)}&x=1`, "?key=[redacted]&x=1"],
    [`<b>${KEY.replaceAll("&", "&amp;").replaceAll("'", "&#39;")}</b>`, "<b>[redacted]</b>"],
    [`cut short: ${KEY.slice(0, 14)}`, "cut short: [redacted]"],
    [`its end: …${KEY.slice(-14)}`, "its end: …[redacted]"],
    [`its middle: …${KEY.slice(9, 20)}…`, "its middle: …[redacted]…"],
    [`coloured: ${KEY.slice(0, 3)}\x1b[1m${KEY.slice(3)}`, "coloured: [redacted]"],
    [base64(KEY), "[redacted]"],
    [`header ${base64(`user:${KEY}`)} end`, "header [redacted] end"],
    [base64(KEY).replaceAll("+", "-").replaceAll("/", "_"), "[redacted]"],
    [encodeURIComponent(base64(KEY)), "[redacted]"],
    ["base64 of something else: aGVsbG8gd29ybGQ=", "base64 of something else: aGVsbG8gd29ybGQ="],
    // Hidden before the line is cut, or its first characters would stay.
    [`${"x".repeat(190)} ${KEY}`, `${"x".repeat(190)} ${"[redacted]".slice(0, 8)}…`],
  ];
  for (const [text, shown] of rows) assertEquals(excerpt(text), shown);
  // Wherever the key lies within what was encoded.
  for (let before = 0; before < 7; before++) {
    const coded = base64("x".repeat(before) + KEY + "yz");
    assertEquals(excerpt(`x=${coded}`), "x=[redacted]");
    for (const path of ["/", "/a", "/ab", "/path/"]) {
      assertEquals(excerpt(path + coded), "[redacted]");
    }
  }
  // A key of eight characters is in no shorter piece, also of a text that was cut.
  keepSecrets({ "x-api-key": "8letters" });
  for (const coded of [base64("8letters"), base64("a8lettersbcd").slice(0, 13)]) {
    assertEquals(excerpt(coded), "[redacted]");
  }
});

Deno.test("SEC-02 excerpt hides what is secret in Basic authorization", () => {
  const basic = (text: string) => ({ authorization: `Basic ${base64(text)}` });
  keepSecrets({ ...basic("nobody:hunter2:x"), "x-short": "none" });
  keepSecrets(basic("token-as-user:"));
  assertEquals(
    excerpt(`nobody hunter2:x none token-as-user ${base64("nobody:hunter2:x")}`),
    "nobody [redacted] none [redacted] [redacted]",
  );
});

Deno.test("excerpt of a long text takes linear time with a key of 4 KB", () => {
  keepSecrets({ "x-api-key": Array.from({ length: 700 }, (_, i) => `${i * 7919}`).join("") });
  const begin = cpuTime();
  for (const text of ["a", "sk-secret-12 ", "=", "a b", "%41", "\\u0041", "&amp;"]) {
    excerpt(text.repeat(65_536 / text.length));
  }
  assert(cpuTime() - begin < 5_000);
});
