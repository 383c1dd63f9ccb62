import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { checkArguments } from "../../src/tools/schema.ts";
import { builtinTools } from "../../src/tools/mod.ts";
import type { JsonSchema, Tool } from "../../src/types/tool.ts";

function tool(parameters: JsonSchema): Tool {
  return { name: "t", description: "", parameters, access: "read", run: () => "" };
}

function builtin(name: string): Tool {
  return builtinTools.find((t) => t.name === name)!;
}

function args(t: Tool, given: unknown): unknown {
  const checked = checkArguments(t, given);
  assert(checked.ok, checked.ok ? "" : checked.error);
  return checked.args;
}

function error(t: Tool, given: unknown): string {
  const checked = checkArguments(t, given);
  assert(!checked.ok, "was accepted");
  assert(!checked.error.includes("\n"));
  assert(checked.error.isWellFormed());
  return checked.error;
}

const EDIT = { file_path: "a", old_string: "1", new_string: "2" };
// deno-fmt-ignore
const ACCEPTED: [name: string, tool: string, given: unknown, expected: object][] = [
  ["defaults are filled", "read_file", { file_path: "a" }, { file_path: "a", offset: 1, limit: 2000 }],
  ["text for an integer", "read_file", { file_path: "a", offset: " 10 " }, { file_path: "a", offset: 10, limit: 2000 }],
  ["null for an optional one", "read_file", { file_path: "a", offset: null, limit: 5 }, { file_path: "a", limit: 5, offset: 1 }],
  ["text for a boolean", "edit_file", { ...EDIT, replace_all: "True" }, { ...EDIT, replace_all: true }],
  ["text for a number", "run_bash", { command: "ls", timeout_seconds: "1.5e1" }, { command: "ls", timeout_seconds: 15 }],
  ["a digit string stays a string", "write_file", { file_path: "a", content: "10" }, { file_path: "a", content: "10" }],
  ["no arguments at all", "list_directory", {}, { path: "." }],
];

Deno.test.each(ACCEPTED)("accepted: %s", (_name, tool, given, expected) => {
  assertEquals(args(builtin(tool), given), expected);
});

// Each row: the tool, what the model sent, what the error must name.
// deno-fmt-ignore
const REFUSED: [tool: string, given: unknown, expected: string][] = [
  ["read_file", undefined, "must be a JSON object"],
  ["read_file", null, "current value is null"],
  ["read_file", '{"file_path": "a"}', "must be a JSON object"],
  ["read_file", ["a"], "an array of 1 items"],
  ["read_file", {}, 'file_path is required. A correct call: {"file_path": "..."}'],
  ["read_file", { file_path: null }, "file_path is required: current value is null"],
  ["read_file", { file_path: 5 }, "file_path must be a string: current value is 5"],
  ["read_file", { path: "a.ts", file: "b" }, "use file_path. A correct call"],
  ["read_file", { path: "a" }, 'use file_path. A correct call: {"file_path": "a"}'],
  ["read_file", { filePath: "a.ts" }, 'use file_path. A correct call: {"file_path": "a.ts"}'],
  ["run_bash", { cmd: "ls" }, 'use command. A correct call: {"command": "ls"}'],
  ["run_bash", { command: "ls", timeout: 5 }, "use timeout_seconds"],
  ["read_file", { file_path: "a", zzz: 1 }, '"zzz", only file_path, offset, limit'],
  ["read_file", { file_path: "a", __proto__x: 1 }, "it has no argument"],
  ["read_file", JSON.parse('{"file_path": "a", "__proto__": {"limit": 1}}'), '"__proto__"'],
  ["read_file", JSON.parse('{"__proto__": {"file_path": "a"}}'), '"__proto__"'],
  ["read_file", { file_path: "a", constructor: 1 }, '"constructor"'],
  ["read_file", { file_path: "a", offset: 0 }, "offset must be at least 1"],
  ["read_file", { file_path: "a", offset: 1.5 }, "current value is 1.5"],
  ["read_file", { file_path: "a", offset: "1.5" }, 'current value is "1.5"'],
  ["read_file", { file_path: "a", offset: "0x10" }, "offset must be"],
  ["read_file", { file_path: "a", offset: true }, "offset must be"],
  ["run_bash", { command: "x", timeout_seconds: NaN }, "timeout_seconds must be a number"],
  ["run_bash", { command: "x", timeout_seconds: "1e999" }, "timeout_seconds must be"],
  ["edit_file", { ...EDIT, replace_all: "yes" }, "boolean"],
  ["edit_file", { ...EDIT, replace_all: 1 }, "boolean"],
  ["write_file", { file_path: "a", content: 10 }, "content must be a string: current value is 10"],
  ["write_file", { file_path: "a", content: "\ud800" }, "content must be well-formed Unicode"],
];

