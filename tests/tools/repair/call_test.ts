import { assertEquals, assertMatch } from "@std/assert";
import { builtinTools } from "../../../src/tools/mod.ts";
import { readEdit } from "../../../src/tools/files/edit_readings.ts";
import { leftOutBy } from "../../../src/tools/files/left_out.ts";
import { repairCall } from "../../../src/tools/repair/call.ts";
import { readCommand } from "../../../src/tools/repair/command.ts";
import type { ToolArgs } from "../../../src/tools/schema.ts";
import { cpuTime } from "../../helpers/cpu_time.ts";

const repaired = (name: string, args: ToolArgs | string) =>
  repairCall(
    typeof args === "string"
      ? { name, arguments: {}, invalid: { text: args, problem: "p", isMalformed: true } as never }
      : { name, arguments: args },
    builtinTools,
    "/ws",
  );

/** `value` as JSON, and that as a string of JSON, so many times. */
const encoded = (value: unknown, times: number): string =>
  times === 0 ? JSON.stringify(value) : JSON.stringify(encoded(value, times - 1));

const asPath = "path as file_path";
const asCall = "the call within the arguments as the call";
/** Calls with several slips, or slips at a limit, and what is told of each repair. */
// deno-fmt-ignore
const REPAIRED: [name: string, args: ToolArgs | string, tool: string, repairs: string[]][] = [
  ["readFile", { path: "a" }, "read_file", ["readFile as read_file", asPath]],
  ["read_file", '{"file_path": "a"}', "read_file", []],
  ["read_file", "{path: 'a',}", "read_file", [
    "the arguments as JSON despite keys without quotes, single quotes, a trailing comma",
    asPath,
  ]],
  ["list_directory", "[]", "list_directory", ["[] as no arguments"]],
  ["list_directory", " Null ", "list_directory", []],
  ["read_file", '[{"path": "a"}]', "read_file", ["a list of one object as the object", asPath]],
  ["run_bash", 'command="ls"', "run_bash", ['"command=\\"ls\\"" as {"command":"ls"}']],
  ["read_file", "path='a', offset=3", "read_file", [`"path='a', offset=3" as {"path":"a","offset":3}`, asPath]],
  ["read_file", encoded({ path: "a" }, 2), "read_file", [asPath]],
  ["read_file", encoded("x".repeat(499), 0), "read_file", [`"${"x".repeat(499)}" as {"file_path":"${"x".repeat(499)}"}`]],
  ["", { read_file: { path: "a" } }, "read_file", [asCall, asPath]],
  ["tool", { name: "list_directory", arguments: {} }, "list_directory", [asCall]],
  ["tool", { name: "read_file", arguments: '{"path": "a"}' }, "read_file", [asCall, asPath]],
  ["tool", { arguments: { name: "read_file", arguments: { path: "a" } } }, "read_file", [asCall, asPath]],
  ["tool", { function: { name: "read_file", arguments: { path: "a" } } }, "read_file", [asCall, asPath]],
  ["search_files", { query: "src/*.ts" }, "glob_files", ["search_files as glob_files", "query as pattern"]],
];

for (const [name, args, tool, repairs] of REPAIRED) {
  Deno.test(`the repairs of ${name} ${JSON.stringify(args).slice(0, 60)}`, () => {
    const call = repaired(name, args);
    assertEquals(call && "error" in call ? call.error : [call?.name, call?.repairs], [
      tool,
      repairs,
    ]);
  });
}

Deno.test("of two tools whose names differ in their signs, the one of exactly that name is meant", () => {
  const list = builtinTools.find(({ name }) => name === "list_directory")!;
  const tools = ["listIt", "list_it"].map((name) => ({ ...list, name }));
  for (const { name } of tools) {
    const call = repairCall({ name, arguments: {} }, tools, "/ws");
    assertEquals(call, { name, arguments: {}, repairs: [] });
  }
});

