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

// deno-fmt-ignore
const ROWS: [schema: JsonSchema, value: unknown, objection?: string][] = [
  [{ type: "integer" }, "3", 'the value must be an integer: current value is "3"'],
  [{ enum: [1, { a: [2], b: 3 }] }, { b: 3, a: [2] }],
  [{ enum: ["x", "y"] }, "z", 'the value must be one of "x", "y": current value is "z"'],
  [{ const: { a: 1 } }, { a: 2 }, 'the value must be {"a":1}: current value is an object'],
  [{ properties: { age: { minimum: 0 } } }, { age: -1 }, "age must be at least 0: current value is -1"],
  [{ exclusiveMaximum: 1 }, 1, "the value must be less than 1: current value is 1"],
  [{ multipleOf: 5 }, 7, "the value must be a multiple of 5: current value is 7"],
  [{ maxLength: 2 }, "💡💡"],
  [{ minLength: 2 }, "💡", 'the value must have at least 2 characters: current value is "💡"'],
  [{ pattern: "^a+$" }, "ab", 'the value must match the pattern ^a+$: current value is "ab"'],
  [{ required: ["a", "b"] }, { a: 1 }, "b is missing"],
  [{ required: ["toString"] }, {}, "toString is missing"],
  [{ properties: { a: {} }, additionalProperties: false }, { a: 1, b: 2 }, "b must be left out"],
  [{ items: { type: "string" } }, ["a", 1], "[1] must be a string: current value is 1"],
  [{ prefixItems: [{ type: "string" }], items: false }, ["a", 1], "[1] must be left out"],
  [{ uniqueItems: true }, [{ a: 1, b: 2 }, { b: 2, a: 1 }], "the value must not repeat an item"],
  [{ minItems: 1 }, [], "the value must have at least 1 items: current value is an array of 0 items"],
  [{ oneOf: [{ minimum: 1 }, { maximum: 5 }] }, 3, "the value must fit one form: it fits 2"],
  [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, 'the key "ab" must have at most 1 characters: current value is "ab"'],
  [tree, { name: "a", next: { name: "b" } }],
  [tree, { name: "a", next: { nam: "b" } }, "next.name is missing"],
  [{ $ref: "#" }, 1, "the value is nested too deep"],
];

Deno.test("a value is held against a schema as it is", () => {
  for (const [schema, value, objection] of ROWS) {
    assertEquals(uncheckable(schema), undefined, JSON.stringify(schema));
    assertEquals(schemaObjection(schema, value), objection, JSON.stringify({ schema, value }));
  }
});

Deno.test("a schema that cannot be checked is refused, wherever in it that stands", () => {
  const nowhere = "leads to nothing in the file";
  const rows = [
    [{ unevaluatedProperties: false }, 'the keyword "unevaluatedProperties" cannot be checked'],
    [{ items: { $dynamicRef: "#x" } }, 'the keyword "$dynamicRef" cannot be checked'],
    [{ if: {}, then: {} }, 'the keyword "if" cannot be checked'],
    [{ $ref: "other.json" }, `its reference "other.json" ${nowhere}`],
    [{ anyOf: [{ $ref: "#/$defs/x" }] }, `its reference "#/$defs/x" ${nowhere}`],
    [
      { items: { type: ["null", "objekt"] } },
      'its type "objekt" must be one of object, array, string, number, integer, boolean, null',
    ],
    [{ pattern: "(" }, 'its pattern "(" is no regular expression'],
    [{ properties: { a: 1 } }, "a schema must be an object, true or false"],
  ] as const;
  for (const [schema, problem] of rows) assertEquals(uncheckable(schema), problem);
});

