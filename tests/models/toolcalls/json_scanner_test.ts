import { assertEquals } from "@std/assert";
import { JsonScanner, parseLenientJson } from "../../../src/models/toolcalls/json_scanner.ts";

Deno.test("the end of a JSON value, or the first sign that none has there, however it is cut", () => {
  const rows: [text: string, found: object][] = [
    ["{}", { end: 2 }],
    ['[{"a":1}] more', { end: 9 }],
    ['{"a}":"]"}', { end: 10 }],
    ['{"\\"}":1}x', { end: 9 }],
    ['{"a\nb":1}', { end: 9 }],
    ['{"a', { inString: true }],
    ['{"a\\"', { inString: true }],
    ['{"a"', { inString: false }],
    ["", { inString: false }],
    ["a", { error: 0 }],
    ["1", { error: 0 }],
    ["{b", { error: 1 }],
    ["[1}", { error: 2 }],
    ["{]", { error: 1 }],
    ["[é", { error: 1 }],
    [`${"[".repeat(100)}${"]".repeat(100)}`, { end: 200 }],
    ["[".repeat(101), { error: 100 }],
  ];
  for (const [text, found] of rows) {
    assertEquals<object>(new JsonScanner().scan(text, 0), found, text);
    assertEquals<object>(new JsonScanner().scan(`x${text}`, 1), moved(found, 1), text);
    for (let cut = 0; cut < text.length; cut++) {
      const scanner = new JsonScanner();
      const first = scanner.scan(text.slice(0, cut), 0);
      if (first.end !== undefined || first.error !== undefined) continue;
      assertEquals<object>(scanner.scan(text, cut), found, `${text} cut at ${cut}`);
    }
  }
});

const moved = (found: object, by: number) =>
  Object.fromEntries(
    Object.entries(found).map(([key, at]) => [key, typeof at === "number" ? at + by : at]),
  );

Deno.test("JSON is read with the mistakes that have one reading mended, and with no others", () => {
  const rows: [text: string, value: unknown][] = [
    [' {"a": 1} ', { a: 1 }],
    ['{"a": 1,}', { a: 1 }],
    ['{"a": [1, 2 ,\n], }', { a: [1, 2] }],
    ['{"a": ",]", "b": [",",],}', { a: ",]", b: [","] }],
    ['{"a": [,]}', undefined],
    ['{"a": [1,,]}', undefined],
    ['{"a": "b\nc\td"}', { a: "b\nc\td" }],
    ['{"a": "it\\\'s"}', { a: "it's" }],
    ['{"a": "b\\\nc"}', { a: "b\\\nc" }],
    ['{"a": "\\\\\n\\"\u0001"}', { a: '\\\n"\u0001' }],
    ['{{"a": {"b": 1}}}', { a: { b: 1 } }],
    ['{{"a": {{"b": "}}"}}}}', { a: { b: "}}" } }],
    ['{{"a": 1}}', { a: 1 }],
    ['{{"a": {"b": {"c": 1}}}}', { a: { b: { c: 1 } } }],
    ["{{}}", {}],
    ['{"a": 1} x', undefined],
    ['{"a": 1', undefined],
    ['"a"', undefined],
    ["", undefined],
    ["{'a': 1}", undefined],
  ];
  for (const [text, value] of rows) assertEquals(parseLenientJson(text), value, text);
});
