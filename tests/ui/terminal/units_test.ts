import { assertEquals } from "@std/assert";
import {
  entryUnits,
  isFolded,
  pastedUnits,
  textPartOf,
  type Unit,
} from "../../../src/ui/terminal/units.ts";
import type { TextRange } from "../../../src/types/message.ts";

/** Units as text, inert ones as `#`. */
const marked = (units: readonly Unit[]) =>
  units.map((unit) => typeof unit === "string" ? unit : "#").join("");

Deno.test("an earlier text of more than 20 000 characters is one unit", () => {
  assertEquals(entryUnits("x".repeat(20_000)).length, 20_000);
  const text = "x".repeat(20_001);
  assertEquals(entryUnits(text), [{ text, label: "[20001 characters]" }]);
  assertEquals(entryUnits("a\r\nb\rc").join(""), "a\nb\nc");
});

Deno.test("a paste of more than 20 lines or 2048 characters is one unit", () => {
  const rows: [text: string, label: string | undefined][] = [
    ["\n".repeat(20), undefined],
    ["\n".repeat(21), "[pasted 21 lines]"],
    ["x".repeat(2048), undefined],
    ["x".repeat(2049), "[pasted 2049 characters]"],
  ];
  for (const [text, label] of rows) {
    const units = pastedUnits(text);
    assertEquals(units, label === undefined ? text.split("") : [{ text, label }]);
    assertEquals(units.some(isFolded), label !== undefined);
  }
});

Deno.test("a large paste of an earlier text is folded again", () => {
  const lines = "line\n".repeat(30);
  const text = `see ${lines} and @a`;
  const end = 4 + lines.length;
  const units = entryUnits({ text, pasted: [[4, end], [end + 5, end + 7]] });
  const label = "[pasted 30 lines]";
  assertEquals(units, [
    ..."see ",
    { text: lines, label },
    ..." and ",
    { text: "@", label: "@" },
    "a",
  ]);
  assertEquals(textPartOf(units).text, text);
});

Deno.test("R-06 an @ and a first character that were pasted are inert, and no others", () => {
  const ranges: TextRange[] = [[1, 3], [3, 4], [6, 7]];
  const units = entryUnits({ text: "@@a@@b@@", pasted: ranges });
  assertEquals([marked(units), units.some(isFolded)], ["@#a#@b#@", false]);
  const pasted = [[1, 2], [3, 4], [6, 7]] as const;
  assertEquals(textPartOf(units), { type: "text", text: "@@a@@b@@", pasted });
  assertEquals(marked(entryUnits({ text: "/a /b", pasted: [[0, 5]] })), "#a /b");
  assertEquals(marked(entryUnits({ text: "/a @b", pasted: [[1, 5]] })), "/a #b");
  assertEquals(marked(pastedUnits("/a @b")), "/a #b");
  assertEquals(textPartOf(["a"]), { type: "text", text: "a" });
  // The file of the history may have been edited.
  for (const odd of [[[4, 9000], [2, 5]], [[-9, 700]], [[500, 3]]] as const) {
    assertEquals(textPartOf(entryUnits({ text: "see @a", pasted: odd })).text, "see @a");
  }
});
