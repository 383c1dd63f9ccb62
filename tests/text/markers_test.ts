import { assertEquals } from "@std/assert";
import { MarkerReader } from "../../src/text/markers.ts";

/** The markers in a text that comes in pieces of `step` characters, and the text around them. */
function read(text: string, step: number): [markers: string[], rest: string] {
  const reader = new MarkerReader(["<ab:invoke name=", "<*:invoke name=", "<*:calls>"]);
  const markers: string[] = [];
  let rest = "";
  for (let at = 0; at <= text.length; at += step) {
    const isLast = at + step > text.length;
    reader.push(text.slice(at, at + step));
    for (;;) {
      const found = reader.next(isLast);
      rest += found.text;
      if (found.marker === undefined) break;
      markers.push(found.marker);
      reader.drop();
    }
  }
  return [markers, rest];
}

Deno.test("a marker is found in capitals, and no other sign stands for one of it", () => {
  for (
    const [text, isFound] of [["<AZ[", true], ["<az[", true], ["<az{", false], ["<`z[", false]]
  ) {
    const reader = new MarkerReader(["<az["]);
    reader.push(`${text}`);
    assertEquals(reader.next(true).marker !== undefined, isFound, `${text}`);
  }
});

/** Texts, the markers in them, and what is left. */
const TEXTS: [text: string, markers: string[], rest: string][] = [
  ["a <zorg:invoke name=b", ["<zorg:invoke name="], "a b"],
  ["<My-Tool.v2:CALLS>x", ["<My-Tool.v2:CALLS>"], "x"],
  ["<ab:invoke name=x", ["<ab:invoke name="], "x"],
  ["<1a:calls>", [], "<1a:calls>"],
  ["<a:call>", [], "<a:call>"],
  ["<:calls>", [], "<:calls>"],
  ["a < b:calls> <b", [], "a < b:calls> <b"],
  ["<aaaaaaaaaaaaaaaaaaaaaaaaa:calls>", [], "<aaaaaaaaaaaaaaaaaaaaaaaaa:calls>"],
  ["`<a:calls>`", [], "`<a:calls>`"],
];

for (const [text, markers, rest] of TEXTS) {
  Deno.test(`markers in any namespace: ${text}`, () => {
    for (const step of [1, 2, 3, 5, 100]) assertEquals(read(text, step), [markers, rest]);
  });
}
