import { assert, assertEquals } from "@std/assert";
import { extractToolCallsFromText, ToolCallFilter } from "../../../src/models/toolcalls/extract.ts";
import type { ToolCallOptions } from "../../../src/models/toolcalls/scan.ts";
import {
  fenced,
  type Found,
  known,
  NOW,
  now,
  READ,
  rows,
  tagged,
  unknown,
} from "../../fixtures/toolcalls/extracted.ts";
import { forEveryTextSplit } from "../../helpers/split.ts";

const KNOWN: ToolCallOptions = { tools: ["read_file", "write_file", "now"], newId: () => "id" };
const ANY: ToolCallOptions = { newId: () => "id" };

function check(text: string, options: ToolCallOptions, expected: Found[], rest: string): void {
  const [cleaned, calls] = extractToolCallsFromText(text, options);
  assertEquals(cleaned, rest);
  assertEquals(calls?.length ?? 0, expected.length);
  if (expected.length === 0) assertEquals(calls, null);
  for (const [i, { invalid, ...call }] of expected.entries()) {
    // Of a call beside text, another test says whether it may only be shown.
    const { invalid: given, mayBeShown: _, ...found } = calls![i]!;
    assertEquals(found, { id: "id", recovered: true, arguments: {}, ...call });
    assertEquals(given?.reason.includes(invalid!) ?? false, invalid !== undefined, given?.reason);
  }
}

function filtered(pieces: string[], options: ToolCallOptions): string {
  const filter = new ToolCallFilter(options);
  return pieces.map((piece) => filter.push(piece)).join("") + filter.end().text;
}

const CASES = [
  ["names known", KNOWN, [...rows, ...known]],
  ["names unknown", ANY, [...rows, ...unknown]],
] as const;
for (const [what, options, table] of CASES) {
  for (const [name, text, calls, rest] of table) {
    Deno.test(`extractToolCallsFromText, ${what}: ${name}`, () =>
      check(text, options, calls, rest));
    if (text.length > 10_000) continue;
    Deno.test(`ToolCallFilter, ${what}: ${name}, on every split`, () => {
      forEveryTextSplit(text, (pieces) => assertEquals(filtered(pieces, options), rest));
    });
  }
}

Deno.test("extractToolCallsFromText: only a call in code that text follows, or that another language leads to, may be shown", () => {
  const json = '{"name": "run_bash", "arguments": {"command": "ls"}}';
  const options = { tools: ["run_bash"] };
  const mayBeShown = (text: string) =>
    extractToolCallsFromText(text, options)[1]?.map((call) => call.mayBeShown === true);
  assertEquals(mayBeShown(fenced(json)), [false]);
  assertEquals(mayBeShown(`I will look.\n\n${fenced(json)}`), [false]);
  assertEquals(mayBeShown(`${fenced(json)}\n\nSag Bescheid.`), [true]);
  assertEquals(mayBeShown(`Das würde ich aufrufen:\n\n${fenced(json)}`), [true]);
  assertEquals(mayBeShown(`Das würde ich aufrufen:\n\n${json}`), [true]);
  assertEquals(mayBeShown(`Ich rufe auf:\n\n${tagged(json)}\n\nSag Bescheid.`), [false]);
});

Deno.test("extractToolCallsFromText: no tools, no calls", () => {
  check(tagged(READ), { tools: [] }, [], tagged(READ));
});

Deno.test("extractToolCallsFromText: an invalid call holds what the model wrote", () => {
  const [, calls] = extractToolCallsFromText('<toolcall>{"name": "now", "arguments": {"a": "b');
  assertEquals(calls![0]!.invalid!.text, '{"name": "now", "arguments": {"a": "b');
  const [, broken] = extractToolCallsFromText(tagged('{"name": "now", "a": "b"c"}'));
  assertEquals(broken![0]!.invalid!.text, '{"name": "now", "a": "b"c"}');
});

const live: [piece: string, shown: string][] = [
  ["Let me look.\n\n<", "Let me look."],
  ["b> and <tool", "\n\n<b> and"],
  ["box> `<tool", " <toolbox> `<tool"],
  ["call>` <toolcall>", "call>`"],
  [" <", ""],
  ["toolcall>{", " <toolcall>"],
  ['"name": "a b"', ' <toolcall>{"name": "a b"'],
  ['}</toolcall> <toolcall>{"name": "now', "}</toolcall>"],
  ['", "arguments": {"a": "b', ""],
  ['"}}', ""],
  ["\n</tool", ""],
  ["call>", ""],
  ["\nThen:\n``", ""],
  ["`js", ""],
];

