import { assertEquals } from "@std/assert";
import {
  booleanField,
  readFrontmatter,
  textField,
} from "../../../src/extensions/skills/frontmatter.ts";

const ROWS: [head: string, fields: Record<string, unknown>][] = [
  ["name: pdf\ndescription: Reads: all of it, at http://x.org", {
    name: "pdf",
    description: "Reads: all of it, at http://x.org",
  }],
  [`a: "x: \\"y\\" \\u0041" # note\nb: 'it''s' # note\nc: plain # note\nd: a#b`, {
    ...{ a: 'x: "y" A', b: "it's", c: "plain", d: "a#b" },
  }],
  ["description: >\n  two\n  lines\n\n  more\nname: x", {
    description: "two\nlines\n\nmore",
    name: "x",
  }],
  ["text: |-\n  one\n    two\nname: x", { text: "one\ntwo", name: "x" }],
  ["description: begins\n  goes on\nname: x", { description: "begins goes on", name: "x" }],
  ["tools: [Read, 'a, b', Bash(git:*)]\nother: [ ]", {
    tools: ["Read", "a, b", "Bash(git:*)"],
    other: [],
  }],
  ['tools:\n  - Read\n  - "Write"\nlist:\n- a\n- b', {
    tools: ["Read", "Write"],
    list: ["a", "b"],
  }],
  ['metadata:\n  author: me\n  version: "1.0"\n# note\n\nname: x', {
    metadata: 'author: me version: "1.0"',
    name: "x",
  }],
  ["a: # note\n  - b\n  # note\n  -\nc:\n  x\n  y: z", { a: ["b", ""], c: "x y: z" }],
  ["a: >\n\n  b\n\n\n  c\n    d\ne: |+2 # note\n  f\n", { a: "b\n\n\nc\nd", e: "f" }],
  [`a: "\\n\\t\\u0071" #\nb: ['a', "b, c", d] # note`, { a: "\n\tq", b: ["a", "b, c", "d"] }],
  ["last:\n  - a", { last: ["a"] }],
  ["empty:\nname: x\n: none\n??\n__proto__: y", { empty: "", name: "x", ["__proto__"]: "y" }],
];

for (const [head, fields] of ROWS) {
  Deno.test(`frontmatter: ${JSON.stringify(head)}`, () => {
    for (const end of ["\n", "\r\n"]) {
      const text = `---\n${head}\n---\nbody\n---\nmore`.replaceAll("\n", end);
      const read = readFrontmatter(text);
      assertEquals([{ ...read.fields }, read.body], [fields, "body\n---\nmore"]);
    }
  });
}

Deno.test("frontmatter: what has none is all text", () => {
  for (
    const text of ["", "name: x", "# Title\n---\nx: y\n---\n", "---\nname: x", "--- a\nb: c\n---\n"]
  ) {
    const { fields, body } = readFrontmatter(text);
    assertEquals([{ ...fields }, body], [{}, text]);
  }
  assertEquals(readFrontmatter("\ufeff---\na: b\n---").fields.a, "b");
});

Deno.test("frontmatter: fields have types", () => {
  const rows: [value: Parameters<typeof textField>[0], text?: string, yes?: boolean][] = [
    ["a", "a"],
    [["a", "b"], "a b"],
    [undefined],
    ["Yes", "Yes", true],
    ["on", "on", true],
    ["FALSE", "FALSE", false],
    ["off", "off", false],
    ["truest", "truest"],
    [["true"], "true"],
  ];
  for (const [value, text, yes] of rows) {
    assertEquals([textField(value), booleanField(value)], [text, yes]);
  }
});