Deno.test.each(REFUSED)("PTH-07 refused %#: %s", (name, given, expected) => {
  assertStringIncludes(error(builtin(name), given), expected);
});

Deno.test("the error of a long value stays one short line", () => {
  const long = "x".repeat(1_000_000);
  const line = error(builtin("write_file"), { file_path: "a", content: long, mode: long });
  assert(line.length < 500, `${line.length} characters`);
  assertStringIncludes(line, '"content": "..."');
});

Deno.test("types, enum, items and nested objects of a caller's own tool", () => {
  const point = { $ref: "#/$defs/point" };
  const own = tool({
    type: "object",
    $defs: { point: { type: "object", properties: { x: { type: "number" } } } },
    properties: {
      named: point,
      whole: { allOf: [point], description: "a point" },
      perhaps: { anyOf: [point, { type: "null" }] },
      "-": false,
      kind: { enum: ["a", { b: [1] }] },
      fixed: { const: { x: 1, y: [2] } },
      tags: { type: "array", items: { type: "integer" }, maxItems: 2 },
      two: { type: "array", prefixItems: [{ type: "number" }, { type: "string" }], items: false },
      at: {
        type: "object",
        properties: { x: { type: "number" }, y: { type: "number", default: 1 } },
        required: ["x"],
        additionalProperties: false,
      },
      any: { type: ["string", "null"], maxLength: 3 },
      some: { anyOf: [{ type: "integer" }, { type: "null" }] },
      title: { type: "string", default: null },
    },
  });
  const stays = { kind: { b: [1] }, fixed: { y: [2], x: 1 }, any: null };
  const points = { named: { x: 3 }, whole: { x: 3 }, perhaps: { x: 3 } };
  const read = { ...stays, ...points, tags: [1, 2], two: [1, "b"], at: { x: 3, y: 1 }, some: 10 };
  const texts = { named: '{"x": "3"}', whole: { x: "3" }, perhaps: { x: "3" } };
  const given = {
    ...stays,
    ...texts,
    tags: '["1", 2]',
    two: ["1", "b"],
    at: '{"x": "3"}',
    some: "10",
  };
  assertEquals(args(own, given), read);
  const rows: [Record<string, unknown>, string][] = [
    [{ named: 1 }, 'named must be an object: current value is 1. A correct call: {"named": {...}}'],
    [{ "-": 1 }, "- must be left out"],
    [{ tags: [1, "x"] }, "tags[1] must be an integer"],
    [{ tags: "[1" }, "tags must be an array"],
    [{ two: [1, "b", 2] }, "two[2] must be left out"],
    [{ at: {} }, "at.x is missing"],
    [{ at: { x: 1, z: 1 } }, "at.z must be left out"],
    [{ some: "x" }, "some must be an integer"],
  ];
  for (const [given, expected] of rows) assertStringIncludes(error(own, given), expected);
});

const OWN = tool({
  type: "object",
  properties: {
    from: { type: "integer", minimum: 2 },
    share: { type: "number", maximum: 5 },
    name: { type: "string", minLength: 2, maxLength: 4 },
    kind: { enum: ["a", "b"] },
    on: { type: "boolean" },
    list: { type: "array", minItems: 1 },
    more: { type: "object" },
    none: { type: "null" },
    fixed: { const: "k" },
    maybe: { type: ["integer", "null"] },
    any: {},
  },
  required: ["from", "share", "name", "kind", "on", "list", "more", "none"],
});
const FITS = {
  ...{ from: 2, share: 5, name: "ab", kind: "a", on: false, list: [0], more: {}, none: null },
};

Deno.test("the shape of a correct call has a value of each type, and what was given right", () => {
  assertEquals(
    error(OWN, {}),
    'Cannot run t as from is required. A correct call: {"from": 2, "share": 1, "name": "...", ' +
      '"kind": "a", "on": true, "list": [...], "more": {...}, "none": null}',
  );
  assertEquals(
    error(OWN, { ...FITS, from: 1, maybe: 7 }),
    "Cannot run t as from must be at least 2: current value is 1. A correct call: " +
      '{"from": 2, "share": 5, "name": "ab", "kind": "a", "on": false, "list": [...], ' +
      '"more": {...}, "none": null, "maybe": 7}',
  );
  assertStringIncludes(error(tool({ properties: {} }), { a: 1 }), 'no argument "a", only none.');
});

