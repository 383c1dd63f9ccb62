import { assertEquals } from "@std/assert";
import type { CallContext } from "../../../src/models/toolcalls/format.ts";
import {
  jsonArguments,
  taggedArguments,
  typedValue,
} from "../../../src/models/toolcalls/values.ts";

const context = {
  tools: new Set(["f"]),
  schemas: {
    f: {
      properties: {
        text: { type: "string" },
        either: { type: ["string", "integer"] },
        count: { type: "integer" },
        list: { type: "array" },
      },
    },
  },
} as unknown as CallContext;

Deno.test("arguments as JSON may stand in a block of code, or in a string", () => {
  const rows: [body: string, args: unknown][] = [
    ["", {}],
    ["```json\n```", {}],
    [' {"a": 1} ', { a: 1 }],
    ['```json\n{"a": 1}\n```', { a: 1 }],
    ['"{\\"a\\": 1}"', { a: 1 }],
    ["[1]", undefined],
    ['"text"', undefined],
    ["text", undefined],
  ];
  for (const [body, args] of rows) assertEquals(jsonArguments(body), args as never, body);
});

Deno.test("values without types are read as the schema has them, or as they look", () => {
  const rows: [text: string, key: string, value: unknown, name?: string][] = [
    ["7", "text", "7"],
    ["7", "either", "7"],
    ["7", "count", 7],
    ["[1, 2]", "list", [1, 2]],
    ["True", "other", true],
    [" None ", "other", null],
    ["False", "text", "False"],
    ["a b", "other", "a b"],
    ["\n7\n", "count", 7],
    ["\na\nb\n", "text", "a\nb"],
    ["a\nb\n", "text", "a\nb\n"],
    ["a\n", "text", "a\n"],
    ["\na", "text", "a"],
    ["7", "count", "7", "g"],
  ];
  for (const [text, key, value, name = "f"] of rows) {
    assertEquals(typedValue(text, key, name, context), value, JSON.stringify(text));
  }
  const anyTool = { ...context, tools: undefined } as unknown as CallContext;
  assertEquals(typedValue("7", "count", "g", anyTool), 7);
});

Deno.test("arguments between marks are read one by one, also where a mark lacks", () => {
  const open = /<p=(?<key>\w+)>/;
  const rows: [body: string, args: Record<string, unknown> | undefined][] = [
    ["", {}],
    [" \n", {}],
    ["<p=text>a</p>\n<p=count>7</p>", { text: "a", count: 7 }],
    ["<p=text>a", undefined],
    ["x<p=text>a</p>", undefined],
    ["<p=text>a</p>x", undefined],
    // Text behind a mark shows that the value goes on, and another mark that it was doubled.
    ["<p=text>a</p> b</p>", { text: "a</p> b" }],
    ["<p=text>a</p></p><p=count>7</p>", { text: "a", count: 7 }],
    // The value before another parameter lacks its own mark.
    ["<p=text>a\n<p=count>7</p>", { text: "a", count: 7 }],
    // A name that is none of the tool's is text, as is one that is there already.
    ["<p=text>a\n<p=none>7</p>", { text: "a\n<p=none>7" }],
    ["<p=text>a\n<p=text>7</p>", { text: "a\n<p=text>7" }],
    ["<p=count>1</p><p=text>a\n<p=count>7</p>", { count: 1, text: "a\n<p=count>7" }],
    ["<p=list>[1]</p>\n<p=text>a\n<p=count>7</p>", { list: [1], text: "a", count: 7 }],
  ];
  for (const [body, args] of rows) {
    assertEquals(taggedArguments(body, open, /<\/p>/, "f", context), args, body);
  }
});
