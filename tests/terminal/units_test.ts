import { assertEquals } from "@std/assert";
import { entryUnits, isFolded, keptRanges, textPartOf } from "../../src/terminal/units.ts";
import type { TextRange } from "../../src/types/message.ts";

/** What another program makes of a text whose pasted characters are capitals; kept ones are. */
const EDITED: [before: string, after: string, kept: string][] = [
  ["abCDef", "abcdef", "abCDef"],
  ["", "new", "new"],
  ["ABC", "", ""],
  // Text before and behind what was pasted, and between two pastes.
  ["abCD", "xabcd", "xabCD"],
  ["abCD", "abcdx", "abCDx"],
  ["abCDe", "abcdxe", "abCDxe"],
  ["ABcDE", "abxcde", "ABxcDE"],
  ["ABcDE", "abxde", "ABxDE"],
  // What was put into a paste is a part of it.
  ["aBCd", "abxcd", "aBXCd"],
  // What replaced it, or a part of it, is taken for pasted.
  ["aBCd", "axyd", "aXYd"],
  ["aBCd", "abxd", "aBXd"],
  ["aBCd", "axcd", "aXCd"],
  ["aBCd", "axd", "aXd"],
  // What was removed leaves the rest as it was.
  ["aBCd", "ad", "ad"],
  ["aBCd", "abd", "aBd"],
  ["aBCd", "bcd", "BCd"],
  ["aBCd", "abc", "aBC"],
];

Deno.test("R-06 what was pasted stays known as that when another program edits the line", () => {
  for (const [before, after, kept] of EDITED) {
    const pasted = [...before.matchAll(/[A-Z]+/g)]
      .map(({ index, 0: { length } }): TextRange => [index, index + length]);
    const text = before.toLowerCase();
    const ranges = keptRanges({ type: "text", text, pasted }, after);
    const shown = Array.from(
      after,
      (char, at) => ranges.some(([from, to]) => from <= at && at < to) ? char.toUpperCase() : char,
    );
    assertEquals(shown.join(""), kept, `${before} to ${after}`);
  }
  assertEquals(keptRanges({ type: "text", text: "abc" }, "abxc"), []);
});

Deno.test("an earlier text of more than 20 000 characters is one unit", () => {
  assertEquals(entryUnits("x".repeat(20_000)).length, 20_000);
  assertEquals(entryUnits("x".repeat(20_001)), [
    { text: "x".repeat(20_001), label: "[20001 characters]", pasted: [] },
  ]);
  assertEquals(entryUnits("a\r\nb\rc").join(""), "a\nb\nc");
});

Deno.test("a large paste in an earlier text is one unit again", () => {
  const paste = "line @a\n".repeat(60);
  const text = `see ${paste} and @b`;
  const ranges = [[4, 4 + paste.length], [text.length - 2, text.length - 1]] as const;
  const units = entryUnits(text, ranges);
  assertEquals(units.filter((unit) => typeof unit !== "string"), [
    { text: paste, label: "[pasted 61 lines]" },
    { text: "@", label: "@" },
  ]);
  assertEquals(textPartOf(units), { type: "text", text, pasted: ranges });
  // A file of the history may have been edited.
  for (const odd of [[[4, 9000], [2, 5]], [[-9, 700]], [[500, 3]]] as const) {
    assertEquals(textPartOf(entryUnits(text, odd)).text, text);
  }
});

Deno.test("R-06 each @ within a pasted range is a unit of its own, and no other", () => {
  const ranges = [[1, 3], [3, 4], [6, 7]] as const;
  const units = entryUnits("@@a@@b@@", ranges);
  assertEquals(units.map((unit) => typeof unit === "string" ? unit : "#").join(""), "@#a#@b#@");
  assertEquals(units.some(isFolded), false);
  assertEquals(textPartOf(units), {
    type: "text",
    text: "@@a@@b@@",
    pasted: [[1, 2], [3, 4], [6, 7]],
  });
  assertEquals(textPartOf(["a"]), { type: "text", text: "a" });
});