// Each row: an argument, and what it must be; undefined where it fits.
Deno.test.each([
  [{ on: "FALSE" }, undefined],
  [{ on: "falsey" }, 'on must be a boolean: current value is "falsey"'],
  [{ more: " {} " }, undefined],
  [{ more: "[]" }, 'more must be an object: current value is "[]"'],
  [{ list: "{}" }, 'list must be an array: current value is "{}"'],
  [{ maybe: null }, undefined],
  [{ maybe: "x" }, "maybe must be an integer or null"],
  [{ any: null }, undefined],
  [{ from: undefined }, "from is required: current value is undefined"],
])("what fits a type: %j", (given, must) => {
  if (must === undefined) args(OWN, { ...FITS, ...given });
  else assertStringIncludes(error(OWN, { ...FITS, ...given }), `as ${must}`);
});

Deno.test("a null that fits is passed on, and one that stands for nothing is left out", () => {
  const nulls = { ...FITS, maybe: null, any: null };
  assertEquals(args(OWN, { ...nulls, fixed: undefined }), nulls);
});

Deno.test("values of up to 80 characters are repeated", () => {
  const call = (path: string) => error(builtin("read_file"), { file_path: path, offset: 0 });
  const [whole, long] = ["x".repeat(80), "x".repeat(81)];
  assertStringIncludes(call(whole), `call: {"file_path": "${whole}"`);
  assertStringIncludes(call(long), 'call: {"file_path": "..."');
  const value = (offset: string) => error(builtin("read_file"), { file_path: "a", offset });
  assertStringIncludes(value(whole), `current value is "${whole}"`);
  assertStringIncludes(value(long), `current value is "${"x".repeat(77)}..."`);
});

Deno.test("for an unknown name, the error shows the one that is probably meant", () => {
  const read = builtin("read_file");
  for (const key of ["path", "fil", "my_file_path", "fi"]) {
    assertStringIncludes(error(read, { [key]: "a" }), "use file_path");
  }
  assertStringIncludes(error(read, { path: "a", other: 1 }), 'no argument "path": use file_path');
  assertStringIncludes(error(read, { file_path: "a", path: "b" }), '"path", only file_path');
  const edit = builtin("edit_file");
  assertStringIncludes(error(edit, { path: "a", old_string: "b" }), 'no argument "path": use file');
});

Deno.test("unknown keys pass where the schema is open, and none sets a prototype", () => {
  const open = [
    tool({ type: "object" }),
    tool({ type: "object", properties: {}, additionalProperties: true }),
    tool({ type: "object", properties: {}, anyOf: [] }),
  ];
  for (const t of open) {
    const out = args(t, JSON.parse('{"__proto__": {"polluted": 1}, "a": null}'));
    assertEquals(Object.keys(out as object), ["__proto__", "a"]);
    assertEquals((out as { polluted?: number }).polluted, undefined);
  }
  const typed = tool({ type: "object", properties: {}, additionalProperties: { type: "integer" } });
  assertEquals(args(typed, { a: "1" }), { a: 1 });
  assertStringIncludes(error(typed, { a: "x" }), "a must be an integer");
});

Deno.test("a default is copied, so that no call changes the next one's", () => {
  const t = tool({ type: "object", properties: { list: { type: "array", default: [] } } });
  (args(t, {}) as { list: number[] }).list.push(1);
  assertEquals(args(t, {}), { list: [] });
});

Deno.test("nothing throws: malformed schemas and values nested deeper than the stack", () => {
  const deep = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
  const nested = JSON.parse('{"a":'.repeat(100_000) + "1" + "}".repeat(100_000));
  const schemas: JsonSchema[] = [
    {},
    { type: 5, properties: 7, required: "x" },
    { type: "object", properties: { a: 1, b: null, c: [] }, required: [1, null] },
    { type: "object", properties: { a: { type: "array" }, b: { type: "object" } } },
    { type: "object", properties: { a: { type: "string", enum: 3, minLength: "x" } } },
  ];
  for (const schema of schemas) {
    for (const value of [deep, nested, 1, null, "x", Symbol.iterator, 10n]) {
      checkArguments(tool(schema), value);
      checkArguments(tool(schema), { a: value });
      checkArguments(tool(schema), { b: value, zz: value });
    }
  }
});
