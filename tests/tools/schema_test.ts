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

Deno.test.each(
  [
    ["defaults are filled", "read_file", { file_path: "a" }, {
      file_path: "a",
      offset: 1,
      limit: 2000,
    }],
    ["text for an integer", "read_file", { file_path: "a", offset: " 10 " }, {
      file_path: "a",
      offset: 10,
      limit: 2000,
    }],
    ["null for an optional one", "read_file", { file_path: "a", offset: null, limit: 5 }, {
      file_path: "a",
      limit: 5,
      offset: 1,
    }],
    ["text for a boolean", "edit_file", {
      file_path: "a",
      old_string: "1",
      new_string: "2",
      replace_all: "True",
    }, { file_path: "a", old_string: "1", new_string: "2", replace_all: true }],
    ["text for a number", "run_bash", { command: "ls", timeout_seconds: "1.5e1" }, {
      command: "ls",
      timeout_seconds: 15,
    }],
    ["a digit string stays a string", "write_file", { file_path: "a", content: "10" }, {
      file_path: "a",
      content: "10",
    }],
    ["path for file_path", "read_file", { path: "a", limit: 5 }, {
      file_path: "a",
      limit: 5,
      offset: 1,
    }],
    ["no arguments at all", "list_directory", {}, { path: "." }],
  ] as const,
)("accepted: %s", (_name, tool, given, expected) => {
  assertEquals(args(builtin(tool), given), expected);
});

// Each row: the tool, what the model sent, what the error must name.
Deno.test.each(
  [
    ["read_file", undefined, "must be a JSON object"],
    ["read_file", null, "current value is null"],
    ["read_file", '{"file_path": "a"}', "must be a JSON object"],
    ["read_file", ["a"], "an array of 1 items"],
    ["read_file", {}, 'file_path is required. A correct call: {"file_path": "..."}'],
    ["read_file", { file_path: null }, "file_path is required: current value is null"],
    ["read_file", { file_path: 5 }, "file_path must be a string: current value is 5"],
    ["read_file", { file_path: ["a"] }, "file_path must be a string: current value is an array"],
    ["read_file", { file_path: { a: 1 } }, "current value is an object"],
    ["read_file", { file_path: true }, "current value is true"],
    ["read_file", { path: "a.ts", file: "b" }, "use file_path. A correct call"],
    ["read_file", { path: 5 }, "file_path must be a string: current value is 5"],
    ["read_file", { filePath: "a.ts" }, 'use file_path. A correct call: {"file_path": "a.ts"}'],
    ["run_bash", { cmd: "ls" }, 'use command. A correct call: {"command": "ls"}'],
    ["run_bash", { command: "ls", timeout: 5 }, "use timeout_seconds"],
    ["read_file", { file_path: "a", zzz: 1 }, '"zzz", only file_path, offset, limit'],
    ["read_file", { file_path: "a", __proto__x: 1 }, "it has no argument"],
    ["read_file", JSON.parse('{"file_path": "a", "__proto__": {"limit": 1}}'), '"__proto__"'],
    ["read_file", JSON.parse('{"__proto__": {"file_path": "a"}}'), '"__proto__"'],
    ["read_file", { file_path: "a", constructor: 1 }, '"constructor"'],
    ["read_file", { file_path: "a", offset: 0 }, "offset must be an integer of at least 1"],
    ["read_file", { file_path: "a", offset: 1.5 }, "current value is 1.5"],
    ["read_file", { file_path: "a", offset: "1.5" }, 'current value is "1.5"'],
    ["read_file", { file_path: "a", offset: "ten" }, 'current value is "ten"'],
    ["read_file", { file_path: "a", offset: "" }, 'current value is ""'],
    ["read_file", { file_path: "a", offset: "0x10" }, "offset must be"],
    ["read_file", { file_path: "a", offset: 1e300 }, "offset must be"],
    ["read_file", { file_path: "a", offset: true }, "offset must be"],
    [
      "run_bash",
      { command: "x", timeout_seconds: NaN },
      "timeout_seconds must be a number from 0.1",
    ],
    ["run_bash", { command: "x", timeout_seconds: "1e999" }, "timeout_seconds must be"],
    ["run_bash", { command: "x", timeout_seconds: 1e9 }, "from 0.1 to 86400"],
    [
      "edit_file",
      { file_path: "a", old_string: "x", new_string: "y", replace_all: "yes" },
      "boolean",
    ],
    ["edit_file", { file_path: "a", old_string: "x", new_string: "y", replace_all: 1 }, "boolean"],
    [
      "write_file",
      { file_path: "a", content: 10 },
      "content must be a string: current value is 10",
    ],
    ["write_file", { file_path: "a", content: { json: 1 } }, "content must be a string"],
    ["write_file", { file_path: "a", content: "\ud800" }, "content must be well-formed Unicode"],
  ] as const,
)("PTH-07 refused %#: %s", (name, given, expected) => {
  assertStringIncludes(error(builtin(name), given), expected);
});

Deno.test("the error of a long value stays one short line", () => {
  const long = "x".repeat(1_000_000);
  const line = error(builtin("write_file"), { file_path: "a", content: long, mode: long });
  assert(line.length < 500, `${line.length} characters`);
  assertStringIncludes(line, '"content": "..."');
});

Deno.test("types, enum, items and nested objects of a caller's own tool", () => {
  const own = tool({
    type: "object",
    properties: {
      kind: { enum: ["a", "b"] },
      tags: { type: "array", items: { type: "integer" }, maxItems: 2 },
      at: {
        type: "object",
        properties: { x: { type: "number" }, y: { type: "number", default: 1 } },
        required: ["x"],
        additionalProperties: false,
      },
      any: { type: ["string", "null"], maxLength: 3 },
    },
  });
  assertEquals(args(own, { kind: "a", tags: '["1", 2]', at: '{"x": "3"}', any: null }), {
    kind: "a",
    tags: [1, 2],
    at: { x: 3, y: 1 },
    any: null,
  });
  assertStringIncludes(error(own, { kind: "c" }), 'kind must be one of "a", "b"');
  assertStringIncludes(error(own, { tags: [1, "x"] }), "tags[1] must be an integer");
  assertStringIncludes(error(own, { tags: [1, 2, 3] }), "at most 2 items");
  assertStringIncludes(error(own, { tags: "[1" }), "tags must be an array");
  assertStringIncludes(error(own, { at: {} }), 'at must be with the key "x"');
  assertStringIncludes(error(own, { at: { x: 1, z: 1 } }), 'at must be without the key "z"');
  assertStringIncludes(error(own, { any: "long" }), "at most 3 characters");
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
  const typed = tool({
    type: "object",
    properties: {},
    additionalProperties: { type: "integer" },
  });
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
