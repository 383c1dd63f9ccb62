import { assertEquals } from "@std/assert";
import { isSameJson, jsonErrorPlace } from "../../src/text/json.ts";

Deno.test("jsonErrorPlace finds where text is no longer JSON", () => {
  const rows: [text: string, errorAt: number][] = [
    ['{"a": 1,}', 8],
    ['{"a" 1}', 5],
    ['{"a": 1 "b": 2}', 8],
    ["{a: 1}", 1],
    ['{"a": tru}', 6],
    ['{"a": 01}', 6],
    ['{"a": [1}', 8],
    ['{"a": "x\ny"}', 6],
    ['{"a": 1', 7],
    ["", 0],
    ["{} x", 3],
    ['{"a":}', 5],
    ['{"a"}', 4],
    ['{"a",}', 4],
    ["{,}", 1],
    ["[1,]", 3],
    ["[[]", 3],
    ["[]]", 2],
    ["}", 0],
    ["{]", 1],
    ["[,]", 1],
    ['{\n "a": {"b": 1},\n  b}', 20],
  ];
  for (const [text, errorAt] of rows) {
    const lines = text.slice(0, errorAt).split("\n");
    const place = `line ${lines.length}, column ${lines.at(-1)!.length + 1}`;
    assertEquals(jsonErrorPlace(text), place, text);
  }
});

Deno.test("isSameJson ignores the order of keys, and never throws", () => {
  const [one, other] = [{ a: 1, b: [{ c: 2, d: null }] }, { b: [{ d: null, c: 2 }], a: 1 }];
  assertEquals(isSameJson(one, other), true);
  assertEquals(isSameJson([1, 2], [2, 1]), false);
  assertEquals(isSameJson({ a: 1 }, { a: 1, b: 1 }), false);
  assertEquals(isSameJson("1", 1), false);
  const deep = JSON.parse("[".repeat(200_000) + "]".repeat(200_000));
  assertEquals(isSameJson([], deep), false);
});