const long = "x".repeat(600);
/** Calls that have no one reading, and what is said. */
// deno-fmt-ignore
const TOLD: [name: string, args: ToolArgs | string, said: RegExp, not?: RegExp][] = [
  ["run_bash", "ls", /not valid JSON: .*\. A correct call: {"command":"ls"}\. You gave: ls$/],
  ["run_bash", "x".repeat(499), /A correct call/],
  ["run_bash", "x".repeat(500), /You gave: x{500}$/, /A correct call/],
  ["run_bash", long, /You gave: x{300} \.\.\. x{150}$/, /A correct call/],
  ["edit_file", "a", /not valid JSON/, /A correct call/],
  ["ReadFile", { function: "nothing", arguments: { path: "a" } }, /no argument "function"/, /its arguments name/],
  ["run_bash", "<b>", /not valid JSON/, /A correct call/],
  ["run_bash", "a=1, a=2", /not valid JSON/],
  ["run_bash", "[1, 2]", /it must be an object/],
  ["run_bash", '"rm it"', /not valid JSON/],
  ["read_file", "src/a.ts", /A correct call: {"file_path":"src\/a\.ts"}\. You gave: src\/a\.ts$/],
  ["read_file", encoded("x".repeat(500), 0), /not valid JSON/],
  ["read_file", encoded({ path: "a" }, 3), /it must be an object/],
  ["read_file", '[{"path": "a"}, {"path": "b"}]', /it must be an object/],
  ["list_directory", "nullx", /no value starts with "nullx"/],
  ["nothing", { wat: { a: 1 } }, /^There is no tool "nothing"\. The tools are: /],
  ["nothing", { name: "wat", arguments: { path: "a" } }, /^There is no tool "nothing"\. The/],
  ["nothing", { read_file: { path: "a" }, more: 1 }, /^There is no tool "nothing"\. The/],
  ["tool", { name: 7, arguments: { path: "a" } }, /^There is no tool "tool"\. The/],
  ["tool", { name: "read_file", arguments: "a" }, /^There is no tool "tool"\. The/],
  ["read_file", `"${long}"`, /not valid JSON/],
  ["read_file", { name: "write_file", arguments: { path: "a" } }, /it is one of read_file, and its arguments name write_file/],
  ["apply_patch", {}, /There is no tool "apply_patch": edit_file replaces .*The tools are: /],
  ["strange", {}, /^There is no tool "strange"\. The tools are: /],
  ["red_file", { path: "a" }, /do you mean read_file\? A correct call: read_file {"file_path":"a"}\. The tools are/],
  ["red_file", { path: "x".repeat(284) }, /A correct call: read_file {"file_path":"x{284}"}\./],
  ["red_file", { path: "x".repeat(285) }, /A correct call: read_file {\.\.\.}\./],
  ["read_file", { wat: {} }, /^Cannot run read_file as it has no argument "wat"/],
  ["readFile", { wat: {} }, /^There is no tool "readFile", but read_file\. Cannot run/],
  ["search_files", { query: "a-b" }, /^There is no tool "search_files"\. Call what you mean: .* or .*{"pattern":"a-b"}/],
  ["search_files", { query: "*.(a|b)" }, /mean: glob_files {"pattern":"\*\.\(a\|b\)"} or grep_code {"pattern":"\*\.\(a\|b\)"}$/],
];

for (const [name, args, said, not] of TOLD) {
  Deno.test(`is told: ${name} ${JSON.stringify(args).slice(0, 60)}`, () => {
    const call = repaired(name, args);
    const error = call && "error" in call ? call.error : JSON.stringify(call);
    assertMatch(error, said);
    assertEquals(not?.test(error) ?? false, false, error);
  });
}

Deno.test("a call that was cut off is not read", () => {
  const invalid = { text: "{", problem: "p", isMalformed: false } as never;
  assertEquals(
    repairCall({ name: "read_file", arguments: {}, invalid }, builtinTools, "/ws"),
    undefined,
  );
});

Deno.test("time is linear in the white space and the brackets of a call", () => {
  const blanks = `x${" ".repeat(60_000)}y`;
  const rows: (() => unknown)[] = [
    () => repaired(`read_file${blanks}`, { path: "a" }),
    () => readEdit("a\n", blanks, "b"),
    () => leftOutBy("a\nb\n", `// ...${blanks}`),
    () => leftOutBy("a\nb\n", `// rest ...${blanks}`),
    () => readCommand(`echo ${"(".repeat(60_000)}`),
  ];
  for (const job of rows) {
    const start = cpuTime();
    job();
    // Quadratic time would be at least 5 s.
    assertEquals(cpuTime() - start < 3000, true, `${job}`);
  }
});
