import { assertEquals } from "@std/assert";
import { decodeText } from "../../../src/extensions/web/fetch_url.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
/** Bytes of a text whose characters are below U+0100. */
const latin1 = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));

const META = '<meta charset="windows-1251">';
const ROWS: [bytes: Uint8Array, contentType: string, text: string][] = [
  [utf8("grün"), "text/html", "grün"],
  [latin1("gr\xfcn"), "text/html; charset=ISO-8859-1", "grün"],
  [latin1("gr\xfcn"), 'text/html; x=y; Charset = "latin1"', "grün"],
  [latin1(`${META}\xcf\xf0`), "text/html", `${META}Пр`],
  [latin1(`${META}\xcf\xf0`), "text/html; charset=koi8-r", `${META}оП`],
  [
    latin1('<META http-equiv="Content-Type" content="text/html; charset=windows-1251">\xcf'),
    "text/html",
    '<META http-equiv="Content-Type" content="text/html; charset=windows-1251">П',
  ],
  // Of what no decoder knows, the bytes are UTF-8.
  [utf8("grün"), "text/html; charset=nonsense", "grün"],
  [Uint8Array.of(0x82, 0xa0), "text/plain; charset=shift_jis", "あ"],
  // Cut within a character.
  [utf8("grün €").subarray(0, -1), "text/plain", "grün \ufffd"],
  [new Uint8Array(), "text/html", ""],
];

Deno.test("the encoding of a text: of the header, of the page, or UTF-8", () => {
  for (const [bytes, contentType, text] of ROWS) {
    assertEquals([contentType, decodeText(bytes, contentType)], [contentType, text]);
  }
});
