import { assertEquals } from "@std/assert";
import { decodeEntities } from "../../../src/text/html/entities.ts";

Deno.test("character references stand for their characters; unknown ones stay", () => {
  const rows: [text: string, read: string][] = [
    ["a & b &c; &", "a & b &c; &"],
    ["&lt;&gt;&amp;&quot;&apos;&nbsp;", "<>&\"'\u00a0"],
    ["&eacute;&Eacute;&iexcl;&yuml;", "éÉ¡ÿ"],
    ["&alpha;&rarr;&Scaron;", "&alpha;→Š"],
    ["&copy=1 &amp b &nbspb &quot", '&copy=1 & b &nbspb "'],
    ["&#65;&#x41;&#X41;&#65b", "AAAAb"],
    ["&#127;&#128;&#159;&#160;", "\u007f€Ÿ\u00a0"],
    ["&#x10ffff;&#x110000;", "\u{10ffff}\ufffd"],
    ["&#0;&#1;", "\ufffd\u0001"],
    ["&#xd7ff;&#xd800;&#xdfff;&#xe000;", "\ud7ff\ufffd\ufffd\ue000"],
  ];
  for (const [text, read] of rows) assertEquals(decodeEntities(text), read, text);
});
