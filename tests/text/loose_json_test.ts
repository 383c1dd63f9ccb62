import { assertEquals } from "@std/assert";
import { hasTwoReadings, parseLooseJson } from "../../src/text/loose_json.ts";

/** A text, its value, and the slips in it. */
const READ: [text: string, value: unknown, slips?: string][] = [
  ['{"a": [1, -2.5e3, true, null, "x"], "b": {}}', { a: [1, -2500, true, null, "x"], b: {} }],
  ["[]", []],
  [" 7 ", 7],
  ["```json\n{}\n```", {}, "a code fence"],
  ['{\\"a\\": \\"b\\"}', { a: "b" }, "escaped quotes"],
  ['"a": 1}', { a: 1 }, "a missing {"],
  ["{a: 1, $b-c: 2}", { a: 1, "$b-c": 2 }, "keys without quotes"],
  ["{'a': 'b'}", { a: "b" }, "single quotes"],
  ["{“a”: ‘b’}", { a: "b" }, "curly quotes"],
  ['{"a": `b`}', { a: "b" }, "backticks"],
  ['{"a" = 1, "b" => 2}', { a: 1, b: 2 }, "= for :, => for :"],
  ['{"a": True, "b": None}', { a: true, b: null }, "True, None"],
  ['{"a": 1,}', { a: 1 }, "a trailing comma"],
  ["[1,]", [1], "a trailing comma"],
  ['{"a": 1 "b": 2}', { a: 1, b: 2 }, "a missing comma"],
  ['{"a": 1}}', { a: 1 }, "an extra }"],
  ['{"a": 1} ]', { a: 1 }, "an extra ]"],
  ['{"a": "b"', { a: "b" }, "a missing }"],
  ['{"a": ["b"', { a: ["b"] }, "a missing ], a missing }"],
  ['{"a": true', { a: true }, "a missing }"],
  ['{"a": {"b": 1}', { a: { b: 1 } }, "a missing }"],
  ['{"a": [1]', { a: [1] }, "a missing }"],
  ['{"a": """b"""', { a: "b" }, '""" for quotes, a missing }'],
  ['{"a": 1};', { a: 1 }, "text after it"],
  ['{"a": 1}</tool_call>', { a: 1 }, "text after it"],
  ['{"a": 1}{"a": 1}', { a: 1 }, "the same object twice"],
  ['{"a": 1} {}', { a: 1 }, "an extra empty object"],
  ['{} {"a": 1}', { a: 1 }, "an extra empty object"],
  ['{"a": "b\nc\td"}', { a: "b\nc\td" }, "a line feed in a string, a tab in a string"],
  ['{"a": "\\n\\u0041\\"\\\\\\/"}', { a: '\nA"\\/' }],
  ['{"a": "it\\\'s"}', { a: "it's" }, "\\'"],
  ['{"a": "\\d\\."}', { a: "\\d\\." }, "\\d for \\\\d, \\. for \\\\."],
  ['{"a": "b \\\n c"}', { a: "b \\\n c" }],
  ['{"a": """b "c" \\n"""}', { a: 'b "c" \n' }, '""" for quotes'],
  ['{"a": ""}', { a: "" }],
  ['// x\n{"a": /* y */ 1}', { a: 1 }, "a comment"],
];

for (const [text, value, slips = ""] of READ) {
  Deno.test(`loose JSON: ${JSON.stringify(text)}`, () => {
    const read = parseLooseJson(text);
    assertEquals("problem" in read ? read : [read.value, read.slips.join(", ")], [value, slips]);
  });
}

/** Texts without a value, and why. */
const REFUSED: [text: string, problem: string][] = [
  ["", "it ends before a value"],
  ['{"a": 1} {"a": 2}', "it contains two objects: make each its own call"],
  ['{"a": 1} and', 'text follows the object: "and"'],
  [`{"a": 1} ${"x".repeat(31)}`, `text follows the object: "${"x".repeat(30)}..."`],
  [`{"a": 1} ${"x".repeat(30)}`, `text follows the object: "${"x".repeat(30)}"`],
  ["yes", 'no value starts with "yes"'],
  ["&", 'no value starts with "&"'],
  ["{", "it ends before its }"],
  ['{"a": 1', "it ends before its }"],
  ['{"a"', "a colon is missing after a key"],
  ['{"a": 1, "a": 2}', "a key occurs twice"],
  ["{1: 2}", "a key is missing"],
  ["[1 2]", 'a comma or bracket is missing before "2"'],
  ['["a",', "it ends after a comma"],
  ['{"a": "b', "it ends within a string"],
  ['{"a": "b\\', "it ends within a string"],
  ['{"a": "\\u00g0"}', "\\u needs four hex digits"],
  ['{"a": "\\q"}', "\\q is no escape: write q or \\\\q"],
];

for (const [text, problem] of REFUSED) {
  Deno.test(`no loose JSON: ${JSON.stringify(text)}`, () => {
    assertEquals(parseLooseJson(text), { problem });
  });
}

Deno.test("loose JSON: only so many brackets may lack, and so many levels be there", () => {
  const lacking = (mayLack: number) => "problem" in parseLooseJson('{"a": ["b"', { mayLack });
  assertEquals([0, 1, 2].map(lacking), [true, true, false]);
  const deep = (levels: number) => parseLooseJson("[".repeat(levels) + "]".repeat(levels));
  assertEquals("problem" in deep(101), false);
  assertEquals(deep(102), { problem: "it is nested deeper than 100 levels" });
});

Deno.test("hasTwoReadings tells a key that stands twice with two values", () => {
  const rows: [json: string, isSo: boolean][] = [
    ['{"a": 1, "a": 2}', true],
    ['{"a": 1, "a" : 1}', false],
    ['{"a": 1}', false],
    ['[{"a": 1}]', false],
    ['{"a": {"b": [{"c": "x", "\\u0063": "y"}]}}', true],
    ['[{"a": 1}, {"a": 2}]', false],
    ['{"a": "\\"b\\": 1, \\\\", "b": "a"}', false],
    ['["a", "b"]', false],
  ];
  for (const [json, isSo] of rows) assertEquals(hasTwoReadings(json), isSo, json);
});
