import { assertEquals } from "@std/assert";
import { parsePythonCalls } from "../../../src/models/toolcalls/python_calls.ts";

const literal = (text: string) => parsePythonCalls(`f(${text})`)?.[0]?.positional[0];

const LITERALS: [text: string, value: unknown][] = [
  ["True", true],
  ["False", false],
  ["None", null],
  ["true", true],
  ["false", false],
  ["null", null],
  [" 1 ", 1],
  ["-1.5e3", -1500],
  ["'a'", "a"],
  ['"it\'s"', "it's"],
  ["''", ""],
  ["'''a\n'b''c'''", "a\n'b''c"],
  ['"""a"b"""', 'a"b'],
  ["'\\n\\t\\r\\b\\f\\\\\\'\\\"'", "\n\t\r\b\f\\'\""],
  ["'\\u00e9\\U'", "é\\U"],
  ["'\\d\\q'", "\\d\\q"],
  ["'a\\\nb'", "a\\\nb"],
  ["r'\\n\\x41'", "\\n\\x41"],
  ["R'\\d'", "\\d"],
  ["[]", []],
  ["[1, 'a', [2]]", [1, "a", [2]]],
  ["[1, ]", [1]],
  ["{}", {}],
  ["{'a': 1, \"b\": {'c': None},}", { a: 1, b: { c: null } }],
  ["{'__proto__': 1}", JSON.parse('{"__proto__": 1}')],
  [`${"[".repeat(101)}${"]".repeat(101)}`, JSON.parse(`${"[".repeat(101)}${"]".repeat(101)}`)],
];

for (const [text, value] of LITERALS) {
  Deno.test(`a literal of Python: ${JSON.stringify(text).slice(0, 60)}`, () =>
    assertEquals(literal(text), value));
}

const NO_LITERALS = [
  "'\\x41'",
  "",
  "nothing",
  "constructor",
  "'a",
  "'a\\",
  "'''a'",
  "[1",
  "[1 2]",
  "[,]",
  "(1]",
  "{'a'}",
  "{'a': }",
  "1 2",
  "'a' b",
  "+",
  "f(1)",
  `${"[".repeat(103)}${"]".repeat(103)}`,
];

for (const text of NO_LITERALS) {
  Deno.test(`no literal of Python: ${JSON.stringify(text).slice(0, 60)}`, () =>
    assertEquals(literal(text), undefined));
}

type Call = [name: string, positional: unknown[], named: Record<string, unknown>];
const CALLS: [text: string, calls: Call[] | undefined][] = [
  ["f()", [["f", [], {}]]],
  [" f( ) ", [["f", [], {}]]],
  ["f(1, 'a', b=2, c = [3],)", [["f", [1, "a"], { b: 2, c: [3] }]]],
  ["f(a=1)\ng()", [["f", [], { a: 1 }], ["g", [], {}]]],
  ["[f(), g(1)]", [["f", [], {}], ["g", [1], {}]]],
  ["[f(),]", [["f", [], {}]]],
  ["print(f(1))", [["f", [1], {}]]],
  ["print(print(f()))", [["f", [], {}]]],
  ["", undefined],
  ["[]", undefined],
  ["[f(), g()", undefined],
  ["[f() g()]", undefined],
  ["f(1", undefined],
  ["f(a==1)", undefined],
  ["f(1 2)", undefined],
  ["f", undefined],
  ["f() and more", undefined],
  ["print(f()", undefined],
  ["1(2)", undefined],
];

for (const [text, calls] of CALLS) {
  Deno.test(`${calls ? "calls" : "no calls"} of Python: ${JSON.stringify(text)}`, () => {
    const found = parsePythonCalls(text)?.map(({ name, positional, named }) =>
      [name, positional, named] as Call
    );
    assertEquals(found, calls);
  });
}