/** Values that a schema takes, and those that it does not. */
const FITS: [schema: JsonSchema, right: unknown[], wrong: unknown[]][] = [
  [{ type: "integer" }, [0, -1, 2 ** 60], [0.5, "1", null]],
  [{ type: ["string", "null"] }, ["", null], [0, false]],
  [{ type: "number" }, [0.5], [null]],
  [{ enum: "x" }, ["x", "y"], []],
  [{ minimum: 2 }, [2, 3, "1"], [1, 1.9]],
  [{ maximum: 2 }, [2, 1, "3"], [2.1]],
  [{ exclusiveMinimum: 2 }, [3], [2, 1]],
  [{ exclusiveMaximum: 2 }, [1], [2, 3]],
  [{ minimum: "2" }, [1], []],
  [{ multipleOf: 0.01 }, [0, 19.99, 1e12, -3.33], [0.005, 19.995]],
  [{ minLength: 2 }, ["ab", 1], ["a"]],
  [{ maxLength: 2 }, ["ab", "a", 123], ["abc"]],
  [{ minItems: 2 }, [[1, 2], "a"], [[1]]],
  [{ maxItems: 2 }, [[1, 2], "abc"], [[1, 2, 3]]],
  [{ pattern: "^a" }, ["ab", 5], ["ba"]],
  [{ uniqueItems: true }, [[1, "1", [1], { a: 1 }], "aa"], [[1, 1]]],
  [{ uniqueItems: false }, [[1, 1]], []],
  [{ prefixItems: [{ type: "string" }, true] }, [["a"], ["a", 1, 2], [], "a"], [[1], [1, "a"]]],
  [{ prefixItems: [true], items: { type: "string" } }, [[1, "a"], [1]], [["a", 1], [1, "a", 2]]],
  [{ items: { type: "string" } }, [["a"], [], 5], [[1]]],
  [{ required: ["a"] }, [{ a: undefined }, "b", ["a"]], [{}]],
  [{ properties: { a: { const: 1 } } }, [{}, { a: 1, b: 2 }, [], 5], [{ a: 2 }]],
  [{ additionalProperties: false }, [{}, 5, "ab"], [{ a: 1 }]],
  // The signs of a text are no fields, nor is its length.
  [{ propertyNames: { pattern: "^a" } }, [{ ab: 1 }, {}, 5, "xy"], [{ ab: 1, b: 1 }]],
  [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
  [{ anyOf: [{ maximum: 1 }, { minimum: 3 }] }, [1, 3], [2]],
  [{ oneOf: [{ maximum: 3 }, { minimum: 2 }] }, [1, 4], [2, 3]],
  [{ oneOf: [{ const: 1 }, { const: 2 }] }, [1, 2], [3]],
  [{ anyOf: 5, oneOf: 5, allOf: 5, required: 5, prefixItems: 5 }, [1, {}, [1]], []],
  [{ properties: { a: false } }, [{}], [{ a: 1 }]],
  [{ properties: { a: true } }, [{ a: 1 }], []],
  [{ $defs: { "a/b~": { const: 1 } }, $ref: "#/$defs/a~1b~0" }, [1], [2]],
  [{ allOf: [{ const: 1 }], anyOf: [{ $ref: "#/allOf/0" }] }, [1], [2]],
  [{ $ref: "#/$defs/a%20b", $defs: { "a b": { const: 1 } } }, [1], [2]],
  [{ format: "email", title: "x", deprecated: true }, ["no address"], []],
];

for (const [schema, right, wrong] of FITS) {
  Deno.test(`values of ${JSON.stringify(schema)}`, () => {
    assertEquals(uncheckable(schema), undefined);
    for (const value of right) assertEquals(schemaObjection(schema, value), undefined);
    for (const value of wrong) {
      assertEquals(typeof schemaObjection(schema, value), "string", JSON.stringify(value));
    }
  });
}

Deno.test("what is wrong is told with its place, and of several forms each thing once", () => {
  const form = (key: string) => ({ required: [key] });
  // deno-fmt-ignore
  const rows: [schema: JsonSchema, value: unknown, objection: string][] = [
    [{ items: { items: { maximum: 1 } } }, [[1], [0, 2]], "[1][1] must be at most 1: current value is 2"],
    [{ properties: { a: { items: form("b") } } }, { a: [{}] }, "a[0].b is missing"],
    [{ prefixItems: [form("b")] }, [{}], "[0].b is missing"],
    [{ additionalProperties: { type: "null" } }, { a: 1 }, "a must be null: current value is 1"],
    [{ type: ["null", "array"] }, 1, "the value must be null or an array: current value is 1"],
    [{ properties: { a: { const: [1] } } }, { a: 1 }, "a must be [1]: current value is 1"],
    [{ properties: { a: false } }, { a: 1 }, "a must be left out"],
    [{ anyOf: ["a", "a", "b"].map(form) }, {}, "a is missing, or b is missing"],
    [{ anyOf: ["a", "b", "c", "d", "e"].map(form) }, {}, "a is missing, or b is missing, or c is missing, or d is missing"],
    [{ oneOf: ["a", "b"].map(form) }, {}, "a is missing, or b is missing"],
    [{ exclusiveMinimum: 1 }, 1, "the value must be more than 1: current value is 1"],
    [{ maxLength: 1 }, "ab", 'the value must have at most 1 characters: current value is "ab"'],
    [{ maxItems: 0 }, [1], "the value must have at most 0 items: current value is an array of 1 items"],
  ];
  for (const [schema, value, objection] of rows) {
    assertEquals(schemaObjection(schema, value), objection);
  }
});

Deno.test("schemas are followed 200 deep, and references to nothing never throw", () => {
  const deep = (levels: number): JsonSchema =>
    levels === 0 ? { const: 1 } : { allOf: [deep(levels - 1)] };
  assertEquals([uncheckable(deep(200)), schemaObjection(deep(200), 1)], [undefined, undefined]);
  assertEquals(uncheckable(deep(201)), "it is nested too deep");
  assertEquals(schemaObjection(deep(201), 1), "the value is nested too deep");
  for (const $ref of ["#/%", "#/a/b", "#/allOf/1", "#/toString", "#x", "x#/a", 5]) {
    const schema = { a: 1, allOf: [true], $ref };
    assertEquals(
      uncheckable({ $ref, $defs: schema }),
      `its reference ${JSON.stringify($ref)} leads to nothing in the file`,
    );
  }
});
