import { assertEquals } from "@std/assert";
import { decodeText } from "../../../src/extensions/web/fetch_url.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
/** Bytes of a text whose characters are below U+0100. */
const latin1 = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));
const utf16 = (text: string) =>
  Uint8Array.from(text, (char) => char.charCodeAt(0)).reduce<number[]>(
    (all, one) => [...all, one, 0],
    [0xff, 0xfe],
  );

const META = '<meta charset="windows-1251">';
const ROWS: [bytes: Uint8Array, contentType: string, text: string][] = [
  [utf8("grün"), "text/html", "grün"],
  [utf8("\ufeffgrün"), "text/html; charset=latin1", "grün"],
  [Uint8Array.from(utf16("abc")), "text/html; charset=utf-8", "abc"],
  [latin1("gr\xfcn"), "text/html; charset=ISO-8859-1", "grün"],
  [latin1("gr\xfcn"), 'text/html; x=y; Charset = "latin1"', "grün"],
  [latin1("gr\xfcn"), "text/html", "grün"],
  [latin1("\x93gr\xfcn\x94"), "", "“grün”"],
  [latin1(`${META}\xcf\xf0`), "text/html", `${META}Пр`],
  [latin1(`${META}\xcf\xf0`), "text/html; charset=koi8-r", `${META}оП`],
  [
    latin1('<META http-equiv="Content-Type" content="text/html; charset=windows-1251">\xcf'),
    "text/html",
    '<META http-equiv="Content-Type" content="text/html; charset=windows-1251">П',
  ],
  [
    latin1('<?xml version="1.0" encoding="windows-1251"?>\xcf'),
    "",
    '<?xml version="1.0" encoding="windows-1251"?>П',
  ],
  // What no decoder knows, or what cannot be, is left to the bytes.
  [utf8("grün"), "text/html; charset=nonsense", "grün"],
  [utf8('<meta charset="utf-16">grün'), "text/html", '<meta charset="utf-16">grün'],
  [
    utf8('<!-- <meta charset="windows-1251"> -->grün'),
    "",
    '<!-- <meta charset="windows-1251"> -->grün',
  ],
  [Uint8Array.of(0x82, 0xa0), "text/plain; charset=shift_jis", "あ"],
  // Cut within a character.
  [utf8("grün €").subarray(0, -1), "text/plain", "grün \ufffd"],
  [new Uint8Array(), "text/html", ""],
];

Deno.test("the encoding of a text: mark, header, page, or what its bytes can be", () => {
  for (const [bytes, contentType, text] of ROWS) {
    assertEquals([contentType, decodeText(bytes, contentType)], [contentType, text]);
  }
});
