import { assertEquals } from "@std/assert";
import { asciiSign, withSigns } from "../../src/text/signs.ts";
import { displayWidth, graphemes } from "../../src/text/width.ts";

Deno.test("text for a terminal without UTF-8 has stand-ins that read alike, else question marks", () => {
  const rows: [text: string, shown: string][] = [
    ["plain\ttext\n\x1b[2m!\x1b[m", "plain\ttext\n\x1b[2m!\x1b[m"],
    ["● Ran · 3 … −1", "* Ran - 3 ... -1"],
    ["“naïve” – it’s Ångström", '"naive" - it\'s Angstrom'],
    ["cafe\u0301", "cafe"],
    ["├── src\n└── a.ts", "|-- src\n|-- a.ts"],
    ["✅ ok, ✗ not, a → b, 2 × 3", "v  ok, x not, a > b, 2 x 3"],
    ["日本", "????"],
    ["👨‍👩‍👧‍👦 is one", "?? is one"],
    ["ß Ж 1\u00a0000", "? ? 1 000"],
    ["\u241b[2J", "^[[2J"],
  ];
  for (const [text, shown] of rows) {
    assertEquals(withSigns(text, false), shown);
    assertEquals(withSigns(text, true), text);
  }
});

Deno.test("a stand-in takes the columns of its sign, so that tables stay straight", () => {
  for (const sign of graphemes("●…“é日✅✗👩‍👩‍👧ﬁ½１２\u00a0─├")) {
    assertEquals([sign, displayWidth(asciiSign(sign))], [sign, displayWidth(sign)]);
  }
});
