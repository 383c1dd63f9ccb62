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
  [{ minProperties: 2 }, [{ a: 1, b: 1 }, [1]], [{ a: 1 }]],
  [{ maxProperties: 1 }, [{ a: 1 }, [1, 2]], [{ a: 1, b: 1 }]],
  [{ pattern: "^a" }, ["ab", 5], ["ba"]],
  [{ uniqueItems: true }, [[1, "1", [1], { a: 1 }], "aa"], [[1, 1]]],
  [{ uniqueItems: false }, [[1, 1]], []],
  [{ prefixItems: [{ type: "string" }, true] }, [["a"], ["a", 1, 2], [], "a"], [[1], [1, "a"]]],
  [{ prefixItems: [true], items: { type: "string" } }, [[1, "a"], [1]], [["a", 1], [1, "a", 2]]],
  [{ items: { type: "string" } }, [["a"], [], 5], [[1]]],
  [{ contains: { const: 1 } }, [[1], [2, 1, 1], 5], [[], [2]]],
  [{ contains: { const: 1 }, minContains: 0 }, [[], [2]], []],
  [{ contains: { const: 1 }, minContains: 2, maxContains: 3 }, [[1, 1], [1, 1, 1, 2]], [
    [1, 2],
    [1, 1, 1, 1],
  ]],
  [{ required: ["a"] }, [{ a: undefined }, "b", ["a"]], [{}]],
  [{ dependentRequired: { a: ["b"], c: ["d"] } }, [{}, { a: 1, b: 1 }, { b: 1 }, 5], [
    { a: 1 },
    { a: 1, b: 1, c: 1 },
  ]],
  [{ dependentSchemas: { a: { required: ["b"] } } }, [{}, { b: 1 }, { a: 1, b: 1 }, 5], [{ a: 1 }]],
  [{ properties: { a: { const: 1 } } }, [{}, { a: 1, b: 2 }, [], 5], [{ a: 2 }]],
  [{ patternProperties: { "^x": { const: 1 }, "y$": { const: 1 } } }, [{ x: 1, a: 2 }, 5, {}], [
    { x: 2 },
    { ay: 2 },
  ]],
  [
    { properties: { a: {} }, patternProperties: { "^x": {} }, additionalProperties: { const: 1 } },
    [{ a: 2, x: 2, b: 1 }, 5, {}],
    [{ b: 2 }, { toString: 2 }],
  ],
  [{ additionalProperties: false }, [{}, 5, "ab"], [{ a: 1 }]],
  // The signs of a text are no fields, nor is its length.
  [{ properties: { length: { const: 1 } }, patternProperties: { "0": false } }, ["ab", null], []],
  [{ propertyNames: { pattern: "^a" } }, [{ ab: 1 }, {}, 5, "xy"], [{ ab: 1, b: 1 }]],
  [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
  [{ anyOf: [{ maximum: 1 }, { minimum: 3 }] }, [1, 3], [2]],
  [{ oneOf: [{ maximum: 3 }, { minimum: 2 }] }, [1, 4], [2, 3]],
  [{ oneOf: [{ const: 1 }, { const: 2 }] }, [1, 2], [3]],
  [{ not: { const: 1 } }, [2], [1]],
  [{ if: { const: 1 }, then: false }, [2], [1]],
  [{ if: { const: 1 }, else: false }, [1], [2]],
  [{ if: { const: 1 } }, [1, 2], []],
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
  const rows: [schema: JsonSchema, value: unknown, objection: string][] = [
    [{ items: { items: { maximum: 1 } } }, [[1], [0, 2]], "[1][1] must be at most 1: it is 2"],
    [{ properties: { a: { items: form("b") } } }, { a: [{}] }, "a[0].b is missing"],
    [{ prefixItems: [form("b")] }, [{}], "[0].b is missing"],
    [{ additionalProperties: { type: "null" } }, { a: 1 }, "a must be of type null: it is 1"],
    [{ type: ["null", "array"] }, 1, "the answer must be of type null or array: it is 1"],
    [{ properties: { a: { const: [1] } } }, { a: 1 }, "a must be [1]"],
    [{ properties: { a: false } }, { a: 1 }, "a must be left out"],
    [{ anyOf: ["a", "a", "b"].map(form) }, {}, "a is missing, or b is missing"],
    [
      { anyOf: ["a", "b", "c", "d", "e"].map(form) },
      {},
      "a is missing, or b is missing, or c is missing, or d is missing",
    ],
    [{ oneOf: ["a", "b"].map(form) }, {}, "a is missing, or b is missing"],
    [{ minProperties: 2 }, {}, "the answer must have 2 keys or more: it is an object"],
    [{ maxProperties: 0 }, { a: 1 }, "the answer must have at most 0 keys: it is an object"],
    [{ exclusiveMinimum: 1 }, 1, "the answer must be more than 1: it is 1"],
    [{ maxLength: 1 }, "ab", 'the answer must have at most 1 characters: it is "ab"'],
    [{ maxItems: 0 }, [1], "the answer must have at most 0 items: it is an array of 1 items"],
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
  assertEquals(schemaObjection(deep(201), 1), "the answer is nested too deep");
  for (const $ref of ["#/%", "#/a/b", "#/allOf/1", "#/toString", "#x", "x#/a", 5]) {
    const schema = { a: 1, allOf: [true], $ref };
    assertEquals(
      uncheckable({ $ref, $defs: schema }),
      `its reference ${JSON.stringify($ref)} leads to nothing in the file`,
    );
  }
});
