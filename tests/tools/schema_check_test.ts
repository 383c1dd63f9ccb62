import { assertEquals } from "@std/assert";
import { schemaObjection, uncheckable } from "../../src/tools/schema_check.ts";
import type { JsonSchema } from "../../src/types/tool.ts";

const tree: JsonSchema = {
  $defs: {
    node: {
      type: "object",
      properties: { name: { type: "string" }, next: { $ref: "#/$defs/node" } },
      required: ["name"],
      additionalProperties: false,
    },
  },
  $ref: "#/$defs/node",
};

const ROWS: [schema: JsonSchema, value: unknown, objection?: string][] = [
  [{ type: "integer" }, 3],
  [{ type: "integer" }, 3.0e20],
  [{ type: "integer" }, "3", 'the answer must be of type integer: it is "3"'],
  [{ type: ["string", "null"] }, null],
  [{ enum: [1, { a: [2], b: 3 }] }, { b: 3, a: [2] }],
  [{ enum: ["x", "y"] }, "z", 'the answer must be one of "x", "y": it is "z"'],
  [{ const: { a: 1 } }, { a: 2 }, 'the answer must be {"a":1}'],
  [{ properties: { age: { minimum: 0 } } }, { age: -1 }, "age must be at least 0: it is -1"],
  [{ exclusiveMaximum: 1 }, 1, "the answer must be less than 1: it is 1"],
  [{ multipleOf: 0.1 }, 0.3],
  [{ multipleOf: 5 }, 7, "the answer must be a multiple of 5: it is 7"],
  [{ maxLength: 2 }, "💡💡"],
  [{ minLength: 2 }, "💡", 'the answer must have at least 2 characters: it is "💡"'],
  [{ pattern: "^a+$" }, "ab", 'the answer must match the pattern ^a+$: it is "ab"'],
  [{ required: ["a", "b"] }, { a: 1 }, "b is missing"],
  [{ required: ["toString"] }, {}, "toString is missing"],
  [{ properties: { a: {} }, additionalProperties: false }, { a: 1, b: 2 }, "b must be left out"],
  [{ patternProperties: { "^x": { type: "number" } }, additionalProperties: false }, { x1: 1 }],
  [{ items: { type: "string" } }, ["a", 1], "[1] must be of type string: it is 1"],
  [{ prefixItems: [{ type: "string" }], items: false }, ["a", 1], "[1] must be left out"],
  [{ uniqueItems: true }, [{ a: 1, b: 2 }, { b: 2, a: 1 }], "the answer must not repeat an item"],
  [{ minItems: 1 }, [], "the answer must have at least 1 items: it is an array of 0 items"],
  [{ contains: { const: 1 } }, [2], "the answer must have other items: 0 fit what it must contain"],
  [{ anyOf: [{ type: "string" }, { type: "null" }] }, null],
  [{ oneOf: [{ minimum: 1 }, { maximum: 5 }] }, 3, "the answer must fit one form: it fits 2"],
  [{ not: { type: "string" } }, "x", 'the answer must not be "x"'],
  [
    { if: { required: ["a"] }, then: { required: ["b"] }, else: { required: ["c"] } },
    {},
    "c is missing",
  ],
  [{ dependentRequired: { a: ["b"] } }, { a: 1 }, "b is missing"],
  [
    { propertyNames: { maxLength: 1 } },
    { ab: 1 },
    'the key "ab" must have at most 1 characters: it is "ab"',
  ],
  [tree, { name: "a", next: { name: "b" } }],
  [tree, { name: "a", next: { nam: "b" } }, "next.name is missing"],
  [{ $ref: "#" }, 1, "the answer is nested too deep"],
];

Deno.test("a value is held against a schema as it is", () => {
  for (const [schema, value, objection] of ROWS) {
    assertEquals(uncheckable(schema), undefined, JSON.stringify(schema));
    assertEquals(schemaObjection(schema, value), objection, JSON.stringify({ schema, value }));
  }
});

Deno.test("a schema that cannot be checked is refused, wherever in it that stands", () => {
  for (
    const [schema, problem] of [
      [{ unevaluatedProperties: false }, 'the keyword "unevaluatedProperties" cannot be checked'],
      [{ items: { $dynamicRef: "#x" } }, 'the keyword "$dynamicRef" cannot be checked'],
      [{ $ref: "other.json" }, 'its reference "other.json" leads to nothing in the file'],
      [
        { anyOf: [{ $ref: "#/$defs/x" }] },
        'its reference "#/$defs/x" leads to nothing in the file',
      ],
      [{ pattern: "(" }, 'its pattern "(" is no regular expression'],
      [{ properties: { a: 1 } }, "a schema must be an object, true or false"],
    ] as const
  ) assertEquals(uncheckable(schema), problem);
});