const rejected: [piece: string, shown: string][] = [
  ["a\n``", "a"],
  ["`js", ""],
  ["x\n{", "\n```jsx\n{"],
  ["}\n```\n```json", "}\n```"],
  ["\n{", ""],
  ['"name": "pkg",', '\n```json\n{"name": "pkg",'],
  ['\n"a": 1}\n```\n', '\n"a": 1}\n```'],
  ["x < y", "\nx < y"],
  ["\n<pre>", "\n<pre>"],
  [tagged(NOW), ""],
  ["</pre", ""],
  [">x", `${tagged(NOW)}</pre>x`],
  ["\n<think>", "\n<think>"],
  ["b\n<toolcall>", "b"],
  [`{"name": "now"}</toolcall>`, ""],
  ["\n", ""],
  ["x", '\n<toolcall>{"name": "now"}</toolcall>\nx'],
];

Deno.test("ToolCallFilter holds back no more than what may be a call, and white space", () => {
  const filter = new ToolCallFilter(KNOWN);
  for (const [i, [piece, shown]] of live.entries()) {
    assertEquals(filter.push(piece), shown, `${i}: ${piece}`);
  }
  assertEquals(filter.end().text, "\nThen:\n```js");
  const other = new ToolCallFilter(KNOWN);
  for (const [i, [piece, shown]] of rejected.entries()) {
    assertEquals(other.push(piece), shown, `${i}: ${piece}`);
  }
});

Deno.test("ToolCallFilter: beside a native call, marked calls are dropped, wherever it came", () => {
  const texts = [
    [`a ${tagged(NOW)} b\n`, "a b\n"],
    [`${tagged(NOW)}`, ""],
    ["a\n```js", "a\n```js"],
    [`a\n${fenced(NOW)}\nb`, `a\n${fenced(NOW)}\nb`],
    [`a \`\n${tagged(NOW)} b`, "a `\nb"],
    [`a ${tagged('{"name": "now", "arguments": {"x": "</think>"}}')} b`, "a b"],
  ] as const;
  for (const [text, left] of texts) {
    for (let at = 0; at <= text.length; at++) {
      const filter = new ToolCallFilter(KNOWN);
      const shown = filter.push(text.slice(0, at)) + filter.onNativeCall() +
        filter.push(text.slice(at));
      const { text: rest, calls } = filter.end();
      assertEquals([shown + rest, calls], [left, []], `${text}, released at ${at}`);
    }
  }
});

Deno.test("extractToolCallsFromText: without fences, without think tags", () => {
  check(`${fenced(READ)}\n${tagged(NOW)}`, { ...KNOWN, fences: false }, [now], fenced(READ));
  check(`<think>${tagged(NOW)}</think>`, { ...KNOWN, thinkTags: false }, [now], "<think></think>");
});

Deno.test("extractToolCallsFromText: nested 10 000 deep is no call to be run", () => {
  const deep = `{"name": "now", "arguments": ${'{"a":'.repeat(10_000)}1${"}".repeat(10_001)}`;
  for (const text of [tagged(deep), fenced(deep)]) {
    const [, calls] = extractToolCallsFromText(text, KNOWN);
    assert(calls![0]!.invalid!.reason.includes("not valid"));
  }
});

Deno.test("ToolCallFilter shows at once what can be no call", () => {
  const rejected: [text: string, options: ToolCallOptions][] = [
    ['```json\n{"name": "now", <', ANY],
    ['```json\n{"name": "zip", ', KNOWN],
    ['<toolcall>{"name": "a b", ', KNOWN],
    ["<toolcall>{}}", KNOWN],
    ["<toolcall>x", KNOWN],
    ["```jsonc", KNOWN],
    ["`````json5", KNOWN],
    ['{"files": 1, ', KNOWN],
    ['[{"name": "a b", ', KNOWN],
  ];
  for (const [text, options] of rejected) {
    assertEquals(new ToolCallFilter(options).push(text), text.trimEnd());
  }
});
