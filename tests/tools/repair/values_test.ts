import { assertEquals, assertThrows } from "@std/assert";
import { valueAsMeant } from "../../../src/tools/repair/values.ts";
import type { JsonSchema } from "../../../src/types/tool.ts";

const STAYS = Symbol();
type Row = [
  key: string,
  value: unknown,
  schema: JsonSchema,
  meant: unknown,
  more?: { required?: boolean; path?: string },
];

const text = { type: "string" };
const choice = { type: "string", enum: ["network", "sandbox"] };
const whole = { type: "integer", minimum: 1 };
const ROWS: Row[] = [
  ["a", null, text, undefined],
  ["a", null, text, STAYS, { required: true }],
  ["a", "none", text, STAYS],
  ["a", " None ", whole, undefined],
  ["a", "", { type: "boolean" }, undefined],
  ["a", "x", whole, STAYS],
  ["leave", "none", choice, undefined],
  ["leave", false, choice, undefined],
  ["leave", true, choice, STAYS],
  ["leave", "network", choice, STAYS],
  ["path", " ", text, undefined],
  ["path", "none", text, STAYS],
  ["other", "", text, STAYS],
  ["a", 1, { type: "boolean" }, true],
  ["a", 0, { type: "boolean" }, false],
  ["a", 2, { type: "boolean" }, STAYS],
  ["a", 0, whole, undefined],
  ["a", "-1", whole, undefined],
  ["a", 0, whole, STAYS, { required: true }],
  ["a", 0, { type: "integer", minimum: 0 }, STAYS],
  ["a", -2, whole, STAYS],
  ["file_path", { path: "a" }, text, "a"],
  ["file_path", { path: "a", line: 1 }, text, STAYS],
  ["file_path", { path: 1 }, text, STAYS],
  ["file_path", ["a"], text, "a"],
  ["file_path", [1], text, STAYS],
  ["old_string", ["a", "b"], text, "a\nb"],
  ["new_string", ["a\n", "b"], text, "a\nb"],
  ["new_string", ["a\n", "b", "c"], text, "a\n\nb\nc"],
  ["content", ["a", "b"], text, "a\nb\n", { path: "x.ts" }],
  ["content", ["a\n", "b\n"], text, "a\nb\n", { path: "x.ts" }],
  ["content", [], text, STAYS, { path: "x.ts" }],
  ["content", [], text, "[]\n", { path: "x.json" }],
  ["content", ["a"], text, '[\n  "a"\n]\n', { path: "x.json" }],
  ["content", ["{", "}"], text, "{\n}\n", { path: "x.json" }],
  ["content", { a: 1 }, text, '{\n  "a": 1\n}\n', { path: "x.JSON" }],
  ["content", { a: 1 }, text, STAYS, { path: "x.ts" }],
  ["command", ["ls -la"], text, "ls -la"],
  ["command", ["bash", "-lc", "a b"], text, "a b"],
  ["command", ["/bin/sh", "-c", "a b"], text, "a b"],
  ["command", ["git", "log", "-n", "3"], text, "git log -n 3"],
];

for (const [key, value, schema, meant, { required = false, path } = {}] of ROWS) {
  Deno.test(`value ${key} ${JSON.stringify(value)} ${path ?? ""} ${JSON.stringify(schema)}`, () => {
    const read = valueAsMeant("run_bash", key, value, schema, required, { file_path: path });
    assertEquals(read ? read.value : STAYS, meant);
  });
}

Deno.test("a list with several readings is refused, with those readings", () => {
  const read = (key: string, value: unknown) => () =>
    valueAsMeant("run_bash", key, value, text, true, {});
  const rows: [key: string, value: unknown, why: string][] = [
    ["path", ["a", "b"], 'call it once for each, run_bash {"path":"a"}, run_bash {"path":"b"} ...'],
    [
      "command",
      ["ls", "it's b"],
      `As words: {"command":"ls 'it'\\\\''s b'"}. As lines: {"command":"ls\\nit's b"}`,
    ],
    ["command", ["bash", "-c", "a b", "c"], `As words: {"command":"bash -c 'a b' c"}`],
  ];
  for (const [key, value, why] of rows) {
    const { message } = assertThrows(read(key, value), Error, why);
    assertEquals(message.includes("As lines"), why.includes("As lines"));
  }
});
